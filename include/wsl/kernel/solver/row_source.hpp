// SPDX-License-Identifier: MIT
// The rows of a matrix, one at a time, from wherever they come: from a sparse matrix of the host, or from a
// rule, such as an operator on a grid, whose matrix then never lies in memory as a whole.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "sparse_matrix.hpp"

namespace wsl::solver {

struct row_entry {
  i32 column = 0;
  f64 value = 0;
};

struct row_source {
  int rows = 0, columns = 0;
  /// Appends the entries of a row; each column comes once.
  std::function<void(int row, std::vector<row_entry>& to)> append;
};

/// The rows of a matrix, which must live longer.
inline row_source rows_of(const sparse_matrix& a) {
  return {a.rows(), a.columns(), [&a](int r, std::vector<row_entry>& to) {
            const std::span<const i32> columns = a.places.row(r);
            const std::span<const f64> values = a.row_values(r);
            for (std::size_t k = 0; k < columns.size(); ++k) to.push_back({columns[k], values[k]});
          }};
}

/// The properties of a matrix that a solver asks for.
struct matrix_facts {
  f64 largest = 0;         ///< absolute value of an entry
  f64 largest_circle = 0;  ///< of Gershgorin's circles of D^-1 A; infinite where the diagonal has a zero
  int row_without_diagonal = -1;  ///< the first row whose diagonal is zero
};
inline matrix_facts facts_of(const row_source& a) {
  matrix_facts f;
  std::vector<row_entry> row;
  for (int r = 0; r < a.rows; ++r) {
    row.clear();
    a.append(r, row);
    f64 sum = 0, diagonal = 0;
    for (const row_entry& e : row) {
      const f64 size = std::abs(e.value);
      sum += size, f.largest = std::max(f.largest, size);
      if (e.column == r) diagonal = size;
    }
    if (diagonal == 0 && f.row_without_diagonal < 0) f.row_without_diagonal = r;
    f.largest_circle =
        std::max(f.largest_circle, diagonal > 0 ? sum / diagonal : std::numeric_limits<f64>::infinity());
  }
  return f;
}

}  // namespace wsl::solver
