// SPDX-License-Identifier: MIT
// The product C = A B of a sparse matrix A with one or several columns B on a wafer. A lies in blocks on a
// grid of PEs, as compressed rows. A part of B starts in the first row of PEs and is broadcast down the
// columns, where it stays; every PE multiplies its block with it; the parts of a row of C are summed along
// the row of PEs, as in gemv/wafer.hpp. With one column of B the block is walked through by scalar
// instructions, with several an fmac adds a row of B for each nonzero of A. The timed engine counts both. On
// the ranks of `mpi::world()` a product is collective, and all ranks get the same bits; each has its own
// blocks.
//   wafer_sparse_product<{.rows = 64, .columns = 64, .nonzeros = 200}> product(pattern, values, 8, 8, wse2,
//                                                                              timed{});
//   const u64 cycles = product(matrix(y, m, 1), matrix<const f32>(x, n, 1)).cycles;
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "../collective/broadcast.hpp"
#include "../collective/reduce.hpp"
#include "../fabric/host_gather.hpp"
#include "../linalg/matrix.hpp"
#include "../linalg/sparse_pattern.hpp"
#include "../program/counted.hpp"
#include "../support/bad_argument.hpp"
#include "../support/fingerprint.hpp"
#include "pe_a_thread.hpp"

namespace wsl {

/// The block of a PE: (rows, columns) of A with so many nonzeros at most, and the columns of B and C.
struct sparse_shape {
  int rows, columns, nonzeros, vectors = 1;
};

namespace detail {

template <sparse_shape shape>
class wafer_sparse_tile {
  static_assert(
      shape.rows > 0 && shape.columns > 0 && shape.nonzeros > 0 && shape.vectors > 0,
      "wsl: a block of a sparse product has at least one row, one column, one nonzero and one vector");
  static_assert(shape.columns <= 65535 / shape.vectors && shape.nonzeros <= 65535,
                "wsl: the columns of a block of a sparse product times the vectors, and its nonzeros, are "
                "counted with 16 "
                "bits");
  static_assert(shape.vectors == 1 || shape.vectors % 2 == 0,
                "wsl: the rows of B fill words of 8 bytes: take one column of B or an even number");
  static constexpr int words_of_c = shape.rows * shape.vectors, words_of_b = shape.columns * shape.vectors;
  static constexpr broadcast<f32> spread{.first = 0, .among = each_column};
  static constexpr collective::reduce<f32> sum{.first = 1, .among = each_row, .words = words_of_c};

 public:
  static layout plan(const machine& target, int wide, int high) {
    layout l{target, wide, high};
    l.place<wafer_sparse_tile>(all);
    spread.wire(l), sum.wire(l);
    return l;
  }

  /// The host loads nonzeros, row after row, as many as there is room for.
  void add(int row, int column, f32 value) {
    const u16 at = first_[row + 1].value();
    column_[at] = static_cast<u16>(column), value_[at] = value;
    for (int r = row + 1; r <= shape.rows; ++r) first_[r] = static_cast<u16>(at + 1);
  }
  /// This PE's parts of B, (columns, vectors), which the host fills in the first row, and of C.
  f32* b() { return b_; }
  const f32* c() const { return c_; }

  void begin(pe& me) { spreading_.start(me, mem(b_), then<&wafer_sparse_tile::multiply>()); }

 private:
  void multiply(pe& me) {
    if constexpr (shape.vectors > 1) mov(mem(c_), 0);
    counted<u16> k = u16{0};
    for (counted<u16> i = u16{0}; i < u16{shape.rows}; ++i) {
      const counted<u16> end = first_[i.value() + 1];
      if constexpr (shape.vectors == 1) {
        counted<f32> total = 0.f;
        for (; k < end; ++k) {
          const counted<u16> j = column_[k.value()];
          const counted<f32> value = value_[k.value()], x = b_[j.value()];
          load(2);
          total += value * x;
        }
        c_[i.value()] = total.value();
        load(1);
      } else {
        const memory<f32> to = row_at(c_, i.value() * shape.vectors);
        for (; k < end; ++k) {
          const counted<u16> j = column_[k.value()], at = j * u16{shape.vectors};
          load(1);
          fmac(to, to, row_at(b_, at.value()), value_[k.value()]);
        }
      }
    }
    summing_.start(me, mem(c_), then_nothing);
  }
  /// Numbers that are read from plain arrays, or written.
  static void load(int n) {
    for (; n > 0; --n) execute(instruction::simple);
  }
  template <std::size_t n>
  static memory<f32> row_at(f32 (&of)[n], int first) {
    return mem(std::span(of + first, std::size_t{shape.vectors}));
  }

  // A row of C and one of B are read in the same cycle if they are 4 bytes apart, modulo 8.
  alignas(8) f32 c_[std::size_t{words_of_c}]{};
  f32 apart_ = 0;
  f32 b_[std::size_t{words_of_b + words_of_c % 2}]{};
  f32 value_[std::size_t{shape.nonzeros}]{};
  counted<u16> column_[std::size_t{shape.nonzeros}], first_[std::size_t{shape.rows + 1}];
  endpoint<spread> spreading_;
  endpoint<sum> summing_;

