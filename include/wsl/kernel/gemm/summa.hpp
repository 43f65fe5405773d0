// SPDX-License-Identifier: MIT
// C = A B as a sum of outer products, SUMMA (van de Geijn and Watts, 1997): in step k the PEs of column k
// broadcast their tile of A along their rows, those of row k broadcast their tile of B along their columns,
// and every PE multiplies the two. Each step has colors of its own, so the broadcasts of two steps never
// meet; a wafer has too few for that (moving_summa.hpp). Every element is summed in the order of k, so the
// result has the same bits on any number of PEs. The front end is gemm.hpp.
#pragma once
#include <utility>

#include "tile.hpp"

namespace wsl::detail {

template <class T>
struct summa_tile {
  using word = gemm_word<T>;
  static constexpr int largest_side = host.colors / 2;
  static constexpr broadcast<word> a_in_step(int k) {
    return {.first = k, .among = each_row, .root = {k, 0}};
  }
  static constexpr broadcast<word> b_in_step(int k) {
    return {.first = largest_side + k, .among = each_column, .root = {0, k}};
  }
  static constexpr color<word> of_a(int step) { return a_in_step(step).line(); }
  static constexpr color<word> of_b(int step) { return b_in_step(step).line(); }

  host_tiles<T> tiles;
  int step = 0;

  const auto& sum_of_c() const { return tiles.sum(); }

  static layout plan(int side) {
    layout l{host, side, side};
    l.place<summa_tile>(all);
    for (int k = 0; k < largest_side; ++k) {
      wire_broadcast(l, a_in_step(k), k < side);
      wire_broadcast(l, b_in_step(k), k < side);
    }
    return l;
  }

  void begin(pe& me, const gemm_problem<T>& p) {
    tiles.load(p, me.width(), me.at(), me.at(), me.at());
    step = 0;
    exchange(me);
  }
  // `multiply` is activated by A and unblocked by B.
  void exchange(pe& me) {
    const bool alone = me.width() == 1;
    if (me.x() != step) me.async(mov(tiles.next_a(), fabin(of_a(step))), then<&summa_tile::multiply>());
    else if (alone) me.activate<&summa_tile::multiply>();
    else me.async(mov(fabout(of_a(step)), tiles.a()), then<&summa_tile::multiply>());
    if (me.y() != step) me.async(mov(tiles.next_b(), fabin(of_b(step))), unblocks<&summa_tile::multiply>());
    else if (alone) me.unblock<&summa_tile::multiply>();
    else me.async(mov(fabout(of_b(step)), tiles.b()), unblocks<&summa_tile::multiply>());
  }
  void multiply(pe& me) {
    me.block<&summa_tile::multiply>();
    tiles.add_product(me.x() == step, me.y() == step);
    if (++step < me.width()) exchange(me);
    else tiles.finish();
  }

  template <int k>
  using broadcasts = task_list<sends<of_a(k), of_b(k)>, reads<of_a(k), of_b(k)>>;
  using tasks = task_list<launch<&summa_tile::begin>, long_running<local<&summa_tile::multiply, blocked>>,
                          numbered<largest_side, broadcasts>>;
};

}  // namespace wsl::detail
