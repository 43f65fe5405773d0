// SPDX-License-Identifier: MIT
// The matrix-vector product y = A x on a grid of PEs of a wafer, within the limits of a machine. Every PE
// keeps a tile of A in its SRAM, by columns. x starts in the first row of PEs, a part in each, and is
// broadcast down the columns; every PE adds up the columns of its tile times the numbers of x (CSL's example
// single-tile-matvec); the rows reduce to their first PE, which has a part of y. The timed engine counts the
// cycles of the words and of the arithmetic.
//   wafer_gemv<f32, {32, 32}> product(matrix<const f32>(a, m, n), 8, 8, wse2, timed{});
//   const u64 cycles = product(y, x).cycles;
#pragma once
#include "../../program/counted.hpp"
#include "../gemv.hpp"
#include "../vector_products.hpp"

namespace wsl {

/// The tile of a PE: (rows, columns) of A.
struct gemv_shape {
  int rows, columns;
};

namespace detail {

template <class T, gemv_shape shape>
class wafer_gemv_tile {
  static_assert(shape.rows > 0 && shape.columns > 0,
                "wsl: a tile of a product has at least one row and one column");
  static_assert(
      shape.rows % (8 / int{sizeof(T)}) == 0,
      "wsl: the columns of a tile on a wafer fill words of 8 bytes: take an even number of rows, and "
      "for 16-bit numbers a multiple of 4");
  static constexpr broadcast<f32> spread{.first = 0, .among = each_column};
  static constexpr collective::reduce<f32> sum{.first = 1, .among = each_row, .words = shape.rows};

 public:
  static layout plan(const machine& target, int wide, int high) {
    layout l{target, wide, high};
    l.place<wafer_gemv_tile>(all);
    spread.wire(l), sum.wire(l);
    return l;
  }

  /// The host loads a tile, with zeros beyond its end.
  void load(const matrix<const T>& mine) {
    copy(matrix<T>(a_, shape.columns, shape.rows).transposed().part(0, 0, mine.rows(), mine.columns()), mine);
  }
  /// This PE's parts of x, which the host fills in the first row, and of y.
  f32* x() { return x_; }
  const f32* y() const { return y_; }

  void begin(pe& me) { spreading_.start(me, mem(x_), then<&wafer_gemv_tile::multiply>()); }

 private:
  void multiply(pe& me) {
    mov(mem(y_), 0);
    kernel::add_columns(mem(y_), a_, shape.rows, mem(x_));
    summing_.start(me, mem(y_), then_nothing);
  }

  // y and a column of A are read in the same cycle if they are 4 bytes apart, modulo 8.
  alignas(8) f32 y_[std::size_t{shape.rows}]{};
  f32 apart_ = 0;
  alignas(4) T a_[std::size_t{shape.rows * shape.columns}]{};
  f32 x_[std::size_t{shape.columns}]{};
  endpoint<spread> spreading_;
  endpoint<sum> summing_;

 public:
  using tasks = task_list<launch<&wafer_gemv_tile::begin>, local<&wafer_gemv_tile::multiply>,
                          use<&wafer_gemv_tile::spreading_>, use<&wafer_gemv_tile::summing_>>;
};

}  // namespace detail

/// wide x high PEs with the tiles of a matrix A, for many products. A has elements f32, f16, bf16 or cb16; x,
/// y and the sums are f32.
template <class T, gemv_shape shape>
class wafer_gemv {
  using tile = detail::wafer_gemv_tile<T, shape>;

 public:
  /// The bytes of a PE's SRAM that the program takes.
  static constexpr int bytes = program_v<tile>.bytes;

  /// A is (m, n), with any strides; it is copied. Throws std::invalid_argument if the tiles do not hold it,
  /// and fault if the machine is too small for the grid or its PEs for the tiles.
  template <class Engine = threaded>
  wafer_gemv(const matrix<const T>& a, int wide, int high, const machine& target = wse2,
             const Engine& engine = {})
      : rows_(a.rows()),
        columns_(a.columns()),
        wide_(wide),
        high_(high),
        fabric_(tile::plan(target, checked(a, wide, high), high), engine) {
    for (int j = 0; j < high_; ++j)
      for (int i = 0; i < wide_; ++i)
        at(i, j).load(a.part(begin(j, shape.rows, rows_), begin(i, shape.columns, columns_),
                             share(j, shape.rows, rows_), share(i, shape.columns, columns_)));
  }

  /// y of m numbers, x of n. An element of y differs from the exact one by at most n * 2^-24 * |A| |x|.
  /// Throws std::invalid_argument if the lengths do not fit.
  outcome operator()(std::span<f32> y, std::span<const f32> x) {
    if (y.size() != static_cast<std::size_t>(rows_) || x.size() != static_cast<std::size_t>(columns_))
      support::bad_argument({"y = A x of y (", y.size(), "), A (", rows_, ", ", columns_, ") and x (",
                             x.size(), "): the shapes do not fit"});
    for (int i = 0; i < wide_; ++i)
      std::copy_n(x.data() + begin(i, shape.columns, columns_), share(i, shape.columns, columns_),
                  at(i, 0).x());
    const outcome done = fabric_.template launch<&tile::begin>(all);
    for (int j = 0; j < high_; ++j)
      std::copy_n(at(0, j).y(), share(j, shape.rows, rows_), y.data() + begin(j, shape.rows, rows_));
    return done;
  }

 private:
  static int checked(const matrix<const T>& a, int wide, int high) {
    if (wide < 1 || high < 1)
      support::bad_argument({"a product runs on at least 1 x 1 PEs, not on ", wide, " x ", high});
    if (a.rows() > i64{high} * shape.rows || a.columns() > i64{wide} * shape.columns)
      support::bad_argument({"A is ", a.shape(), ", and the tiles of ", wide, " x ", high, " PEs hold (",
                             i64{high} * shape.rows, ", ", i64{wide} * shape.columns,
                             "); take more PEs or larger tiles"});
    return wide;
  }
  static int begin(int place, int length, int whole) { return std::min(place * length, whole); }
  static int share(int place, int length, int whole) {
    return std::min(length, whole - begin(place, length, whole));
  }
  tile& at(int i, int j) { return fabric_.template program_at<tile>({i, j}); }

  int rows_, columns_, wide_, high_;
  fabric fabric_;
};

}  // namespace wsl