 public:
  using tasks = task_list<launch<&wafer_sparse_tile::begin>, local<&wafer_sparse_tile::multiply>,
                          use<&wafer_sparse_tile::spreading_>, use<&wafer_sparse_tile::summing_>>;
};

}  // namespace detail

/// wide x high PEs with the blocks of a sparse matrix A, for many products.
template <sparse_shape shape>
class wafer_sparse_product {
  using tile = detail::wafer_sparse_tile<shape>;

 public:
  /// The bytes of a PE's SRAM that the program takes.
  static constexpr int bytes = program_v<tile>.bytes;

  /// A has `values` at the places of `a`, in their order; both are copied. Throws std::invalid_argument if
  /// the blocks do not hold it, and fault if the machine is too small for the grid or its PEs for the blocks,
  /// or if another process has another matrix.
  template <class Engine = threaded>
  wafer_sparse_product(const sparse_pattern& a, std::span<const f32> values, int wide, int high,
                       const machine& target = wse2, const Engine& engine = {})
      : rows_(a.rows()),
        columns_(a.columns()),
        high_(high),
        fabric_(tile::plan(target, checked(a, values, wide, high, engine), high), engine) {
    a.each([&](int r, int c, i64, i64 k) {
      const coord pe{c / shape.columns, r / shape.rows};
      if (fabric_.here(pe))
        at(pe).add(r % shape.rows, c % shape.columns, values[static_cast<std::size_t>(k)]);
    });
  }

  /// C is (m, vectors) and B (n, vectors), with any strides. An element differs from the exact one by at most
  /// n * 2^-24 * |A| |B|. Throws std::invalid_argument if the shapes do not fit.
  outcome operator()(const matrix<f32>& c, const matrix<const f32>& b) {
    if (c.rows() != rows_ || b.rows() != columns_ || c.columns() != shape.vectors ||
        b.columns() != shape.vectors)
      support::bad_argument({"C = A B of C ", c.shape(), ", A (", rows_, ", ", columns_, ") and B ",
                             b.shape(), ", with ", shape.vectors,
                             " columns of C and B: the shapes do not fit"});
    for (int k = 0; k < columns_; ++k)
      for (int v = 0; v < shape.vectors; ++v)
        if (const coord pe{k / shape.columns, 0}; fabric_.here(pe))
          at(pe).b()[k % shape.columns * shape.vectors + v] = b(k, v);
    const outcome done = fabric_.template launch<&tile::begin>(all);
    constexpr std::size_t words = std::size_t{shape.rows} * std::size_t{shape.vectors};
    std::vector<f32> sums(static_cast<std::size_t>(high_) * words);
    host_gather parts(fabric_);
    for (int j = 0; j < high_; ++j)
      parts.add({0, j}, fabric_.here({0, j}) ? at({0, j}).c() : nullptr,
                &sums[static_cast<std::size_t>(j) * words], words);
    parts.run();
    for (int k = 0; k < rows_; ++k)
      for (int v = 0; v < shape.vectors; ++v)
        c(k, v) =
            sums[static_cast<std::size_t>(k) * std::size_t{shape.vectors} + static_cast<std::size_t>(v)];
    return done;
  }

 private:
  /// All processes check all blocks, so that all of them refuse what is wrong.
  template <class Engine>
  static int checked(const sparse_pattern& a, std::span<const f32> values, int wide, int high,
                     const Engine& engine) {
    kernel::require_same(engine, "sparse matrix or grid of PEs",
                         [&] { return fingerprint_of(a, values, wide, high); });
    if (wide < 1 || high < 1)
      support::bad_argument({"a product runs on at least 1 x 1 PEs, not on ", wide, " x ", high});
    if (static_cast<i64>(values.size()) != a.count())
      support::bad_argument({"A has ", a.count(), " places and ", values.size(), " values"});
    if (a.rows() > i64{high} * shape.rows || a.columns() > i64{wide} * shape.columns)
      support::bad_argument({"A is (", a.rows(), ", ", a.columns(), "), and the blocks of ", wide, " x ",
                             high, " PEs hold (", i64{high} * shape.rows, ", ", i64{wide} * shape.columns,
                             "); take more PEs or larger blocks"});
    // of the blocks of a row of PEs; the places come row after row
    std::vector<int> nonzeros(static_cast<std::size_t>(a.columns() / shape.columns) + 1);
    int row_of_blocks = 0;
    a.each([&](int r, int c, i64, i64) {
      const int i = c / shape.columns, j = r / shape.rows;
      if (j != std::exchange(row_of_blocks, j)) std::fill(nonzeros.begin(), nonzeros.end(), 0);
      if (++nonzeros[static_cast<std::size_t>(i)] > shape.nonzeros)
        support::bad_argument({"the block of PE (", i, ", ", j, ") has more than the ", shape.nonzeros,
                               " nonzeros for which it has room: take more PEs, give each more room, or "
                               "number the rows and columns anew"});
    });
    return wide;
  }
  static u64 fingerprint_of(const sparse_pattern& a, std::span<const f32> values, int wide, int high) {
    support::fingerprint f;
    f.add(wide), f.add(high), f.add(a.rows()), f.add(a.columns());
    for (int r = 0; r < a.rows(); ++r) f.add(a.row(r).size()), f.add(a.row(r).data(), a.row(r).size_bytes());
    f.add(values.data(), values.size_bytes());
    return f.value();
  }
  tile& at(coord pe) { return fabric_.template program_at<tile>(pe); }

  int rows_, columns_, high_;
  fabric fabric_;
};

}  // namespace wsl
