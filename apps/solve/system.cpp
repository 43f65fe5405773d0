// SPDX-License-Identifier: MIT
#include "system.hpp"

#include <fmt/format.h>
#include <cmath>
#include <wsl/kernel/solver/serial.hpp>

#include "../files.hpp"
#include "../memory.hpp"
#include "../ranks.hpp"

namespace solve_app {
namespace {

using namespace wsl::solver;

/// Bytes that each process takes, and those that all of them share.
void require_memory(double of_each, double of_all, const char* what) {
  const double bytes = app::ranks_here() * (of_each + of_all / app::ranks()), there = app::memory_there();
  if (bytes < 0.8 * there) return;
  throw std::invalid_argument(fmt::format("{} takes about {}; this computer has {}", what,
                                          app::size_text(bytes), app::size_text(there)));
}

/// The numbers of each unknown that the host of each process keeps beside right sides and solutions.
constexpr double vectors_of_host = 3;
/// The numbers that a method keeps for each unknown, with those of a preconditioner.
double vectors_of(const options& o) {
  double n = 9;
  if (o.method == "gmres") n += o.how.restart;
  if (o.method == "pcg") n += 6;
  if (o.how.with == preconditioner::multigrid) n += 8;
  return n;
}

}  // namespace

std::string linear_system::text() const {
  if (matrix) return fmt::format("a matrix of {} rows and {} entries", matrix->rows(), matrix->count());
  std::string sizes;
  for (int n : grid.size) sizes += fmt::format("{}{}", sizes.empty() ? "" : " x ", n);
  constexpr const char* sides[] = {"dirichlet", "neumann", "periodic"};
  return fmt::format("a grid of {} cells, {} points, {} sides", sizes, 2 * grid.size.size() + 1,
                     sides[static_cast<int>(grid.sides)]);
}

double linear_system::residual(const std::vector<double>& x, const std::vector<double>& b,
                               bool removes_mean) const {
  const row_source a = matrix ? rows_of(*matrix) : grid.matrix();
  const double n = static_cast<double>(b.size());
  double mean = 0;
  for (double v : b) mean += removes_mean ? v : 0;
  mean /= n;
  std::vector<row_entry> row;
  std::vector<double> right = b, left;
  for (double& v : right) v -= mean;
  for (int r = 0; r < a.rows; ++r) {
    row.clear();
    a.append(r, row);
    double sum = right[static_cast<std::size_t>(r)];
    for (const row_entry& e : row) sum -= e.value * x[static_cast<std::size_t>(e.column)];
    left.push_back(sum);
  }
  const double length = serial::norm(left);
  return is_rounding_of_mean(length, mean, n) ? 0 : length / serial::norm(right);
}

linear_system system_of(const options& o) {
  linear_system s;
  if (!o.matrix.empty()) {
    const std::string text = app::read_file(o.matrix);
    // entries of 16 bytes, twice while they are sorted, and the rows of the host and of the PEs
    require_memory(static_cast<double>(text.size()) * 12, 0, "the matrix");
    s.matrix = matrix_from_text(text, o.matrix);
    s.matrix->require_system();
  } else {
    s.grid = {o.grid, o.sides};
    s.grid.check();
    double cells = 1;
    for (int n : o.grid) cells *= n;
    require_memory(cells * 8 * vectors_of_host, cells * 8 * vectors_of(o), "the system");
  }
  if (!o.right_side.empty()) {
    s.right_sides = columns_from_text(app::read_file(o.right_side), o.right_side, s.unknowns());
  } else {
    s.right_sides.rows = s.unknowns();
    s.right_sides.all.assign(1, std::vector<double>(static_cast<std::size_t>(s.unknowns()), 1.));
  }
  const double bytes = static_cast<double>(s.unknowns()) * 8;
  require_memory(bytes * (vectors_of_host + 2 * static_cast<double>(s.right_sides.all.size())),
                 bytes * vectors_of(o), "the system");
  return s;
}

}  // namespace solve_app
