// SPDX-License-Identifier: MIT
// A sparse matrix-vector product: the matrix is an operator on a grid with seven weights a row, which differ
// from cell to cell. x and y of the grid lie across the PEs, z in their memories; a PE needs its neighbours'
// columns. The layout for the wafer is checked at compile time.
#include <wsl/kernel/solver.hpp>

#include <cstdio>
using namespace wsl;

constexpr grid::cells size{12, 9, 32};
using wafer_line = solver::one_line<size.z>;
constexpr layout on_wse2 = solver::plan<solver::product_method, wafer_line>(wse2, size.x, size.y);
static_assert(routed<on_wse2>());

int main() {
  solver::stencil a{.size = size};
  for (const auto& side : solver::stencil_sides) {
    std::vector<f32>& weights = a.*side.weights;
    weights.clear();
    for (std::size_t i = 0; i < size.count(); ++i)
      weights.push_back(static_cast<f32>((i * 31 + weights.size() % 7) % 17) / 8 - 1);
  }
  std::vector<f32> u;
  for (std::size_t i = 0; i < size.count(); ++i) u.push_back(static_cast<f32>(i % 23) / 8 - 1);

  // On this computer in blocks, and on a WSE-2 with a column of cells on each PE.
  const std::vector<f32> v = solver::product(a, u);
  solver::solver_on<solver::product_method, wafer_line> wafer{a, size.x, size.y, wse2, threaded{}};
  wafer.load(u);
  wafer.iterate(1);
  const std::vector<f32> w = wafer.result();

  const std::vector<f64> expected = solver::serial::product(a, {u.begin(), u.end()});
  f64 error = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    error = std::max({error, std::abs(v[i] - expected[i]), std::abs(w[i] - expected[i])});
  std::printf("%zu rows on %d PEs: A u %s the product in f64 to 1e-5\n", v.size(), size.x * size.y,
              error < 1e-5 ? "agrees with" : "DIFFERS from");
  return error < 1e-5 ? 0 : 1;
}
