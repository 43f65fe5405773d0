// SPDX-License-Identifier: MIT
// Wind blows heat through a room: convection makes the operator unsymmetric, and BiCGStab solves it. The same
// program runs on a WSE-2 with a column of cells on each PE, and on this computer in blocks.
#include <wsl/kernel/solver.hpp>

#include <cstdio>
using namespace wsl;

constexpr grid::cells size{15, 11, 40};
using wafer_line = solver::one_line<size.z>;
constexpr layout on_wse2 = solver::plan<solver::bicgstab_method, wafer_line>(wse2, size.x, size.y);
static_assert(routed<on_wse2>());

int main() {
  // The wind comes from the west, and near the floor also from above.
  solver::stencil room{.size = size, .centre = {6.2f}, .west = {-1.6f}, .east = {-0.4f}};
  room.up.clear();
  for (int z = 0; z < size.z; ++z) room.up.push_back(z < 10 ? -1.2f : -1.f);
  std::vector<f32> heater(size.count());
  for (int y = 2; y < 5; ++y) heater[size.index({3, y, 1})] = 100;

  const solver::limits most{.tolerance = 1e-6};
  const solver::solution<f32> s = solver::bicgstab(room, heater, most);
  solver::solver_on<solver::bicgstab_method, wafer_line> wafer{room, size.x, size.y, wse2, threaded{}};
  const solver::solution<f32> w = solver::solve(wafer, heater, most);
  const solver::solution<f64> expected = solver::serial::bicgstab(room, {heater.begin(), heater.end()}, most);

  bool right = true;
  for (const auto* found : {&s, &w}) {
    f64 error = 0, largest = 0;
    for (std::size_t i = 0; i < size.count(); ++i)
      error = std::max(error, std::abs(found->x[i] - expected.x[i])),
      largest = std::max(largest, expected.x[i]);
    right &= found->converged() && error < 1e-5 * largest;
    std::printf("%s: %s, and %s f64 to 1e-5\n", found == &s ? "in blocks" : "on a wafer", text(found->how),
                error < 1e-5 * largest ? "agrees with" : "DIFFERS from");
  }
  std::printf("the first residuals: %.3f %.3f %.3f of |b|, in f64 %.3f %.3f %.3f\n",
              s.residuals[0], s.residuals[1], s.residuals[2],
              expected.residuals[0], expected.residuals[1], expected.residuals[2]);
  return right ? 0 : 1;
}
