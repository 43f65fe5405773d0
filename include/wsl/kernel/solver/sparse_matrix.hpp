// SPDX-License-Identifier: MIT
// A sparse matrix of the host: the places of its numbers in compressed rows, and the numbers. It is what the
// Krylov solvers take, and what they find out about a matrix before anything runs. See
// examples/117_sparse_systems.cpp.
//   const sparse_matrix a = sparse_matrix::from_entries(2, 2, {{0, 0, 2.}, {0, 1, -1.}, {1, 1, 3.}});
#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "../../linalg/sparse_pattern.hpp"
#include "../../support/bad_argument.hpp"
#include "../../support/fingerprint.hpp"

namespace wsl::solver {

struct sparse_matrix {
  /// A number and its place; places may come in any order, and those that come twice are added up.
  struct entry {
    i32 row = 0, column = 0;
    f64 value = 0;
  };

  sparse_pattern places;
  std::vector<f64> values;  ///< in the order of the places

  int rows() const { return places.rows(); }
  int columns() const { return places.columns(); }
  i64 count() const { return places.count(); }
  std::span<const f64> row_values(int r) const {
    return std::span(values).subspan(static_cast<std::size_t>(places.first(r)), places.row(r).size());
  }

  /// A matrix from its entries. Throws std::invalid_argument for a place outside of it.
  static sparse_matrix from_entries(int rows, int columns, std::vector<entry> entries);
  /// A matrix from compressed rows in f32 or f64: `first` has rows + 1 offsets, and the columns of each row
  /// ascend. Throws std::invalid_argument if the arrays do not fit.
  template <class T>
  static sparse_matrix from_rows(int rows, int columns, std::vector<i64> first, std::vector<i32> column,
                                 std::span<const T> values) {
    sparse_matrix a{sparse_pattern(rows, columns, std::move(first), std::move(column)),
                    std::vector<f64>(values.begin(), values.end())};
    a.require_values();
    return a;
  }

  sparse_matrix transposed() const;
  /// Adds all that makes the matrix, valid or not.
  void describe(support::fingerprint& f) const;
  /// Throws std::invalid_argument unless there is one value for each place, and each is finite.
  void require_values() const;
  /// Throws std::invalid_argument unless the matrix can be that of a system of equations: square, with at
  /// least one row, no row of zeros, and finite values.
  void require_system() const;
  /// Whether a(i, j) and a(j, i) differ by rounding only (1e-12 of the larger one).
  bool is_symmetric() const;
  /// Whether the sums of all rows and of all columns are rounding only, as those of an operator with
  /// insulated or periodic sides: then constants are in the null space of the matrix and of its transpose.
  bool takes_constants_to_zero() const;
};

inline sparse_matrix sparse_matrix::from_entries(int rows, int columns, std::vector<entry> entries) {
  if (rows < 0 || columns < 0)
    support::bad_argument({"solver: a matrix has no shape (", rows, ", ", columns, ")"});
  for (const entry& e : entries)
    if (e.row < 0 || e.row >= rows || e.column < 0 || e.column >= columns)
      support::bad_argument({"solver: the entry (", e.row, ", ", e.column, ") is outside of a matrix (", rows,
                             ", ", columns, ")"});
  std::vector<i64> first(static_cast<std::size_t>(rows) + 1);
  for (const entry& e : entries) ++first[static_cast<std::size_t>(e.row) + 1];
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) first[r + 1] += first[r];
  std::vector<entry> by_rows(entries.size());
  std::vector<i64> next(first.begin(), first.end() - 1);
  for (const entry& e : entries)
    by_rows[static_cast<std::size_t>(next[static_cast<std::size_t>(e.row)]++)] = e;
  entries = {};
  std::vector<i64> starts{0};
  std::vector<i32> column;
  std::vector<f64> values;
  column.reserve(by_rows.size()), values.reserve(by_rows.size());
  for (int r = 0; r < rows; ++r) {
    const auto begin = by_rows.begin() + first[static_cast<std::size_t>(r)],
               end = by_rows.begin() + first[static_cast<std::size_t>(r) + 1];
    std::sort(begin, end, [](const entry& a, const entry& b) { return a.column < b.column; });
    for (auto e = begin; e != end; ++e)
      if (static_cast<i64>(column.size()) > starts.back() && column.back() == e->column)
        values.back() += e->value;
      else column.push_back(e->column), values.push_back(e->value);
    starts.push_back(static_cast<i64>(column.size()));
  }
  return from_rows<f64>(rows, columns, std::move(starts), std::move(column), values);
}

inline sparse_matrix sparse_matrix::transposed() const {
  std::vector<i64> from;
  sparse_matrix t{places.transposed(&from), {}};
  t.values.reserve(values.size());
  for (i64 k : from) t.values.push_back(values[static_cast<std::size_t>(k)]);
  return t;
}

inline void sparse_matrix::describe(support::fingerprint& f) const {
  f.add(rows()), f.add(columns());
  for (int r = 0; r < rows(); ++r) {
    const std::span<const i32> columns = places.row(r);
    f.add(columns.size()), f.add(columns.data(), columns.size_bytes());
  }
  f.add(values.size()), f.add(values.data(), values.size() * sizeof(f64));
}

inline void sparse_matrix::require_values() const {
  if (static_cast<i64>(values.size()) != places.count())
    support::bad_argument({"solver: a matrix has ", places.count(), " places and ", values.size(),
                           " values; it takes one for each place"});
  for (int r = 0; r < rows(); ++r) {
    const std::span<const f64> v = row_values(r);
    for (std::size_t k = 0; k < v.size(); ++k)
      if (!std::isfinite(v[k]))
        support::bad_argument({"solver: the matrix has the number ", std::to_string(v[k]), " in row ", r,
                               ", column ", places.row(r)[k], "; it takes finite ones"});
  }
}

inline void sparse_matrix::require_system() const {
  if (rows() != columns())
    support::bad_argument({"solver: the matrix is (", rows(), ", ", columns(),
                           "): a system of equations has as many unknowns as equations; for least squares "
                           "multiply both sides with the transposed matrix"});
  if (rows() < 1) support::bad_argument({"solver: the matrix has no rows"});
  require_values();
  for (int r = 0; r < rows(); ++r) {
    const std::span<const f64> v = row_values(r);
    if (std::all_of(v.begin(), v.end(), [](f64 x) { return x == 0; }))
      support::bad_argument({"solver: row ", r, " of the matrix is zero, so the matrix is singular: remove ",
                             "that equation and its unknown"});
  }
}

inline bool sparse_matrix::is_symmetric() const {
  if (rows() != columns()) return false;
  bool is = true;
  places.each([&](int r, int c, i64, i64 k) {
    const i64 across = places.find(c, r);
    const f64 here = values[static_cast<std::size_t>(k)],
              there = across < 0 ? 0 : values[static_cast<std::size_t>(across)];
    is = is && std::abs(here - there) <= 1e-12 * std::max(std::abs(here), std::abs(there));
  });
  return is;
}

inline bool sparse_matrix::takes_constants_to_zero() const {
  const auto vanish = [](const sparse_matrix& a) {
    for (int r = 0; r < a.rows(); ++r) {
      f64 sum = 0, largest = 0;
      for (f64 v : a.row_values(r)) sum += v, largest = std::max(largest, std::abs(v));
      if (std::abs(sum) > 1e-13 * largest * static_cast<f64>(a.row_values(r).size())) return false;
    }
    return true;
  };
  return rows() == columns() && vanish(*this) && vanish(transposed());
}

}  // namespace wsl::solver
