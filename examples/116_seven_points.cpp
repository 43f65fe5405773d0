// SPDX-License-Identifier: MIT
// The seven-point operator of diffusion with weights that differ from cell to cell, as the solvers have it by
// hand: one step of a stencil with seven coefficients is one product A u. On a wafer a PE has a column of
// cells, and the routes of the layout are proven while it is compiled.
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/solver.hpp>
#include <wsl/kernel/stencil.hpp>

#include <cstdio>
using namespace wsl;

constexpr auto product = [](auto u, auto c, auto w, auto e, auto n, auto s, auto d, auto up) {
  return c(0, 0, 0) * u(0, 0, 0) + w(0, 0, 0) * u(-1, 0, 0) + e(0, 0, 0) * u(1, 0, 0) +
         n(0, 0, 0) * u(0, -1, 0) + s(0, 0, 0) * u(0, 1, 0) + d(0, 0, 0) * u(0, 0, -1) +
         up(0, 0, 0) * u(0, 0, 1);
};
constexpr stencils::takes weights{.coefficients = solver::stencil_points};

constexpr grid::cells size{10, 8, 50};
using wafer_simulation = stencils::wafer_simulation<product, stencils::per_pe{1, 1, size.z}, weights>;
constexpr layout on_wse2 = stencils::plan<wafer_simulation::program>(wse2, size.x, size.y);
static_assert(routed<on_wse2>());

int main() {
  solver::stencil a{.size = size};
  std::vector<f32> u;
  for (std::size_t i = 0; i < size.count(); ++i) u.push_back(static_cast<f32>(i % 23) / 8 - 1);
  wafer_simulation wafer({size.x, size.y, size.z}, stencils::boundary::fixed, wse2, timed{});
  stencils::simulation<product, weights> blocks({size.x, size.y, size.z}, stencils::boundary::fixed);
  wafer.load(u), blocks.load(u);
  for (int k = 0; k < solver::stencil_points; ++k) {
    std::vector<f32>& w = a.*solver::stencil_sides[k].weights;
    w.clear();
    for (std::size_t i = 0; i < size.count(); ++i)
      w.push_back(static_cast<f32>((i * 31 + std::size_t(k) * 5) % 17) / 8 - 1);
    wafer.coefficient(k, w), blocks.coefficient(k, w);
  }
  const u64 cycles = wafer.run(1);
  blocks.run(1);

  const std::vector<f64> expected = solver::serial::product(a, {u.begin(), u.end()});
  const std::vector<f32> v = wafer.values();
  f64 error = 0;
  for (std::size_t i = 0; i < v.size(); ++i) error = std::max(error, std::abs(v[i] - expected[i]));
  const bool agrees = error < 1e-5, same = v == blocks.values();
  std::printf("A u %s the product in f64 to 1e-5; blocks have %s bits\n",
              agrees ? "agrees with" : "DIFFERS from", same ? "the same" : "OTHER");
  std::printf("a product takes %.1f cycles a cell on a WSE-2, with %d bytes a PE\n", f64(cycles) / size.z,
              wafer_simulation::bytes);
  return agrees && same ? 0 : 1;
}
