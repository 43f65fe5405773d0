// SPDX-License-Identifier: MIT
// C = A B by Cannon's algorithm (1969): every PE multiplies the tiles of A and B that it holds while they
// already travel on, A to the next PE of its row, B to the next of its column. Rows and columns are folded
// rings, so no tile crosses more than two links at a time, and all PEs do equal work in every step. The front
// end is gemm.hpp.
#pragma once
#include "../../collective/folded_ring.hpp"
#include "tile.hpp"

namespace wsl::detail {

template <class T>
struct cannon_tile {
  using word = gemm_word<T>;
  static constexpr folded_ring<word> along_rows{0, folded_ring<word>::axis::rows},
      along_columns{3, folded_ring<word>::axis::columns};
  static constexpr int largest_side = 128;

  travelling_tile<T> a, b, next_a, next_b;
  gemm_sum sum;
  int step = 0;

  static layout plan(int side) {
    layout l{host, side, side};
    l.place<cannon_tile>(all);
    along_rows.wire(l);
    along_columns.wire(l);
    return l;
  }

  void begin(pe& me, const gemm_problem<T>& p) {
    const int n = me.width(), i = along_columns.place(me.y(), n), j = along_rows.place(me.x(), n),
              depth = sum.depth<T>(p.a.columns(), n);
    sum.begin(p.c, {n, n}, {j, i});
    for (travelling_tile<T>* t : {&a, &next_a}) t->resize(sum.rows(), depth, gemm_stride(depth));
    for (travelling_tile<T>* t : {&b, &next_b}) t->resize(depth, sum.columns(), sum.panel_width);
    a.load(p.a, i, (i + j) % n);
    b.load(p.b, (i + j) % n, j);
    step = 0;
    multiply(me);
  }
  void multiply(pe& me) {
    const int n = me.width();
    if (++step < n) {
      me.async(mov(mem(next_a.words()), fabin(along_rows.in(me.x(), n))), then<&cannon_tile::advance>());
      me.async(mov(mem(next_b.words()), fabin(along_columns.in(me.y(), n))), then<&cannon_tile::advance>());
      me.async(mov(fabout(along_rows.out(me.x(), n)), mem(a.words())), then<&cannon_tile::advance>());
      me.async(mov(fabout(along_columns.out(me.y(), n)), mem(b.words())), then<&cannon_tile::advance>());
    }
    sum.add_product(a, b);
  }
  void advance(pe& me) {
    a.swap(next_a), b.swap(next_b);
    multiply(me);
  }

  using tasks = task_list<launch<&cannon_tile::begin>, joins<4, &cannon_tile::advance>,
                          ring_entries<along_rows>, ring_entries<along_columns>>;
};

}  // namespace wsl::detail
