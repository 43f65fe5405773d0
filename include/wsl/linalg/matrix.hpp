// SPDX-License-Identifier: MIT
// A view of a matrix that the host or a PE owns: its first element, and the distances between rows and
// between columns. Parts and the transposed matrix are views of the same elements, so C += A^T B needs no
// function of its own:
//   multiply_add(c, a.transposed(), b)
// See examples/30_gemm.cpp.
#pragma once
#include <algorithm>
#include <string>
#include <type_traits>

#include "../core/scalar.hpp"
#include "../support/bad_argument.hpp"

namespace wsl {

template <class T>
class matrix {
 public:
  using element = T;

  /// Row-major, without gaps: element (i, j) at first[i * columns + j].
  constexpr matrix(T* first, int rows, int columns) : matrix(first, rows, columns, columns, 1) {}
  /// Element (i, j) at first[i * row_stride + j * column_stride].
  constexpr matrix(T* first, int rows, int columns, i64 row_stride, i64 column_stride)
      : first_(first),
        rows_(rows),
        columns_(columns),
        row_stride_(row_stride),
        column_stride_(column_stride) {
    if (rows < 0 || columns < 0) support::bad_argument({"a matrix has no shape ", shape(rows, columns)});
  }
  /// A view to write through is a view to read through.
  constexpr operator matrix<const T>() const {
    return {first_, rows_, columns_, row_stride_, column_stride_};
  }

  constexpr T* first() const { return first_; }
  constexpr int rows() const { return rows_; }
  constexpr int columns() const { return columns_; }
  constexpr i64 row_stride() const { return row_stride_; }
  constexpr i64 column_stride() const { return column_stride_; }
  constexpr bool empty() const { return rows_ == 0 || columns_ == 0; }
  constexpr T& operator()(i64 i, i64 j) const { return first_[i * row_stride_ + j * column_stride_]; }
  constexpr T* row(i64 i) const { return first_ + i * row_stride_; }

  constexpr matrix transposed() const { return {first_, columns_, rows_, column_stride_, row_stride_}; }
  /// `rows` x `columns` elements from (i, j) on.
  constexpr matrix part(int i, int j, int rows, int columns) const {
    if (i < 0 || j < 0 || rows < 0 || columns < 0 || i > rows_ - rows || j > columns_ - columns)
      support::bad_argument(
          {"a part of ", shape(rows, columns), " from ", shape(i, j), " on leaves its matrix of ", shape()});
    return {rows && columns ? first_ + i * row_stride_ + j * column_stride_ : first_, rows, columns,
            row_stride_, column_stride_};
  }

  /// "(3, 4)", as messages name it.
  std::string shape() const { return shape(rows_, columns_); }

 private:
  static std::string shape(int rows, int columns) {
    std::string text = "(";
    text += std::to_string(rows);
    text += ", ";
    text += std::to_string(columns);
    return text += ')';
  }

  T* first_;
  int rows_, columns_;
  i64 row_stride_, column_stride_;
};

/// to = from, element by element. The shapes must be equal, which is not checked.
template <class T, class U>
void copy(const matrix<T>& to, const matrix<U>& from) {
  const bool whole_rows = to.column_stride() == 1 && from.column_stride() == 1;
  for (int i = 0; i < to.rows(); ++i)
    if (whole_rows) std::copy_n(from.row(i), to.columns(), to.row(i));
    else
      for (int j = 0; j < to.columns(); ++j) to(i, j) = from(i, j);
}

}  // namespace wsl
