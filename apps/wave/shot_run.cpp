// SPDX-License-Identifier: MIT
#include "shot_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <optional>
#include <wsl/kernel/wave.hpp>
#include <wsl/support/progress.hpp>

#include "../files.hpp"
#include "../ranks.hpp"
#include "exports.hpp"
#include "film.hpp"
#include "hdf5_volume.hpp"

namespace wave_app {
namespace {

using namespace wsl;

/// What runs a shot in each medium.
template <class Medium>
struct solver {
  using problem = seismic::problem<Medium>;
  using simulation = seismic::simulation<Medium>;
  static problem with(const options& o, const wave25::problem& shot, const Medium& m) {
    return o.in_medium(shot, m);
  }
  static seismic::options use_of(const resources& how) {
    return {.wide = how.wide, .depth = how.depth, .threads = how.threads};
  }
};
template <>
struct solver<isotropic> {
  using problem = wave25::problem;
  using simulation = wave25::simulation;
  static problem with(const options&, const wave25::problem& shot, const isotropic&) { return shot; }
  static wave25::options use_of(const resources& how) {
    return {.wide = how.wide, .depth = how.depth, .threads = how.threads};
  }
};

/// It advances to the next event, a snapshot, a checkpoint or the end, and handles it. Its output does not
/// depend on whether, and where, it was interrupted and resumed.
template <class Medium>
class shot_run {
 public:
  shot_run(const options& o, const wave25::problem& p, const Medium& medium, std::filesystem::path folder,
           int number, bool alone)
      : asked_(o),
        problem_(p),
        whole_(solver<Medium>::with(o, p, medium)),
        folder_(std::move(folder)),
        number_(number),
        alone_(alone),
        drawn_(o.slice_of(p)),
        simulation_(whole_, solver<Medium>::use_of(o.how), app::engine{.is_alone = !alone}) {
    if (writes()) app::make_folder(folder_);
    if ((o.resume || !alone) && std::filesystem::exists(checkpoint())) {
      go_on();
      if (now() > o.steps) refuse("the checkpoint is after {} steps, --steps asks for {}", now(), o.steps);
      if (alone_) fmt::print("going on after {} steps\n", now());
    }
  }

  /// Runs to the last step, or to a signal: then a checkpoint is written. Returns the exit status.
  int all() {
    std::optional<support::progress> shown;
    if (alone_ && writes())
      shown.emplace("steps", static_cast<u64>(asked_.steps)), shown->tick(static_cast<u64>(now()));
    int signal = 0;
    while (now() < asked_.steps && (signal = signalled()) == 0) {
      const i64 next = std::min({due_after(asked_.snapshot_every), due_after(asked_.checkpoint_every),
                                 asked_.steps, now() + at_a_time});
      const i64 steps = next - now();
      simulation_.run(steps);
      if (due(asked_.snapshot_every)) snapshot();
      if (due(asked_.checkpoint_every)) save();
      if (shown) shown->tick(static_cast<u64>(steps));
    }
    if (now() < asked_.steps) {
      save();
      if (alone_)
        fmt::print("stopped after step {}; the same command with --resume goes on from there\n", now());
      return 128 + signal;
    }
    require_finite();
    record();
    if (asked_.film && writes()) film();
    return 0;
  }

 private:
  static constexpr i64 at_a_time = 32;  ///< steps between two signs of life

  /// Of the processes that share the cells of a shot that is alone, one writes files.
  bool writes() const { return !alone_ || app::is_root(); }
  /// The signal that one of them got.
  int signalled() const {
    const int mine = static_cast<int>(stopped_by);
    return alone_ ? static_cast<int>(app::largest(static_cast<u64>(mine))) : mine;
  }

  i64 now() const { return simulation_.time(); }
  bool due(i64 every) const { return every && now() % every == 0; }
  i64 due_after(i64 every) const { return every ? (now() / every + 1) * every : asked_.steps; }
  std::filesystem::path checkpoint() const { return folder_ / "wave.checkpoint"; }

  void go_on() try {
    read_checkpoint(simulation_, support::file_reader(checkpoint().string()));
  } catch (const std::invalid_argument& e) {
    std::string_view why = e.what();
    if (why.starts_with("wsl: ")) why.remove_prefix(5);
    if (why.find(checkpoint().string()) != why.npos) throw;  // it cannot be read
    refuse("{}: {}; remove it to begin anew", checkpoint().string(), why);
  }
  void save() {
    require_finite();
    app::joint_file file(checkpoint().string(), checkpoint_size(simulation_), !alone_);
    write_checkpoint(simulation_, file);
    file.finish();
  }

