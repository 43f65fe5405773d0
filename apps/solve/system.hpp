// SPDX-License-Identifier: MIT
// The system that wsl-solve solves: a matrix from a file or from a grid, and its right sides.
#pragma once
#include <optional>
#include <string>
#include <vector>
#include <wsl/kernel/solver/sparse_solve.hpp>

#include "matrix_market.hpp"
#include "options.hpp"

namespace solve_app {

struct linear_system {
  std::optional<wsl::solver::sparse_matrix> matrix;
  wsl::solver::grid_system grid;  ///< if there is no matrix
  columns right_sides;

  int unknowns() const { return matrix ? matrix->rows() : grid.cells(); }
  std::string text() const;
  /// |b - A x| / |b| in f64, without the mean of b where `removes_mean`.
  double residual(const std::vector<double>& x, const std::vector<double>& b, bool removes_mean) const;
};

/// Reads or makes it. Throws support::file_error and std::invalid_argument, also if this computer's memory is
/// too small.
linear_system system_of(const options& o);

}  // namespace solve_app
