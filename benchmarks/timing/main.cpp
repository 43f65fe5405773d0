// SPDX-License-Identifier: MIT
// The timed engine against published cycles: every case, misses included. docs/timing.md shows the table. The
// constants of core/machine.hpp that nobody has published are fitted to some of the cases (`timing fit`), and
// the other cases test them. Programs without published cycles have a table without a bound.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "fit.hpp"
#include "kernels.hpp"
#include "line.hpp"
#include "mesh_gemm.hpp"
#include "pipeline.hpp"
#include "sparse.hpp"
#include "stencil.hpp"
#include "vendor.hpp"
#include "wafer.hpp"

using namespace timing_table;

namespace {

struct tally {
  int cases = 0, within = 0;
  f64 worst = 0;

  bool compare(const char* what, const char* target, f64 published, f64 counted, f64 bound,
               const char* group) {
    const f64 error = 100 * (counted - published) / published;
    const bool hit = std::abs(error) <= bound;
    ++cases, within += hit;
    worst = std::max(worst, std::abs(error));
    std::printf("%-36s %-5s %10.6g %10.6g %+7.1f %% %5.0f %%  %s%s\n", what, target, published, counted,
                error, bound, group, hit ? "" : "  miss");
    return hit;
  }
};

template <class Use>
void each_line(const char* pattern, Use use) {
  for (int p : {4, 16, 64, 256, 512})
    for (int words : {1, 16, 256, 4096}) {
      char what[64];
      std::snprintf(what, sizeof what, "%s, P = %d, B = %d", pattern, p, words);
      use(what, p, words);
    }
}
void line_cases(tally& all_of_it, const char* pattern, u64 (*run)(int, int), f64 (*formula)(int, int)) {
  each_line(pattern, [&](const char* what, int p, int words) {
    all_of_it.compare(what, wse2.name, formula(p, words), static_cast<f64>(run(p, words)), 4, "form");
  });
}

constexpr int ramp_cycles = wse2.ramp_latency;
f64 star_formula(int p, int words) { return words * (p - 1) + 2 * ramp_cycles + 1; }

/// The closed form describes a line that never pauses; a line whose switches move does pause.
void print_switched_star() {
  std::printf("\n%-41s %10s %10s\n", "a star without races, by switches, on wse2", "star", "counted");
  each_line("star by switches", [](const char* what, int p, int words) {
    std::printf("%-41s %10.6g %10.6g\n", what, star_formula(p, words),
                static_cast<f64>(switched_star_cycles(p, words)));
  });
}

/// Programs with published cycles. Those of the fit are the first of their kind, or those that are sensitive
/// to a constant; the others are tested apart.
std::vector<program_case> programs() {
  constexpr f64 wafer = 755 * 994;  // PEs; cells a second for 100 and 1000 cells a PE (arXiv 2204.03775)
  const auto alone = [](auto run) { return [run](const machine& m) { return static_cast<f64>(run(m)); }; };
  return {
      {"copy, 4 numbers", &wse2, 22, alone(copy_cycles), true},
      {"copy, 4 numbers", &wse3, 21, alone(copy_cycles), false},
      {"vertical recurrence, 4 numbers", &wse2, 35, alone(vertical_cycles), true},
      {"vertical recurrence, 4 numbers", &wse3, 32, alone(vertical_cycles), false},
      {"store and forward, P = 15, B = 128", &wse2, 3920, alone(store_and_forward_cycles), false},
      {"store and forward, P = 15, B = 128", &wse3, 3090, alone(store_and_forward_cycles), true},
      {"difference to the west, 4 numbers", &wse2, 56, alone(difference_cycles), false},
      {"product of 5124, banks apart", &wse2, 5130, alone(cycles_alone<product<5124, false>>), false},
      {"product of 1028, beyond one a cycle", &wse2, 1034 - 1028,
       [](const machine& m) { return static_cast<f64>(cycles_alone<product<1028, false>>(m)) - 1028; }, true},
      {"product of 5124, banks alike", &wse2, 10254, alone(cycles_alone<product<5124, true>>), false},
      {"by coordinates, 8 x 8, M = 36", &wse2, 7179, alone(cycles_alone<by_coordinates<36>>), true},
      {"by coordinates, 8 x 8, M = 132", &wse2, 19659, alone(cycles_alone<by_coordinates<132>>), false},
      {"by columns, 8 x 8, M = 36", &wse2, 7592, alone(cycles_alone<by_columns<36>>), false},
      {"by columns, 8 x 8, M = 132", &wse2, 19880, alone(cycles_alone<by_columns<132>>), false},
      {"MeshGEMM, P = 360, tiles of 12 x 12", &wse3, 511841,
       [](const machine& m) { return mesh_gemm_cycles<12>(m, 360); }, true},
      {"MeshGEMM, P = 540, tiles of 8 x 8", &wse3, 397755,
       [](const machine& m) { return mesh_gemm_cycles<8>(m, 540); }, true},
      {"25-point stencil, 100 cells a PE", &wse2, wafer * wse2.clock_hz / 8688.8e9,
       [](const machine& m) { return stencil_cycles_a_cell<100>(m); }, false},
      {"25-point stencil, 1000 cells a PE", &wse2, wafer * wse2.clock_hz / 9937e9,
       [](const machine& m) { return stencil_cycles_a_cell<1000>(m); }, false},
      {"words that fit into a pipeline", &wse2, 14,
       [](const machine& m) { return static_cast<f64>(words_in_pipeline(m)); }, false, 0},
  };
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<program_case> cases = programs();
  if (argc == 2 && !std::strcmp(argv[1], "fit")) return print_fit(cases), 0;
  if (argc > 1 && !std::strcmp(argv[1], "wafer") && print_wafer(argc, argv)) return 0;
  if (argc > 1)
    return std::fprintf(stderr, "usage: timing [fit | wafer [8|32|100 [relays|turns [<threads>]]]]\n"), 1;
  tally all_of_it, apart;
  std::printf("%-36s %-5s %10s %10s %9s %7s\n", "case", "", "published", "counted", "error", "bound");
  line_cases(all_of_it, "broadcast", broadcast_cycles,
             [](int p, int b) -> f64 { return b + p + 2 * ramp_cycles; });
  line_cases(all_of_it, "star", star_cycles, star_formula);
  line_cases(all_of_it, "chain", chain_cycles,
             [](int p, int b) -> f64 { return b + (2 * ramp_cycles + 2) * (p - 1); });
  for (const program_case& c : cases) {
    const f64 counted = c.run(*c.target);
    const bool hit =
        all_of_it.compare(c.name, c.target->name, c.published, counted, c.bound, c.fitted ? "fit" : "apart");
    if (c.fitted) continue;
    ++apart.cases, apart.within += hit;
    apart.worst = std::max(apart.worst, 100 * std::abs(counted - c.published) / c.published);
  }
  print_switched_star();
  print_kernels();
  std::printf("\ntiming: %d of %d cases within bound, worst %.1f %%; tested apart %d of %d, worst %.1f %%\n",
              all_of_it.within, all_of_it.cases, all_of_it.worst, apart.within, apart.cases, apart.worst);
}
