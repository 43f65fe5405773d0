// SPDX-License-Identifier: MIT
// The tiles of a PE of C = A B on a wafer: arrays whose sizes are known at compile time, so that the checker
// counts their bytes, and the product by descriptor operations, whose cycles the timed engine counts: for
// each k and j, column j of C += column k of A * B(k, j). C and A lie by columns, B by rows. The factors come
// by map_each, as in MeshGEMM (CSL's @map).
#pragma once
#include "../../program/counted.hpp"
#include "../vector_products.hpp"
#include "tile.hpp"

namespace wsl {

/// The tiles of a PE: C is (rows, columns), A is (rows, depth), B is (depth, columns).
struct gemm_shape {
  int rows, depth, columns;
};

namespace detail {

template <class T, gemm_shape shape>
class wafer_tiles {
 public:
  using word = gemm_word<T>;
  static_assert(sizeof(T) <= 4,
                "wsl: a PE of a wafer multiplies f32, f16, bf16 or cb16: it has no f64, which gemm has on "
                "this computer");
  static_assert(shape.rows > 0 && shape.depth > 0 && shape.columns > 0,
                "wsl: a tile of a product has at least one row and one column");
  static_assert(
      shape.rows % (8 / int{sizeof(T)}) == 0,
      "wsl: the columns of a tile on a wafer fill words of 8 bytes: take an even number of rows, and "
      "for 16-bit numbers a multiple of 4");
  static_assert(shape.depth * shape.columns * int{sizeof(T)} % 4 == 0,
                "wsl: a tile of B travels in wavelets of two 16-bit numbers: take an even number of columns");

  /// Loads the tiles of a square of n x n PEs whose columns and rows these are, with zeros beyond the ends of
  /// the matrices.
  void load(const gemm_problem<T>& p, int, coord, coord of_a, coord of_b) {
    now_ = 0;
    load(matrix<T>(a_[0], shape.depth, shape.rows).transposed(), p.a, of_a);
    load(matrix<T>(b_[0], shape.depth, shape.columns), p.b, of_b);
    mov(mem(c_), 0);
  }
  auto a() { return words(a_[now_]); }
  auto b() { return words(b_[now_]); }
  auto next_a() { return words(a_[1 - now_]); }
  auto next_b() { return words(b_[1 - now_]); }
  void advance() { now_ = 1 - now_; }
  void add_product(bool own_a = true, bool own_b = true) {
    const T *column = a_[own_a ? now_ : 1 - now_], *row = b_[own_b ? now_ : 1 - now_];
    for (counted<i16> k = i16{0}; k < i16{shape.depth}; ++k, column += shape.rows, row += shape.columns)
      kernel::add_outer_product(c_, kernel::numbers(column, shape.rows), kernel::numbers(row, shape.columns));
  }
  void finish() {}  // a wafer's product has no factors
  /// The tile of C.
  matrix<const f32> c() const { return matrix<const f32>(c_, shape.columns, shape.rows).transposed(); }

 private:
  static void load(const matrix<T>& tile, const matrix<const T>& whole, coord at) {
    const int top = at.y * tile.rows(), left = at.x * tile.columns();
    for (int i = 0; i < tile.rows(); ++i)
      for (int j = 0; j < tile.columns(); ++j)
        tile(i, j) = top + i < whole.rows() && left + j < whole.columns() ? whole(top + i, left + j) : T{};
  }
  template <std::size_t n>
  static memory<word> words(T (&tile)[n]) {
    return mem(std::span(reinterpret_cast<word*>(tile), n * sizeof(T) / sizeof(word)));
  }

  // A column of C and one of A are read in the same cycle if they are 4 bytes apart, modulo 8.
  alignas(8) f32 c_[std::size_t{shape.rows * shape.columns}]{};
  f32 apart_ = 0;
  alignas(4) T a_[2][std::size_t{shape.rows * shape.depth}]{},
      b_[2][std::size_t{shape.depth * shape.columns}]{};
  int now_ = 0;
};

}  // namespace detail
}  // namespace wsl
