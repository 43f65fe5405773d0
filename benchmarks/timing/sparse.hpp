// SPDX-License-Identifier: MIT
// Programs of one PE that the vendor's simulator of a WSE-2 has measured (github pr0f3ss/SpMM_Cerebras,
// 2023): an element-wise product, with operands in banks that do not collide and in banks that do
// (src/fmacs_test), and the products of a sparse matrix, here a full one of 8 x 8, with M columns, by
// coordinates and by columns (benchmarks/memory_access_latency). The kernels walk over the matrix in scalar
// code, whose indices have 32 bits, set the addresses of two descriptors, and run an fmac.
#pragma once
#include "vendor.hpp"

namespace timing_table {

template <int n, bool banks_collide>
struct product {
  static constexpr std::size_t size = n;
  f32 b[size]{}, gap[banks_collide ? 2 : 1]{}, c[size]{};
  u64 begin = 0, end = 0;
  void start(pe& me) {
    for (int i = 0; i < n; ++i) b[i] = 2, c[i] = static_cast<f32>(i);
    begin = read_clock(me);
    mul(mem(c), mem(c), mem(b));
    end = read_clock(me);
  }
  bool right() const { return c[n - 1] == 2 * (n - 1); }
  using tasks = task_list<launch<&product::start>>;
};

inline constexpr int matrix_size = 8;

/// The common part of both kernels: C = A B, where C and B have M columns and their rows lie alike in the
/// banks.
template <int M>
struct sparse_product {
  static constexpr std::size_t cells = matrix_size * M;
  f32 b[cells]{}, c[cells]{}, values[matrix_size * matrix_size]{};
  u64 begin = 0, end = 0;

  void fill() {
    for (f32& x : b) x = 1;
    for (f32& x : values) x = 0.5f;
  }
  // The address of a row: a product, a shift and a sum of 32 bits, and a move into the descriptor's register.
  static int offset_of(pe& me, const counted<i32>& row) {
    const counted<i32> at = ((row * M) << 2) + 0;
    me.spend(1);
    return at.value() / 4;
  }
  void add_row(pe& me, const counted<i32>& row, const counted<i32>& column, const f32& value) {
    const counted<f32> element = value, a = element;  // which is read from memory
    const memory<f32> from = mem(b).part(offset_of(me, column), M), to = mem(c).part(offset_of(me, row), M);
    fmac(to, to, from, a.value());
  }
  void load_descriptors(pe& me) { me.spend(2 * static_cast<u64>(me.machine().descriptor_load)); }
  bool right() const { return c[matrix_size * M - 1] == 0.5f * matrix_size; }
};

template <int M>
struct by_coordinates : sparse_product<M> {
  counted<i32> rows[matrix_size * matrix_size], columns[matrix_size * matrix_size];
  void start(pe& me) {
    this->fill();
    for (int k = 0; k < matrix_size * matrix_size; ++k)
      rows[k] = counted<i32>(k / matrix_size), columns[k] = counted<i32>(k % matrix_size);
    this->begin = read_clock(me);
    this->load_descriptors(me);
    for (counted<i16> k = i16{0}; k < i16{matrix_size * matrix_size}; ++k) {
      const counted<i32> column = columns[k.value()], row = rows[k.value()];
      this->add_row(me, row, column, this->values[k.value()]);
    }
    this->end = read_clock(me);
  }
  using tasks = task_list<launch<&by_coordinates::start>>;
};

template <int M>
struct by_columns : sparse_product<M> {
  counted<i32> rows[matrix_size * matrix_size], firsts[matrix_size + 1];
  void start(pe& me) {
    this->fill();
    for (int k = 0; k < matrix_size * matrix_size; ++k) rows[k] = counted<i32>(k % matrix_size);
    for (int k = 0; k <= matrix_size; ++k) firsts[k] = counted<i32>(k * matrix_size);
    this->begin = read_clock(me);
    this->load_descriptors(me);
    for (counted<i32> j = 0; j < matrix_size; ++j) {
      const counted<i32> elements = firsts[(j + 1).value()] - firsts[j.value()], first = firsts[j.value()];
      for (counted<i32> i = 0; i < elements; ++i) {
        const counted<i32> row = rows[(first + i).value()];
        this->add_row(me, row, j, this->values[(first + i).value()]);
      }
    }
    this->end = read_clock(me);
  }
  using tasks = task_list<launch<&by_columns::start>>;
};

}  // namespace timing_table
