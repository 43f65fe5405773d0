// SPDX-License-Identifier: MIT
// The power method: repeated multiplication with A turns a vector toward the eigenvector of the largest
// eigenvalue. For the negative Laplacian on a grid that eigenvalue is known.
#include <wsl/kernel/solver.hpp>

#include <cstdio>
using namespace wsl;

int main() {
  const solver::stencil laplacian{.size = {6, 5, 4}};  // 6 in the centre, -1 around it
  std::vector<f32> start;
  for (std::size_t i = 0; i < laplacian.size.count(); ++i) start.push_back(static_cast<f32>(i * 7 % 13) - 6);

  const solver::eigenpair<f32> e =
    solver::power_method(laplacian, start, {.tolerance = 1e-7, .iterations = 300}, {.wide = 3, .high = 2});

  const auto along = [](int n) { return 2 * std::cos(3.14159265358979323846 / (n + 1)); };
  const f64 exact = 6 + along(laplacian.size.x) + along(laplacian.size.y) + along(laplacian.size.z);
  for (std::size_t i : {std::size_t{0}, std::size_t{4}, std::size_t{16}, std::size_t{64}})
    if (i < e.values.size()) std::printf("after %3zu iterations %.4f\n", i + 1, e.values[i]);
  const bool right = e.converged() && std::abs(e.value - exact) < 1e-4 * exact;
  std::printf("%s: the largest eigenvalue is %.3f, exactly %.3f\n", text(e.how), e.value, exact);
  return right ? 0 : 1;
}
