// SPDX-License-Identifier: MIT
// Rock layers whose conductivities differ a thousandfold make conjugate gradients slow; the Jacobi
// preconditioner, which divides by the diagonal, makes them fast again. A weight between two cells is the
// mean of their conductivities, so the operator is symmetric.
#include <wsl/kernel/solver.hpp>

#include <cstdio>
using namespace wsl;

constexpr grid::cells size{10, 10, 24};

f32 conductivity(int z) { return z / 4 % 2 ? 1000.f : 1.f; }
f32 between(int z, int other) { return (conductivity(z) + conductivity(other)) / 2; }

int main() {
  solver::stencil a{.size = size};
  for (const auto& side : solver::stencil_sides) (a.*side.weights).clear();
  for (int z = 0; z < size.z; ++z) {  // one number for each z
    const f32 flat = conductivity(z), down = between(z, z - 1), up = between(z, z + 1);
    for (auto weights : {&a.west, &a.east, &a.north, &a.south}) weights->push_back(-flat);
    a.down.push_back(-down), a.up.push_back(-up);
    a.centre.push_back(4 * flat + down + up);
  }
  std::vector<f32> b(size.count());
  b[size.index({5, 5, 12})] = 1;

  const solver::limits most{.tolerance = 1e-5};
  const solver::solution<f32> plain = solver::conjugate_gradient(a, b, most),
                              better = solver::jacobi_conjugate_gradient(a, b, most);
  const f64 left = solver::serial::relative_residual(a, better.x, b);
  std::printf("without the diagonal: %s\n", text(plain.how));
  std::printf("with it: %s, in less than half the iterations: %s\n", text(better.how),
              2 * better.iterations() < plain.iterations() ? "yes" : "NO");
  std::printf("|b - A x| is %s 1e-4 of |b|\n", left < 1e-4 ? "below" : "ABOVE");
  return better.converged() && 2 * better.iterations() < plain.iterations() && left < 1e-4 ? 0 : 1;
}
