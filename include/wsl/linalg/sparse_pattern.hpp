// SPDX-License-Identifier: MIT
// The pattern of a sparse matrix: the places that may hold a number other than zero, in compressed rows
// (CSR), without the numbers. The nonzeros of a matrix with a pattern are an array of `count()` numbers, row
// by row and in ascending order of their columns:
//   const sparse_pattern p = sparse_pattern::of_mask(2, 3, {1, 0, 1,   0, 1, 0});
//   p.count()   // 3
//   p.row(0)    // columns 0 and 2
//   p.first(1)  // 2: the nonzeros of row 1 begin at number 2
// sparse_products.hpp multiplies with them.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "matrix.hpp"

namespace wsl {

class sparse_pattern {
 public:
  /// A matrix of no rows and no columns.
  sparse_pattern() : sparse_pattern(0, 0) {}
  /// No places of a matrix (rows, columns).
  sparse_pattern(int rows, int columns) : rows_(rows), columns_(columns) {
    if (rows < 0 || columns < 0)
      support::bad_argument({"a pattern has no shape (", rows, ", ", columns, ")"});
    first_.assign(static_cast<std::size_t>(rows) + 1, 0);
  }
  /// The places of compressed rows: `first` has the number of the first place of each row, and the number of
  /// all, and `column` the columns of the places, in ascending order within each row. Throws
  /// std::invalid_argument if they are not that.
  sparse_pattern(int rows, int columns, std::vector<i64> first, std::vector<i32> column)
      : sparse_pattern(rows, columns) {
    if (first.size() != first_.size() || first.front() != 0 ||
        first.back() != static_cast<i64>(column.size()) || !std::is_sorted(first.begin(), first.end()))
      support::bad_argument({"the offsets of a pattern of ", rows, " rows are ", rows + 1,
                             " ascending numbers, from 0 to the number of its places"});
    first_ = std::move(first), column_ = std::move(column);
    for (int r = 0; r < rows; ++r) require_ascending(r);
  }

