// SPDX-License-Identifier: MIT
#include "shot_run.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  static seismic::state read(const std::string& bytes, const problem& p) {
    return seismic::state_from_bytes(bytes, p);
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
  static wave25::state read(const std::string& bytes, const problem& p) {
    return wave25::state_from_bytes(bytes, p);
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
      const auto s = solver<Medium>::read(app::read_file(checkpoint()), whole_);
      if (s.time > o.steps) refuse("the checkpoint is after {} steps, --steps asks for {}", s.time, o.steps);
      simulation_.restore(s);
      if (alone_) fmt::print("going on after {} steps\n", s.time);
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
    require_finite(simulation_.field());
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
    return alone_ ? app::largest(mine) : mine;
  }

  i64 now() const { return simulation_.time(); }
  bool due(i64 every) const { return every && now() % every == 0; }
  i64 due_after(i64 every) const { return every ? (now() / every + 1) * every : asked_.steps; }
  std::filesystem::path checkpoint() const { return folder_ / "wave.checkpoint"; }

  void save() {
    const auto s = simulation_.save();
    require_finite(s.now);
    if (writes()) app::write_file(checkpoint(), to_bytes(s, whole_));
  }

  void require_finite(const std::vector<std::vector<f32>>& fields) const {
    for (const std::vector<f32>& field : fields) require_finite(field);
  }

  void require_finite(const std::vector<f32>& field) const {
    const auto lost = std::find_if(field.begin(), field.end(), [](f32 v) { return !std::isfinite(v); });
    if (lost == field.end()) return;
    const i64 i = lost - field.begin(), z = problem_.size.z, y = problem_.size.y;
    throw std::runtime_error(fmt::format(
        "after step {} the field in cell ({}, {}, {}) is {}: 32-bit numbers do not hold it; take a "
        "smaller --amplitude, or a smaller --time-step if you gave one",
        now(), i / (y * z), i / z % y, i % z, *lost));
  }

  std::filesystem::path snapshot_name(i64 step, const char* ending) const {
    return folder_ / fmt::format("u{:08}.{}", step, ending);
  }
  void snapshot() {
    const auto field = simulation_.field();
    require_finite(field);
    if (!writes()) return;
    const wave25::problem& p = problem_;
    const auto file = [&](const char* ending) { return snapshot_name(now(), ending); };
    const f64 h = p.spacing;
    if (asked_.snapshots.svg)
      app::write_file(file("svg"),
                      figure_of_slice(field, p, drawn_,
                                      fmt::format("u at t = {:.3f} s (step {})",
                                                  static_cast<f64>(now()) * p.time_step(), now())));
    if (asked_.snapshots.png) app::write_file(file("png"), picture_of_slice(field, p, drawn_, asked_.clip));
    if (asked_.snapshots.vtk) app::write_file(file("vtk"), vtk(field, p.size, h));
    if (asked_.snapshots.vti) app::write_file(file("vti"), vti(field, p.size, h));
    if (asked_.snapshots.h5) app::write_file(file("h5"), hdf5_bytes({p.size, {h, h, h}, field}));
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
