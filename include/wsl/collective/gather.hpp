// SPDX-License-Identifier: MIT
// A gather: the root collects a block of words from every PE of its row, its column or the rectangle, in the
// order of their indices, row by row. Each PE sends its block toward the root and then passes on those from
// beyond it, so no PE stores the words of another. From the west, blocks arrive in reverse order, so there
// their words travel in reverse as well, and the root fills its array from the end. In a rectangle the PEs of
// the root's column pass on whole rows. See examples/21_scatter_gather.cpp.
//   constexpr gather<f32> collect{.first = 0, .among = each_row};
//   endpoint<collect> collecting; ... collecting.start(me, mem(x), then<...>());
//   ... and at the root collecting.start(me, mem(x), mem(all), ...)
// Its cost is the larger of two terms: the root copies its own block and receives (P - 1) B words; and the
// farthest block takes B + (2 T + 2) (P - 1) cycles, where T is the latency of a ramp. Two colors for each
// axis.
#pragma once
#include "blocks.hpp"

namespace wsl::collective {

template <payload T>
struct gather {
  using element = T;
  static constexpr const char* name = "gather";

  int first = 0;     ///< the first of its colors
  area where = all;  ///< the rectangle, without strides
  team among = everyone;
  root_position root = {};  ///< a row uses only x, a column only y

  constexpr int colors() const { return block_relays::colors(among); }

  constexpr void wire(layout& l) const {
    const region r = rectangle_of(l, where, name);
    const block_relays ways{*this, r};
    claim_colors<T>(l, name, first, colors(), r);
    ways.x.template wire<T>(l);
    ways.y.template wire<T>(l);
  }

  /// The cost on a layout, in cycles, for blocks of `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const block_relays ways{*this, rectangle_of(l, where, name)};
    if (ways.blocks() == 1) return ways.ends(words, sizeof(T));
    // while the root copies its own block the first word comes
    const f64 own = copying(words, sizeof(T)) + issue, begun = own > handling + 2 ? own : handling + 2,
              busy = begun + f64(words) * (ways.blocks() - 1), way = ways.way(words, ways.farthest());
    return (busy > way ? busy : way) + restart;
  }

  template <auto net>
  class part : public block_part<net, part<net>> {
    using base = block_part<net, part>;
    friend base;

   public:
    using base::start;
    /// At the root: collects all blocks into `blocks`. Each is as long as `own`, the root's block.
    void start(pe& me, memory<T> own, memory<T> blocks, completion done = then_nothing) {
      base::start_at_root(me, blocks, own, done);
    }

   private:
    // First this PE's block, then those from beyond it.
    bool in_row(pe& me, int step) {
      if (step == 0)
        return base::run(
            me, mov(fabout(base::in_row_color(0)), base::side_.x == 0 ? base::own_.reversed() : base::own_));
      return base::pass(me, base::in_row_color(0), base::in_row_color(1), base::words_beyond_in_row());
    }
    bool in_column(pe& me, int step) {
      const color<T> out = base::in_column_color(0);
      if (step == 1) return base::run(me, mov(fabout(out), base::own_));
      if (step < 3) return base::pass(me, out, base::piece_color(step), base::words(step));
      return base::pass(me, out, base::in_column_color(1), base::words_beyond_in_column());
    }
    // The root's own row, then those of its north arm, then those of its south arm.
    bool at_root(pe& me, int step) {
      const lines& column = base::relays_.y.where;
      const int row = step / 3, piece = step % 3, side = row > column.reach(0);
      const memory<T> to = base::piece_of(column.root + (side ? row - column.reach(0) : -row), piece);
      if (row == 0 && piece == 1) return mov(to, base::own_), false;
      const color<T> from = row == 0 ? base::piece_color(piece) : color<T>{base::relays_.y.color_of(side, 1)};
      return to.length() > 0 && base::run(me, mov(piece == 0 ? to.reversed() : to, fabin(from)));
    }
  };
};

}  // namespace wsl::collective

namespace wsl {
using collective::gather;
}
