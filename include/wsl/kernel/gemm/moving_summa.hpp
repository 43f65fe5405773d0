// SPDX-License-Identifier: MIT
// SUMMA on a wafer, whose 24 colors are too few for a color of each step: the root of the broadcasts moves
// from the first PE of a row or column to the last. Two colors carry a line, one ahead of the root and one
// back, and switches pass the right to send on. The front end is wafer.hpp; summa.hpp has the algorithm.
//
// Ahead, the routers between the ends have three positions: words pass and are delivered; words pass; the PE
// sends. Behind its words the root gives the next router one step, and then another one together with its
// own, which leads back to the first position. Back, a PE first sends, and hears itself, because a position
// changes one side of a route only; with a step of its own it begins to pass words on. The last root's reset
// leads all back.
#pragma once
#include "../../layout/switches.hpp"
#include "../../program/event.hpp"
#include "wafer_tiles.hpp"

namespace wsl::detail {

/// Broadcasts along all rows, or all columns, of a grid of at least three, one for each place of the line in
/// their order.
template <payload T>
struct moving_broadcast {
  enum class axis : u8 { rows, columns };

  int first;
  axis along;

  constexpr color<T> ahead() const { return {first}; }
  constexpr color<T> back() const { return {first + 1}; }
  /// The color on which a PE hears the root at another place.
  constexpr color<T> from(int root, int at) const { return root < at ? ahead() : back(); }
  constexpr std::array<color<T>, 2> colors() const { return {ahead(), back()}; }

  constexpr void wire(layout& l) const {
    const bool rows = along == axis::rows;
    const int last = (rows ? l.width() : l.height()) - 1;
    const port on = rows ? east : south, behind = rows ? west : north;
    const auto places = [&](int begin, int end) {
      return rows ? columns(begin, end) : area{wsl::rows(begin, end)};
    };
    l.claim_colors("moving_broadcast", first, 2, l.grid());
    l.path(ahead(), places(0, 1), ramp >> on).path(ahead(), places(last, last + 1), behind >> ramp);
    l.path(back(), places(last, last + 1), ramp >> behind).path(back(), places(0, 1), on >> ramp);
    l.path(ahead(), places(1, last), behind >> (ramp | on),
           switches{.pos1 = {.to = on}, .pos2 = {.from = ramp}, .ring = true, .pop = pop::always});
    l.path(back(), places(1, last), ramp >> (behind | ramp), switches{.pos1 = {.from = on}});
  }

  /// Starts the operations of the root at a place of n; each signals `gone`. Returns how many there are.
  int send(pe& me, int at, int n, memory<T> words, event& gone, T& heard) const {
    const bool first_of_all = at == 0, last = at == n - 1;
    if (!last) me.async(mov(fabout(ahead()), words), signals(gone));
    if (!first_of_all) me.async(mov(fabout(back()), words), signals(gone));
    if (first_of_all || last) return 1;
    me.async(mov(&heard, fabin(back(), words.length())), signals(gone));
    return 3;
  }
  /// Behind the words: the right to send goes to the next place.
  void pass_on(pe& me, int at, int n) const {
    if (at == 0) me.send_control(ahead(), switch_adv), me.send_control(ahead(), switch_adv);
    else if (at < n - 2)
      me.send_control(ahead(), {nop, switch_adv}), me.send_control(ahead(), {switch_adv, switch_adv});
    else if (at == n - 2) me.send_control(ahead(), switch_adv);
    if (at == n - 1) me.send_control(back(), switch_rst);
    else if (at > 0) me.send_control(back(), switch_adv);
  }
};

template <class T, class Tiles>
struct moving_summa_tile {
  using word = gemm_word<T>;
  static constexpr moving_broadcast<word> along_rows{0, moving_broadcast<word>::axis::rows},
      along_columns{2, moving_broadcast<word>::axis::columns};
  static constexpr int smallest_side = 3, largest_side = host.width;

  Tiles tiles;
  int step = 0;
  event gone;
  word heard{};  // a root's own words

  static layout plan(int side, const machine& target) {
    layout l{target, side, side};
    l.place<moving_summa_tile>(all);
    along_rows.wire(l);
    along_columns.wire(l);
    return l;
  }

  void begin(pe& me, const gemm_problem<T>& p) {
    tiles.load(p, me.width(), me.at(), me.at(), me.at());
    step = 0;
    exchange(me);
  }
  void exchange(pe& me) {
    if (me.x() == step) me.activate<&moving_summa_tile::give_a>();
    else
      me.async(mov(tiles.next_a(), fabin(along_rows.from(step, me.x()))),
               then<&moving_summa_tile::multiply>());
    if (me.y() == step) me.activate<&moving_summa_tile::give_b>();
    else
      me.async(mov(tiles.next_b(), fabin(along_columns.from(step, me.y()))),
               then<&moving_summa_tile::multiply>());
  }
  task give_a(pe& me) {
    for (int left = along_rows.send(me, me.x(), me.width(), tiles.a(), gone, heard); left > 0; --left)
      co_await gone;
    along_rows.pass_on(me, me.x(), me.width());
    me.activate<&moving_summa_tile::multiply>();
  }
  task give_b(pe& me) {
    for (int left = along_columns.send(me, me.y(), me.height(), tiles.b(), gone, heard); left > 0; --left)
      co_await gone;
    along_columns.pass_on(me, me.y(), me.height());
    me.activate<&moving_summa_tile::multiply>();
  }
  void multiply(pe& me) {
    tiles.add_product(me.x() == step, me.y() == step);
    if (++step < me.width()) exchange(me);
  }

  template <auto line>
  using entries = task_list<sends<line>, reads<line>, steers<line.ahead(), switch_adv>,
                            steers<line.back(), switch_adv, switch_rst>>;
  using tasks = task_list<launch<&moving_summa_tile::begin>, local<&moving_summa_tile::give_a>,
                          local<&moving_summa_tile::give_b>, joins<2, &moving_summa_tile::multiply>,
                          entries<along_rows>, entries<along_columns>>;
};

}  // namespace wsl::detail