  /// All places.
  static sparse_pattern all(int rows, int columns) {
    return where(rows, columns, [](int, int) { return true; });
  }
  /// The places (r, c) for which has(r, c) is true.
  template <class F>
  static sparse_pattern where(int rows, int columns, F has) {
    sparse_pattern p(rows, columns);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c)
        if (has(r, c)) p.column_.push_back(c);
      p.first_[static_cast<std::size_t>(r) + 1] = static_cast<i64>(p.column_.size());
    }
    return p;
  }
  /// The places at which a row-major mask is not zero. Throws std::invalid_argument for a mask of another
  /// size.
  static sparse_pattern of_mask(int rows, int columns, std::span<const u8> mask) {
    return of_numbers(rows, columns, mask);
  }
  static sparse_pattern of_mask(int rows, int columns, std::initializer_list<u8> mask) {
    return of_mask(rows, columns, std::span<const u8>(mask.begin(), mask.size()));
  }
  /// The places at which a row-major array of numbers is not zero.
  static sparse_pattern of_nonzeros(int rows, int columns, std::span<const f32> numbers) {
    return of_numbers(rows, columns, numbers);
  }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  /// The number of elements of the matrix.
  i64 size() const { return i64{rows_} * columns_; }
  /// The number of places in the pattern.
  i64 count() const { return first_.back(); }
  /// Their share of all elements; 1 for a matrix that has none.
  f64 density() const { return size() ? static_cast<f64>(count()) / static_cast<f64>(size()) : 1; }
  bool has_all() const { return count() == size(); }

  /// The columns of row r, ascending.
  std::span<const i32> row(int r) const {
    return std::span(column_).subspan(static_cast<std::size_t>(first(r)),
                                      static_cast<std::size_t>(first(r + 1) - first(r)));
  }
  /// The number of the first place of row r; that of row `rows()` is the number of all.
  i64 first(int r) const { return first_[static_cast<std::size_t>(r)]; }
  /// The same of all rows, (rows + 1), and the columns of all places, (count).
  std::span<const i64> first() const { return first_; }
  std::span<const i32> column() const { return column_; }

  /// The number of a place, or -1 if the pattern does not have it.
  i64 find(int r, int c) const {
    const std::span<const i32> all = row(r);
    const auto at = std::lower_bound(all.begin(), all.end(), c);
    return at != all.end() && *at == c ? first(r) + (at - all.begin()) : -1;
  }
  bool has(int r, int c) const { return find(r, c) >= 0; }

  /// Calls f(row, column, index in a row-major array, number of the place) for each place in order.
  template <class F>
  void each(F f) const {
    for (int r = 0; r < rows_; ++r)
      for (i64 k = first(r); k < first(r + 1); ++k) {
        const i32 c = column_[static_cast<std::size_t>(k)];
        f(r, c, i64{r} * columns_ + c, k);
      }
  }

  /// Consecutive rows.
  sparse_pattern part(int row, int rows) const {
    if (row < 0 || rows < 0 || row > rows_ - rows)
      support::bad_argument({"rows ", row, " to ", row + rows, " leave a pattern of ", rows_, " rows"});
    sparse_pattern p(rows, columns_);
    for (int r = 0; r <= rows; ++r) p.first_[static_cast<std::size_t>(r)] = first(row + r) - first(row);
    p.column_.assign(column_.begin() + first(row), column_.begin() + first(row + rows));
    return p;
  }
  /// The pattern of the transposed matrix. If `from` is given, it becomes the number here of each place
  /// there: nonzero k of the transposed matrix is nonzero from[k] of this one.
  sparse_pattern transposed(std::vector<i64>* from = nullptr) const {
    sparse_pattern p(columns_, rows_);
    for (i32 c : column_) ++p.first_[static_cast<std::size_t>(c) + 1];
    std::partial_sum(p.first_.begin(), p.first_.end(), p.first_.begin());
    p.column_.resize(column_.size());
    if (from) from->resize(column_.size());
    std::vector<i64> next(p.first_.begin(), p.first_.end() - 1);
    each([&](int r, int c, i64, i64 k) {
      const std::size_t to = static_cast<std::size_t>(next[static_cast<std::size_t>(c)]++);
      p.column_[to] = r;
      if (from) (*from)[to] = k;
    });
    return p;
  }
  /// 1 at the places of the pattern and 0 elsewhere, row-major.
  std::vector<u8> mask() const {
    std::vector<u8> m(static_cast<std::size_t>(size()));
    each([&](int, int, i64 at, i64) { m[static_cast<std::size_t>(at)] = 1; });
    return m;
  }

  friend bool operator==(const sparse_pattern&, const sparse_pattern&) = default;

 private:
  template <class T>
  static sparse_pattern of_numbers(int rows, int columns, std::span<const T> x) {
    if (static_cast<i64>(x.size()) != i64{rows} * columns)
      support::bad_argument({"a pattern of (", rows, ", ", columns, ") is made of as many numbers, not of ",
                             static_cast<i64>(x.size())});
    return where(rows, columns,
                 [&](int r, int c) { return x[static_cast<std::size_t>(i64{r} * columns + c)] != 0; });
  }
  void require_ascending(int r) const {
    i32 before = -1;
    for (i32 c : row(r)) {
      if (c <= before || c >= columns_)
        support::bad_argument({"row ", r, " of a pattern has column ", c, " after ", before, " of ", columns_,
                               ": its columns ascend"});
      before = c;
    }
  }

  int rows_, columns_;
  std::vector<i64> first_;   // rows + 1
  std::vector<i32> column_;  // of each place
};

/// The numbers of a row-major matrix at the places of a pattern, in its order.
inline std::vector<f32> nonzeros_of(const sparse_pattern& p, std::span<const f32> dense) {
  std::vector<f32> values(static_cast<std::size_t>(p.count()));
  p.each([&](int, int, i64 at, i64 k) {
    values[static_cast<std::size_t>(k)] = dense[static_cast<std::size_t>(at)];
  });
  return values;
}
/// Sets a row-major matrix to the nonzeros at the places of a pattern, and to zero elsewhere.
inline void set_dense(std::span<f32> dense, const sparse_pattern& p, std::span<const f32> values) {
  std::fill(dense.begin(), dense.end(), 0.f);
  p.each([&](int, int, i64 at, i64 k) {
    dense[static_cast<std::size_t>(at)] = values[static_cast<std::size_t>(k)];
  });
}
/// Sets the numbers of a row-major matrix that a pattern does not have to zero.
inline void clear_elsewhere(std::span<f32> dense, const sparse_pattern& p) {
  for (int r = 0; r < p.rows(); ++r) {
    int c = 0;
    const auto clear_to = [&](int end) {
      for (; c < end; ++c) dense[static_cast<std::size_t>(i64{r} * p.columns() + c)] = 0;
    };
    for (i32 there : p.row(r)) clear_to(there), ++c;
    clear_to(p.columns());
  }
}

}  // namespace wsl
