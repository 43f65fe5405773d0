// SPDX-License-Identifier: MIT
// wsl-wave solves the acoustic wave equation from the command line. It advances to the next event, a
// snapshot, a checkpoint or the end, and handles it. Its output does not depend on whether, and where, it was
// interrupted and resumed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <wsl/support/progress.hpp>

#include "../files.hpp"
#include "../run.hpp"
#include "exports.hpp"
#include "figures.hpp"
#include "options.hpp"

using namespace wsl;

namespace wave_app {
namespace {

/// The signal that ends the run, or 0.
volatile std::sig_atomic_t stopped_by = 0;

class run {
 public:
  explicit run(const options& o) : asked_(o), simulation_(o.problem, o.how) {
    app::make_folder(o.out);
    if (o.resume && std::filesystem::exists(checkpoint())) {
      const wave25::state s = wave25::state_from_bytes(app::read_file(checkpoint()), o.problem);
      if (s.time > o.steps)
        throw std::invalid_argument(
            fmt::format("the checkpoint is after {} steps, --steps asks for {}", s.time, o.steps));
      simulation_.restore(s);
      fmt::print("going on after {} steps\n", s.time);
    }
  }

  /// Runs to the last step, or to a signal: then a checkpoint is written. Returns the exit status.
  int all() {
    support::progress shown("steps", static_cast<u64>(asked_.steps));
    shown.tick(static_cast<u64>(now()));
    while (now() < asked_.steps && !stopped_by) {
      const i64 next = std::min({due_after(asked_.snapshot_every), due_after(asked_.checkpoint_every),
                                 asked_.steps, now() + at_a_time});
      const i64 steps = next - now();
      simulation_.run(steps);
      if (due(asked_.snapshot_every)) snapshot();
      if (due(asked_.checkpoint_every)) save();
      shown.tick(static_cast<u64>(steps));
    }
    if (now() < asked_.steps) {
      save();
      fmt::print("stopped after step {}; the same command with --resume goes on from there\n", now());
      return 128 + stopped_by;
    }
    require_finite(simulation_.field());
    record();
    return 0;
  }

 private:
  static constexpr i64 at_a_time = 32;  ///< steps between two signs of life

  i64 now() const { return simulation_.time(); }
  bool due(i64 every) const { return every && now() % every == 0; }
  i64 due_after(i64 every) const { return every ? (now() / every + 1) * every : asked_.steps; }
  std::filesystem::path checkpoint() const { return asked_.out / "wave.checkpoint"; }

  void save() {
    const wave25::state s = simulation_.save();
    require_finite(s.now);
    app::write_file(checkpoint(), to_bytes(s, asked_.problem));
  }

  void require_finite(const std::vector<f32>& field) const {
    const auto lost = std::find_if(field.begin(), field.end(), [](f32 v) { return !std::isfinite(v); });
    if (lost == field.end()) return;
    const i64 i = lost - field.begin(), z = asked_.problem.size.z, y = asked_.problem.size.y;
    throw std::runtime_error(fmt::format(
        "after step {} the field in cell ({}, {}, {}) is {}: 32-bit numbers do not hold it; take a "
        "smaller --amplitude, or a smaller --time-step if you gave one",
        now(), i / (y * z), i / z % y, i % z, *lost));
  }

  void snapshot() {
    const auto field = simulation_.field();
    require_finite(field);
    const std::string name = fmt::format("u{:08}", now());
    const wave25::problem& p = asked_.problem;
    if (asked_.svg)
      app::write_file(asked_.out / (name + ".svg"), figure_of_slice(field, p, asked_.drawn, now()));
    if (asked_.vtk) app::write_file(asked_.out / (name + ".vtk"), vtk(field, p.size, p.spacing));
  }

  void record() {
    const std::size_t n = asked_.problem.receivers.size();
    if (n == 0 || now() == 0) return;
    std::vector<std::vector<f32>> traces;
    for (std::size_t i = 0; i < n; ++i) traces.push_back(simulation_.trace(i));
    app::write_file(asked_.out / "shot.csv", csv(traces, asked_.problem));
    app::write_file(asked_.out / "shot.svg", figure_of_traces(traces, asked_.problem));
  }

  options asked_;
  wave25::simulation simulation_;
};

int march(int argc, char** argv) {
  int status = 0;
  const auto asked = parse(argc, argv, status);
  if (!asked) return status;
  const wave25::problem& p = asked->problem;
  fmt::print("{} cells of {:g} m, time step {:.6g} s, {} steps\n", text(p.size), p.spacing, p.time_step(),
             asked->steps);
  std::fflush(stdout);
  const f64 slowest = *std::min_element(p.velocity.begin(), p.velocity.end()),
            per_wave = slowest / (2.5 * p.sources[0].peak_hz * p.spacing);
  if (per_wave < 3)
    fmt::print(
        stderr,
        "wsl-wave: the shortest wave of the source spans {:.1f} cells where the model is slowest; below 3, "
        "numerical dispersion leaves ripples behind the wave: take a smaller --spacing or --frequency\n",
        per_wave);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    // nohup lets a run go on without its terminal
    if (std::signal(signal, [](int s) { stopped_by = s; }) == SIG_IGN && signal == SIGHUP)
      std::signal(signal, SIG_IGN);
  return run(*asked).all();
}

}  // namespace
}  // namespace wave_app

int main(int argc, char** argv) {
  return app::run("wsl-wave", [&] { return wave_app::march(argc, argv); });
}
