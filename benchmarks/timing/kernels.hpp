// SPDX-License-Identifier: MIT
// The cycles of the library's own kernels with a column of cells on each PE, beside published measurements of
// other programs for the same task; so there is no bound. The solvers compute in f32; the published BiCGStab
// (arXiv 2010.03660) computes in f16 with sums in f32, on 1536 cells a PE of a CS-1, in 28.1 us an iteration.
#pragma once
#include <cstdio>

#include <wsl/engine/timed.hpp>
#include <wsl/kernel/solver.hpp>
#include <wsl/kernel/wave25/rotating.hpp>

namespace timing_table {

using namespace wsl;

inline constexpr int cells_a_pe = 100, edge_of_plate = 12;

/// A diffusion with zero outside: symmetric, and the same in all directions.
inline solver::stencil diffusion(const solver::cells& size) {
  solver::stencil a{.size = size};
  for (const solver::side_of_stencil& s : solver::stencil_sides)
    (a.*s.weights).assign(size.count(), s.weights == &solver::stencil::centre ? 6.5f : -1.f);
  return a;
}

template <class Method>
f64 solver_cycles_a_cell() {
  const solver::cells size{edge_of_plate, edge_of_plate, cells_a_pe};
  solver::solver_on<Method, solver::one_line<cells_a_pe>> s{diffusion(size), size.x, size.y, wse2, timed{}};
  std::vector<f32> b(size.count());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<f32>(i % 7) - 3;
  s.load(b, {.tolerance = 0});
  s.iterate(2);
  const u64 begun = s.cycles();
  s.iterate(4);
  return static_cast<f64>(s.cycles() - begun) / (4 * cells_a_pe);
}
/// The cycles of the exchange only: the PE program computes in C++ and charges nothing for it.
template <class Simulation>
f64 exchange_cycles_a_cell() {
  constexpr int steps = 4;
  wave25::problem p{.size = {edge_of_plate, edge_of_plate, cells_a_pe}};
  p.sources.push_back({.at = {5, 5, 50}});
  Simulation s{p, wse2, timed{}};
  s.run(1);
  return static_cast<f64>(s.run(steps)) / (steps * cells_a_pe);
}

inline void print_kernels() {
  const auto line = [](const char* what, const char* published, f64 counted) {
    std::printf("%-50s %10s %10.3g\n", what, published, counted);
  };
  std::printf("\n%-50s %10s %10s\n", "the library's kernels on wse2, cycles for a cell", "published",
              "counted");
  line("BiCGStab, an iteration", "15.5", solver_cycles_a_cell<solver::bicgstab_method>());
  line("conjugate gradients, an iteration", "",
       solver_cycles_a_cell<solver::conjugate_gradient_method<solver::preconditioner::none>>());
  line("wave25, exchange of a step, senders in turn", "",
       exchange_cycles_a_cell<wave25::rotating_simulation<cells_a_pe>>());
  line("wave25, exchange of a step, relays", "",
       exchange_cycles_a_cell<wave25::wafer_simulation<cells_a_pe>>());
}

}  // namespace timing_table
