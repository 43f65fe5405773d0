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
#include "../memory.hpp"
#include "../ranks.hpp"
#include "alike.hpp"
#include "exports.hpp"
#include "film.hpp"
#include "hdf5_volume.hpp"
#include "shot_queue.hpp"

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
    u64 goes_on = 0;
    by_writer([&] {
      app::make_folder(folder_);
      // The shots of a list are locked by their queue.
      if (alone_ && !(lock_ = lock_of(folder_)))
        refuse("--out: {} is in work{}: wait for it, or give another folder", folder_.string(),
               holder_of(folder_));
      goes_on = (o.resume || !alone) && std::filesystem::exists(checkpoint());
      if (goes_on && !std::filesystem::is_regular_file(checkpoint()))
        refuse("{}: it is no file, and a checkpoint is written there: remove it, or give another --out",
               checkpoint().string());
    });
    if (alone_ ? app::largest(goes_on) : goes_on) go_on();
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
      if (due(asked_.snapshot_every)) write([&] { snapshot(); });
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
    write([&] {
      by_writer([&] {
        record();
        if (asked_.film) film();
      });
    });
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

  /// Does what one process does for the others, which fail if it does.
  template <class F>
  void by_writer(F f) {
    if (!alone_) return f();
    app::together([&] {
      if (writes()) f();
    });
  }
  /// Writes files. If that fails, as on a full disk, the sentence says where the run can go on.
  template <class F>
  void write(F f, bool is_checkpoint = false) try {
    f();
  } catch (const support::file_error& e) {
    const std::string why = sentence_of(e);
    if (saved_ < 0)
      throw std::runtime_error(fmt::format(
          "{}; the run was after step {}, and there is no checkpoint to go on from: {}", why, now(),
          is_checkpoint ? fmt::format("each takes {}: make room for it, or give an --out where there "
                                      "is room, and begin anew",
                                      app::size_text(static_cast<f64>(checkpoint_size(simulation_))))
          : asked_.checkpoint_every
              ? fmt::format("make room, or give another --out, and begin anew; the first would have "
                            "come after step {}",
                            asked_.checkpoint_every)
              : "make room and begin anew, with --checkpoint-every"));
    throw std::runtime_error(fmt::format(
        "{}; the run was after step {}, and {} is after step {}: make room, and the same command{} "
        "goes on from there",
        why, now(), checkpoint().string(), saved_, alone_ ? " with --resume" : ""));
  }

  i64 now() const { return simulation_.time(); }
  bool due(i64 every) const { return every && now() % every == 0; }
  i64 due_after(i64 every) const { return every ? (now() / every + 1) * every : asked_.steps; }
  std::filesystem::path checkpoint() const { return folder_ / "wave.checkpoint"; }

  void go_on() {
    const std::string name = checkpoint().string();
    std::optional<support::file_reader> file;
    do_alike(alone_, [&] { require_medium(file.emplace(name)); });
    try {
      read_checkpoint(simulation_, *file);
    } catch (const support::file_error&) {  // it cannot be read
      throw;
    } catch (const std::invalid_argument& e) {
      refuse("{}: remove it, or give another --out", sentence_of(e));
    }
    if (now() > asked_.steps)
      refuse(
          "{}: the checkpoint is after {} steps, and --steps asks for {}: give --steps {} or more, or "
          "another "
          "--out",
          name, now(), asked_.steps, now());
    saved_ = now();
    if (alone_) fmt::print("going on after {} steps\n", now());
  }
  /// Throws if a checkpoint is one of a medium of another kind, whose bytes say so.
  static void require_medium(const support::file_reader& file) {
    constexpr bool is_isotropic = std::is_same_v<Medium, isotropic>;
    constexpr std::string_view other =
        (is_isotropic ? seismic::checks::of_seismic : wave25::checks::of_wave25).magic;
    std::string begin(other.size(), '\0');
    if (file.size() < begin.size()) return;
    file.read(0, begin.data(), begin.size());
    if (begin == other)
      refuse(
          "{}: it is the checkpoint of a run {}: give the options with which it was written, or another "
          "--out, or remove it to begin anew",
          file.name(),
          is_isotropic ? "with --density, or with --epsilon or --delta"
                       : "without --density, --epsilon and --delta");
  }
  void save() {
    require_finite();
    write(
        [&] {
          app::joint_file file(checkpoint().string(), checkpoint_size(simulation_), !alone_);
          write_checkpoint(simulation_, file);
          file.finish();
        },
        true);
    saved_ = now();
  }

  /// Throws if a process has a number that is none, with the cell nearest to the source: the field was lost
  /// there first, or close to it. Collective.
  void require_finite() {
    constexpr u64 none = ~u64{0};
    const cells source = nearest_cell(problem_.sources[0].position(problem_.spacing), problem_);
    const auto apart = [](int a, int b) { return static_cast<u64>(i64{a - b} * i64{a - b}); };
    std::pair<u64, u64> nearest{none, none};  // the square of the distance in cells, and the index
    u64 lost = 0;
    f32 what = 0;
    simulation_.each_own_block([&](const grid::lines& where, auto line_at) {
      for (int x = where.x.from; x < where.x.to; ++x)
        for (int y = where.y.from; y < where.y.to; ++y) {
          const std::span<const f32> line = line_at(x, y);
          const auto is_lost = [](f32 v) { return !std::isfinite(v); };
          for (auto at = std::find_if(line.begin(), line.end(), is_lost); at != line.end();
               at = std::find_if(at + 1, line.end(), is_lost)) {
            const int z = static_cast<int>(at - line.begin());
            const std::pair here{apart(x, source.x) + apart(y, source.y) + apart(z, source.z),
                                 u64{problem_.size.index({x, y, z})}};
            ++lost;
            if (here < nearest) nearest = here, what = *at;
          }
        }
    });
    const auto least = [&](u64 mine) { return alone_ ? ~app::largest(~mine) : mine; };
    const u64 distance = least(nearest.first);
    if (distance == none) {
      finite_ = now();
      return;
    }
    const u64 first = least(nearest.first == distance ? nearest.second : none);
    // its bits, which no other process has
    const u64 bits = first == nearest.second ? std::bit_cast<u32>(what) : 0;
    what = std::bit_cast<f32>(static_cast<u32>(alone_ ? app::largest(bits) : bits));
    if (alone_) lost = app::sum(lost);
    const u64 z = static_cast<u64>(problem_.size.z), y = static_cast<u64>(problem_.size.y);
    throw std::runtime_error(fmt::format(
        "after step {} the field in cell ({}, {}, {}) is {}, the nearest to the source of {} such cells{}: "
        "32-bit "
        "numbers do not hold it; take a smaller --amplitude, or a smaller --time-step if you gave one",
        now(), first / (y * z), first / z % y, first % z, what, lost,
        finite_ > 0 ? fmt::format("; after step {} it was finite", finite_) : ""));
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
      by_writer([&] {
        if (asked_.snapshots.svg)
          app::write_file(file("svg"),
                          figure_of_slice(drawn, p, drawn_,
                                          fmt::format("u at t = {:.3f} s (step {})",
                                                      static_cast<f64>(now()) * p.time_step(), now())));
        if (asked_.snapshots.png)
          app::write_file(file("png"), picture_of_slice(drawn, p, drawn_, asked_.clip));
      });
    }
    const auto all = simulation_.on_pes();
    const auto volume = [&](const char* ending, const volume_format& format) {
      write_volume(file(ending), format, {p.size, all.blocks, all.field}, !alone_);
    };
    if (asked_.snapshots.vtk) volume("vtk", vtk(p.size, h));
    if (asked_.snapshots.vti) volume("vti", vti(p.size, h));
    if (asked_.snapshots.h5) volume("h5", hdf5_format(p.size, {h, h, h}));
  }

  void record() {
    const std::size_t n = problem_.receivers.size();
    if (n == 0 || now() == 0) return;
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
  std::unique_ptr<support::folder_lock> lock_;  ///< of the process that writes
  i64 saved_ = -1, finite_ = 0;  ///< steps of the last checkpoint, and of the last look at all cells
};

}  // namespace

int run_shot(const options& o, const wave25::problem& p, const std::filesystem::path& folder, int number,
             bool alone) {
  return std::visit([&](const auto& m) { return shot_run(o, p, m, folder, number, alone).all(); }, o.medium);
}

}  // namespace wave_app
