// SPDX-License-Identifier: MIT
// Sparse systems of equations on a row of PEs. First a network of resistors: Kirchhoff's law at each node
// gives a row of a matrix with as many entries as there are wires, and conjugate gradients find the voltages.
// The method computes in f32 and is refined in f64, so that they are right to twelve digits. Then the heat of
// a plate, a system from a grid: with a multigrid preconditioner the iterations do not grow with the grid.
#include <wsl/kernel/sparse_solver.hpp>

#include <cstdio>
#include <utility>
using namespace wsl;

// A ring of nodes, each with wires of 1, 1/2, ... ohms to the next nodes and one across; node 0 is grounded.
solver::sparse_matrix network(int nodes) {
  std::vector<solver::sparse_matrix::entry> entries{{0, 0, 1.}};
  for (int i = 0; i < nodes; ++i)
    for (const auto& [step, conductance] : {std::pair{1, 1.}, {2, 2.}, {nodes / 3, 0.5}}) {
      const int j = (i + step) % nodes;  // entries of one place are added up
      entries.insert(entries.end(), {{i, i, conductance}, {j, j, conductance}});
      entries.insert(entries.end(), {{i, j, -conductance}, {j, i, -conductance}});
    }
  return solver::sparse_matrix::from_entries(nodes, nodes, std::move(entries));
}

int main() {
  const int nodes = 2000;
  const solver::sparse_matrix a = network(nodes);
  std::vector<f64> current(nodes);
  current[nodes / 2] = 1;  // one ampere flows in there, and out at the ground
  solver::sparse_solver circuit(
      a, solver::conjugate_gradients{},
      {.with = solver::preconditioner::jacobi, .numbers = solver::arithmetic::mixed, .pes = 4});
  const solver::sparse_solution volts = circuit.solve(current, {.tolerance = 1e-12});
  const f64 left = solver::serial::relative_residual(a, volts.x, current);
  bool right = volts.converged() && left < 1.01e-12 && std::abs(volts.x[0] - 1) < 1e-9;
  std::printf("%lld entries on %d PEs: %s; the ground has %.9f V\n", static_cast<long long>(a.count()),
              circuit.pes(), text(volts.how), volts.x[0]);

  int plain = 0, least = 1000, most = 0;
  for (int n : {32, 64, 128}) {
    const solver::grid_system plate{.size = {n, n}};
    const std::vector<f64> heat(static_cast<std::size_t>(plate.cells()), 1. / (n * n));
    const auto iterations = [&](solver::preconditioner with) {
      solver::sparse_solver s(plate, solver::conjugate_gradients{}, {.with = with});
      const solver::sparse_solution t = s.solve(heat, {.tolerance = 1e-8});
      right = right && t.converged();
      return t.iterations();
    };
    const int with = iterations(solver::preconditioner::multigrid);
    least = std::min(least, with), most = std::max(most, with);
    plain = iterations(solver::preconditioner::jacobi);
  }
  right = right && most <= least + 1 && plain > 10 * most;
  std::printf("multigrid: the iterations %s; without it there are more than ten times as many\n",
              most <= least + 1 ? "do not grow with the grid" : "GROW");
  return right ? 0 : 1;
}
