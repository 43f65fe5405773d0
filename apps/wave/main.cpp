// SPDX-License-Identifier: MIT
// wsl-wave solves the acoustic wave equation from the command line: one shot, the shots of a list, or their
// migration.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>

#include "../ranks.hpp"
#include "../run.hpp"
#include "migration.hpp"
#include "shot_queue.hpp"
#include "shot_run.hpp"

using namespace wsl;

namespace wave_app {
namespace {

int run_shots(const options& o) {
  const auto formats = [&] {
    const auto& s = o.snapshots;
    const auto& r = o.records;
    return fmt::format("{}{}{}{}{}{} {}{}{}{} {} {}", s.svg, s.vtk, s.vti, s.h5, s.png, o.film, r.csv, r.svg,
                       r.npy, r.segy, o.snapshot_every, o.sample_interval);
  }();
  const shot_queue q{
      .out = o.out,
      .shots = o.shots.size(),
      .at_a_time = o.shots_at_a_time,
      .recipe =
          [&](std::size_t k) {
            return fmt::format("shot {:016x} steps {} files {}\n", o.fingerprint_of(k), o.steps, formats);
          },
      .make =
          [&](std::size_t k, const std::filesystem::path& folder) {
            const int status = stopped_by
                                   ? 128 + static_cast<int>(stopped_by)
                                   : run_shot(o, o.problem_of(k), folder, static_cast<int>(k) + 1, false);
            if (status == 0) fmt::print("shot {} of {} is finished\n", k + 1, o.shots.size());
            std::fflush(stdout);
            return status;
          }};
  bool missing = false;
  const shots_done done = work_beside_others(q, missing);
  fmt::print("{} of {} shots were made here, {} were finished before, {} were in work elsewhere\n", done.here,
             o.shots.size(), done.before, done.elsewhere);
  if (missing && app::is_root())
    fmt::print("some of these are still in work: the same command says when all are finished\n");
  return missing ? status_of_missing : done.status;
}

int march(int argc, char** argv) {
  int status = 0;
  const auto asked = parse(argc, argv, status);
  if (!asked) return status;
  if (asked->shots.empty()) {  // they share the cells, not the shots
    app::require_joined("or give a list of shots (--shots), which processes share without MPI");
    app::let_one_print();
  }
  const wave25::problem& p = asked->problem;
  if (app::is_root())
    fmt::print("{} cells of {:g} m, time step {:.6g} s, {} steps\n", text(p.size), p.spacing, p.time_step(),
               asked->steps);
  std::fflush(stdout);
  const f64 per_wave = p.slowest() / (2.5 * p.sources[0].peak_hz * p.spacing);
  if (per_wave < 3 && p.sources[0].wavelet.empty() && app::is_root())
    fmt::print(
        stderr,
        "wsl-wave: the shortest wave of the source spans {:.1f} cells where the model is slowest; below 3, "
        "numerical dispersion leaves ripples behind the wave: take a smaller --spacing or --frequency\n",
        per_wave);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    // nohup lets a run go on without its terminal
    if (std::signal(signal, [](int s) { stopped_by = s; }) == SIG_IGN && signal == SIGHUP)
      std::signal(signal, SIG_IGN);
  if (asked->migrates) return migrate_shots(*asked);
  return asked->shots.empty() ? run_shot(*asked, p, asked->out, 1, true) : run_shots(*asked);
}

}  // namespace
}  // namespace wave_app

int main(int argc, char** argv) {
  app::join_ranks(true);
  return app::run("wsl-wave", [&] { return wave_app::march(argc, argv); });
}
