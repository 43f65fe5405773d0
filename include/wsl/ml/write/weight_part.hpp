// SPDX-License-Identifier: MIT
// The part of a weight matrix that a column of a writer keeps: some rows, and of these some columns, as f32
// or bf16. Rows are copied side by side into memory of the column with large pages, through which a product
// streams at the memory's bandwidth; or, if they lie in the right format and order already, they are read in
// place.
#pragma once
#include <optional>

#include "../../linalg/dense.hpp"
#include "../../linalg/row_products.hpp"
#include "../../support/huge_array.hpp"
#include "../model/column_cut.hpp"
#include "../model/stored_weights.hpp"

namespace wsl::ml {

class weight_part {
 public:
  weight_part() = default;
  /// The rows of some runs, one run after the other.
  weight_part(const stored_weights::array& from, std::span<const feature_run> rows, feature_run columns,
              precision as, bool in_place)
      : columns_(columns.count), format_(as) {
    for (const feature_run& r : rows) rows_ += r.count;
    if (in_place && each_run(from, rows, [&](const stored_rows& x, int first, int count, int to) {
          return view(x, first, count, columns.first, to);
        }))
      return;
    strips_.clear();
    const std::size_t numbers = static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_);
    own_ = support::huge_array((numbers * bytes_of(as) + 3) / 4);
    each_run(from, rows, [&](const stored_rows& x, int first, int count, int to) {
      return copy_rows(x, first, count, columns.first, to), true;
    });
    strips_.push_back({.rows = rows_, .first = own_.data(), .row_stride = columns_});
  }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  /// Its weights in memory.
  i64 bytes() const { return i64{rows_} * columns_ * static_cast<i64>(bytes_of(format_)); }

  /// y = x W^T with x (n, columns) and y (n, rows). `as_block`: by the microkernels for many rows of x,
  /// which sum in another order.
  void multiply(const matrix<f32>& y, const matrix<const f32>& x, bool as_block) const {
    with_format([&]<class T>(std::type_identity<T>) {
      for (const stored_rows& s : strips_) {
        const matrix<f32> of_y = y.part(0, s.row, y.rows(), s.rows);
        if (as_block) wsl::multiply(of_y, x, s.as<T>(columns_).transposed());
        else multiply_rows(of_y, x, s.as<T>(columns_));
      }
    });
  }
  /// to += row i
  void add_row(f32* to, int i) const {
    with_format([&]<class T>(std::type_identity<T>) {
      for (const stored_rows& s : strips_)
        if (i >= s.row && i < s.row + s.rows) {
          const T* row = s.as<T>(columns_).row(i - s.row);
          for (int c = 0; c < columns_; ++c) to[c] += static_cast<f32>(row[c]);
        }
    });
  }

 private:
  template <class F>
  void with_format(F f) const {
    if (format_ == precision::bfloat16) f(std::type_identity<bf16>{});
    else f(std::type_identity<f32>{});
  }
  /// Calls f(stored rows, the first of them, how many, their place in the part) until it returns false.
  template <class F>
  static bool each_run(const stored_weights::array& from, std::span<const feature_run> rows, F f) {
    int to = 0;
    for (const feature_run& r : rows) {
      for (const stored_rows& x : from.runs) {
        const int first = std::max(r.first, x.row), end = std::min(r.first + r.count, x.row + x.rows);
        if (first < end && !f(x, first - x.row, end - first, to + first - r.first)) return false;
      }
      to += r.count;
    }
    return true;
  }
  static const std::byte* place(const stored_rows& x, i64 row, i64 column) {
    return static_cast<const std::byte*>(x.first) +
           (row * x.row_stride + column * x.column_stride) * static_cast<i64>(bytes_of(x.format));
  }
  bool view(const stored_rows& x, int first, int count, int column, int to) {
    if (x.format != format_ || x.column_stride != 1) return false;
    strips_.push_back({to, count, place(x, first, column), x.format, x.row_stride});
    return true;
  }
  void copy_rows(const stored_rows& x, int first, int count, int column, int to) {
    constexpr int some = 16;  // rows of a transposed matrix share cache lines
    std::vector<f32> wide(std::size_t{some} * static_cast<std::size_t>(columns_));
    with_number(x.format, [&]<class From>(std::type_identity<From>) {
      for (int i = 0; i < count; i += some) {
        const int n = std::min(some, count - i);
        const matrix<const From> rows(reinterpret_cast<const From*>(place(x, first + i, column)), n, columns_,
                                      x.row_stride, x.column_stride);
        const matrix<f32> as_f32(wide.data(), n, columns_);
        widen(as_f32, rows);
        store(as_f32, to + i);
      }
    });
  }
  template <class From>
  static void widen(const matrix<f32>& to, const matrix<const From>& from) {
    if (from.column_stride() != 1) {
      for (int j = 0; j < to.columns(); ++j)
        for (int i = 0; i < to.rows(); ++i) to(i, j) = static_cast<f32>(from(i, j));
    } else if constexpr (std::is_same_v<From, f32>) wsl::copy(to, from);
    else
      for (int i = 0; i < to.rows(); ++i) convert(to.row(i), from.row(i), to.columns());
  }
  void store(const matrix<f32>& from, int row) {
    const i64 first = i64{row} * columns_, n = i64{from.rows()} * columns_;
    if (format_ == precision::f32) std::copy_n(from.first(), n, own_.data() + first);
    else convert(reinterpret_cast<bf16*>(own_.data()) + first, static_cast<const f32*>(from.first()), n);
  }

  int rows_ = 0, columns_ = 0;
  precision format_ = precision::f32;
  std::vector<stored_rows> strips_;
  support::huge_array own_;
};

}  // namespace wsl::ml
