// SPDX-License-Identifier: MIT
// The timed engine against published cycles: every case, misses included. docs/timing.md shows the table and
// says which two of its rows are calibration. All cases use the constants of core/machine.hpp. Programs
// without published cycles have a table without a bound.
#include <cmath>
#include <cstdio>

#include "kernels.hpp"
#include "line.hpp"
#include "mesh_gemm.hpp"
#include "pipeline.hpp"
#include "stencil.hpp"
#include "vendor.hpp"

using namespace timing_table;

namespace {

struct tally {
  int cases = 0, within = 0;
  f64 worst = 0;

  void compare(const char* what, const char* target, f64 published, f64 counted, f64 bound) {
    const f64 error = 100 * (counted - published) / published;
    const bool hit = std::abs(error) <= bound;
    ++cases, within += hit;
    worst = std::max(worst, std::abs(error));
    std::printf("%-36s %-5s %10.6g %10.6g %+7.1f %% %5.0f %%%s\n", what, target, published, counted, error,
                bound, hit ? "" : "  miss");
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
    all_of_it.compare(what, wse2.name, formula(p, words), static_cast<f64>(run(p, words)), 4);
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

}  // namespace

int main() {
  tally all_of_it;
  std::printf("%-36s %-5s %10s %10s %9s %7s\n", "case", "", "published", "counted", "error", "bound");
  line_cases(all_of_it, "broadcast", broadcast_cycles,
             [](int p, int b) -> f64 { return b + p + 2 * ramp_cycles; });
  line_cases(all_of_it, "star", star_cycles, star_formula);
  line_cases(all_of_it, "chain", chain_cycles,
             [](int p, int b) -> f64 { return b + (2 * ramp_cycles + 2) * (p - 1); });
  const auto vendor = [&](const char* what, u64 (*run)(const machine&), f64 on_wse2, f64 on_wse3) {
    all_of_it.compare(what, wse2.name, on_wse2, static_cast<f64>(run(wse2)), 10);
    all_of_it.compare(what, wse3.name, on_wse3, static_cast<f64>(run(wse3)), 10);
  };
  vendor("copy, 4 numbers", copy_cycles, 22, 21);
  vendor("vertical recurrence, 4 numbers", vertical_cycles, 35, 32);
  vendor("store and forward, P = 15, B = 128", store_and_forward_cycles, 3920, 3090);
  all_of_it.compare("MeshGEMM, a step", wse3.name, 511841 / 360.0, mesh_gemm_step_cycles(wse3), 10);
  constexpr f64 wafer = 755 * 994;  // PEs; cells a second for 100 and 1000 cells a PE (arXiv 2204.03775)
  all_of_it.compare("25-point stencil, 100 cells a PE", wse2.name, wafer * wse2.clock_hz / 8688.8e9,
                    stencil_cycles_a_cell<100>(), 10);
  all_of_it.compare("25-point stencil, 1000 cells a PE", wse2.name, wafer * wse2.clock_hz / 9937e9,
                    stencil_cycles_a_cell<1000>(), 10);
  all_of_it.compare("words that fit into a pipeline", wse2.name, 14, words_in_pipeline(), 0);
  print_switched_star();
  print_kernels();
  std::printf("\ntiming: %d of %d cases within bound, worst %.1f %%\n", all_of_it.within, all_of_it.cases,
              all_of_it.worst);
}
