// SPDX-License-Identifier: MIT
// Particles on a wafer: columns of PEs own nuclides, rows own energies. The particles are sorted into their
// rows, spread along them, and travel once around to collect cross sections from every column. These are
// interpolated, or taken at a point chosen at random, which is right on average.
#include <wsl/kernel/monte_carlo.hpp>

#include <cmath>
#include <cstdio>
using namespace wsl::monte_carlo;
using wsl::f64;

int main() {
  const fuel_problem p = make_fuel_problem(2'000, 50, 1'000);  // particles; nuclides and their points
  wafer_fabric wafer{p.material, {.columns = 10, .rows = 8, .diffusion_rounds = 100}};
  const wafer_result exact = wafer.look_up(p.energies), chosen = wafer.look_up(p.energies, 42);

  f64 error = 0, mean = 0;
  for (std::size_t i = 0; i < p.energies.size(); ++i) {
    const f64 expected = look_up<f64>(p.material, p.energies[i])[0];  // serially, in double precision
    error = std::max(error, std::abs(exact.found[i][0] / expected - 1));
    mean += (chosen.found[i][0] / expected - 1) / static_cast<f64>(p.energies.size());
  }
  std::printf("particles a PE after sorting: %llu to %llu, spread out: %llu to %llu\n",
              static_cast<unsigned long long>(exact.sorted.min),
              static_cast<unsigned long long>(exact.sorted.max),
              static_cast<unsigned long long>(exact.spread.min),
              static_cast<unsigned long long>(exact.spread.max));
  std::printf("interpolated: all within 1e-5 of double precision: %s\n", error < 1e-5 ? "yes" : "no");
  std::printf("chosen at random: within 1 %% on average: %s\n", std::abs(mean) < 0.01 ? "yes" : "no");
  return error < 1e-5 && std::abs(mean) < 0.01 ? 0 : 1;
}