  /// Throws if a process has a number that is none; collective.
  void require_finite() {
    constexpr u64 none = ~u64{0};
    u64 lost = none;
    f32 what = 0;
    simulation_.each_own_block([&](const grid::lines& where, auto line_at) {
      for (int x = where.x.from; x < where.x.to; ++x)
        for (int y = where.y.from; y < where.y.to; ++y) {
          const std::span<const f32> line = line_at(x, y);
          const auto at = std::find_if(line.begin(), line.end(), [](f32 v) { return !std::isfinite(v); });
          const u64 index = problem_.size.index({x, y, static_cast<int>(at - line.begin())});
          if (at != line.end() && index < lost) lost = index, what = *at;
        }
    });
    const u64 first = alone_ ? ~app::largest(~lost) : lost;
    if (first == none) return;
    // its bits, which no other process has
    const u64 bits = first == lost ? std::bit_cast<u32>(what) : 0;
    what = std::bit_cast<f32>(static_cast<u32>(alone_ ? app::largest(bits) : bits));
    const u64 z = static_cast<u64>(problem_.size.z), y = static_cast<u64>(problem_.size.y);
    throw std::runtime_error(fmt::format(
        "after step {} the field in cell ({}, {}, {}) is {}: 32-bit numbers do not hold it; take a "
        "smaller --amplitude, or a smaller --time-step if you gave one",
        now(), first / (y * z), first / z % y, first % z, what));
  }

  std::filesystem::path snapshot_name(i64 step, const char* ending) const {
    return folder_ / fmt::format("u{:08}.{}", step, ending);
  }
  void snapshot() {
    require_finite();
    const wave25::problem& p = problem_;
    const auto file = [&](const char* ending) { return snapshot_name(now(), ending); };
    const f64 h = p.spacing;
    if (asked_.snapshots.svg || asked_.snapshots.png) {
      const std::vector<f32> drawn = simulation_.slice(drawn_.axis - 'x', drawn_.at);
      if (asked_.snapshots.svg && writes())
        app::write_file(file("svg"),
                        figure_of_slice(drawn, p, drawn_,
                                        fmt::format("u at t = {:.3f} s (step {})",
                                                    static_cast<f64>(now()) * p.time_step(), now())));
      if (asked_.snapshots.png && writes())
        app::write_file(file("png"), picture_of_slice(drawn, p, drawn_, asked_.clip));
    }
    const auto all = simulation_.on_pes();
    const auto write = [&](const char* ending, const volume_format& format) {
      write_volume(file(ending), format, {p.size, all.blocks, all.field}, !alone_);
    };
    if (asked_.snapshots.vtk) write("vtk", vtk(p.size, h));
    if (asked_.snapshots.vti) write("vti", vti(p.size, h));
    if (asked_.snapshots.h5) write("h5", hdf5_format(p.size, {h, h, h}));
  }

  void record() {
    const std::size_t n = problem_.receivers.size();
    if (n == 0 || now() == 0 || !writes()) return;
    std::vector<std::vector<f32>> traces;
    for (std::size_t i = 0; i < n; ++i) traces.push_back(simulation_.trace(i));
    write_records(folder_, traces, problem_, asked_.records, asked_.sample_interval, number_);
  }

  // Of the files, so that a run that was killed has all of it, too.
  void film() {
    std::vector<std::filesystem::path> pictures;
    for (i64 step = asked_.snapshot_every; step <= asked_.steps; step += asked_.snapshot_every)
      pictures.push_back(snapshot_name(step, "png"));
    constexpr int milliseconds = 80;
    app::write_file(folder_ / "film.webp", film_bytes(pictures, milliseconds));
  }

  const options& asked_;
  wave25::problem problem_;  ///< what figures and records show
  typename solver<Medium>::problem whole_;
  std::filesystem::path folder_;
  int number_;
  bool alone_;
  slice drawn_;
  typename solver<Medium>::simulation simulation_;
};

}  // namespace

int run_shot(const options& o, const wave25::problem& p, const std::filesystem::path& folder, int number,
             bool alone) {
  return std::visit([&](const auto& m) { return shot_run(o, p, m, folder, number, alone).all(); }, o.medium);
}

}  // namespace wave_app
