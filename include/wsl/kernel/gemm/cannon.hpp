// SPDX-License-Identifier: MIT
// C = A B by Cannon's algorithm (1969): every PE multiplies the tiles of A and B that it holds while they
// already travel on, A to the next PE of its row, B to the next of its column. Rows and columns are folded
// rings, so no tile crosses more than two links at a time, and all PEs do equal work in every step. The front
// end is gemm.hpp.
#pragma once
#include "../../collective/folded_ring.hpp"
#include "tile.hpp"

namespace wsl::detail {

template <class T, class Tiles = host_tiles<T>>
struct cannon_tile {
  using word = gemm_word<T>;
  static constexpr folded_ring<word> along_rows{0, folded_ring<word>::axis::rows},
      along_columns{3, folded_ring<word>::axis::columns};
  static constexpr int smallest_side = 1, largest_side = 128;

  Tiles tiles;
  int step = 0;

  const auto& sum_of_c() const { return tiles.sum(); }

  static layout plan(int side, const machine& target = host) {
    layout l{target, side, side};
    l.place<cannon_tile>(all);
    along_rows.wire(l);
    along_columns.wire(l);
    return l;
  }

  void begin(pe& me, const gemm_problem<T>& p) {
    const int n = me.width(), i = along_columns.place(me.y(), n), j = along_rows.place(me.x(), n);
    tiles.load(p, n, {j, i}, {(i + j) % n, i}, {j, (i + j) % n});
    step = 0;
    multiply(me);
  }
  void multiply(pe& me) {
    const int n = me.width();
    if (++step < n) {
      me.async(mov(tiles.next_a(), fabin(along_rows.in(me.x(), n))), then<&cannon_tile::advance>());
      me.async(mov(tiles.next_b(), fabin(along_columns.in(me.y(), n))), then<&cannon_tile::advance>());
      me.async(mov(fabout(along_rows.out(me.x(), n)), tiles.a()), then<&cannon_tile::advance>());
      me.async(mov(fabout(along_columns.out(me.y(), n)), tiles.b()), then<&cannon_tile::advance>());
    }
    tiles.add_product();
    if (step == n) tiles.finish();
  }
  void advance(pe& me) {
    tiles.advance();
    multiply(me);
  }

  using tasks = task_list<launch<&cannon_tile::begin>, joins<4, &cannon_tile::advance>,
                          ring_entries<along_rows>, ring_entries<along_columns>>;
};

}  // namespace wsl::detail
