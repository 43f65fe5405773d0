// SPDX-License-Identifier: MIT
// Where does heat flow? Conjugate gradients solve the Poisson equation on a grid and find the temperature
// again from which the right-hand side was made. The loop of the method runs on the PEs: they reduce their
// totals over the fabric and all take the same decisions.
#include <wsl/kernel/solver.hpp>

#include <cstdio>
using namespace wsl;

int main() {
  const solver::stencil laplacian{.size = {24, 20, 16}};
  std::vector<f64> temperature;
  for (int x = 0; x < laplacian.size.x; ++x)
    for (int y = 0; y < laplacian.size.y; ++y)
      for (int z = 0; z < laplacian.size.z; ++z)
        temperature.push_back(std::sin(0.2 * x) * std::cos(0.3 * y) + 0.05 * z);
  const std::vector<f64> heat = solver::serial::product(laplacian, temperature);
  const std::vector<f32> b(heat.begin(), heat.end());

  const solver::solution<f32> s = solver::conjugate_gradient(laplacian, b, {.tolerance = 1e-6});

  for (std::size_t i = 9; i < 50; i += 10)
    std::printf("iteration %2zu: the residual is %.1e of b\n", i + 1, s.residuals[i]);
  f64 error = 0;
  for (std::size_t i = 0; i < temperature.size(); ++i)
    error = std::max(error, std::abs(s.x[i] - temperature[i]));
  std::printf("%s; the temperature is %s to 1e-4\n", text(s.how), error < 1e-4 ? "right" : "WRONG");
  return s.converged() && error < 1e-4 ? 0 : 1;
}
