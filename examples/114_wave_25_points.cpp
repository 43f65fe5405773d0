// SPDX-License-Identifier: MIT
// The 25-point wave equation, of which wsl/kernel/wave25.hpp has a version written by hand, in six lines: the
// new value follows from the present ones and from that of the step before, and the velocity of sound differs
// from cell to cell. The same update runs in blocks on this computer and with a column of cells a PE on a
// wafer, where the timed engine counts the cycles.
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/stencil.hpp>
#include <wsl/kernel/wave25.hpp>

#include <cstdio>
using namespace wsl;

constexpr auto wave = [](auto u, auto courant) {
  constexpr const f64(&w)[5] = wave25::weights;
  auto laplacian = 3 * w[0] * u(0, 0, 0);
  for (int r = 1; r <= 4; ++r)
    laplacian +=
        w[r] * ((u(-r, 0, 0) + u(r, 0, 0)) + (u(0, -r, 0) + u(0, r, 0)) + (u(0, 0, -r) + u(0, 0, r)));
  return 2 * u(0, 0, 0) - u.before(0, 0, 0) + courant(0, 0, 0) * laplacian;
};
constexpr stencils::takes velocity{.coefficients = 1};

int main() {
  constexpr int nx = 12, ny = 10, nz = 32, steps = 20;
  wave25::problem p{.size = {nx, ny, nz}, .spacing = 10};
  std::vector<f32> start(p.size.count()), courant;
  p.velocity.clear();
  for (std::size_t i = 0; i < start.size(); ++i) p.velocity.push_back(1500 + f32(i * 31 % 700));
  for (f32 v : p.velocity) courant.push_back(f32(std::pow(v * p.time_step() / p.spacing, 2)));
  start[p.size.index({5, 4, 20})] = 1;

  wave25::serial by_hand{p};  // in f64
  by_hand.set({start.begin(), start.end()}, {start.begin(), start.end()});
  stencils::simulation<wave, velocity> s({nx, ny, nz}, stencils::boundary::fixed);
  stencils::wafer_simulation<wave, stencils::per_pe{1, 1, nz}, velocity> wafer(
      {nx, ny, nz}, stencils::boundary::fixed, wse2, timed{});
  s.load(start), wafer.load(start);
  s.coefficient(0, courant), wafer.coefficient(0, courant);
  by_hand.run(steps), s.run(steps);
  const u64 cycles = wafer.run(steps);

  const std::vector<f32> u = s.values();
  f64 error = 0, largest = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    largest = std::max(largest, std::abs(by_hand.field()[i])),
    error = std::max(error, std::abs(u[i] - by_hand.field()[i]));
  const bool agrees = error < 1e-5 * largest, same = wafer.values() == u;
  std::printf("after %d steps the stencil %s wave25's serial reference to 1e-5\n", steps,
              agrees ? "agrees with" : "DIFFERS from");
  std::printf("%d x %d PEs of a wafer compute %s bits, in %.0f cycles a cell and step\n", nx, ny,
              same ? "the same" : "OTHER", f64(cycles) / steps / nz);
  return agrees && same ? 0 : 1;
}
