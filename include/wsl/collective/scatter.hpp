// SPDX-License-Identifier: MIT
// A scatter, the mirror image of a gather: the root has a block of words for every PE of its row, its column
// or the rectangle, in the order of their indices, row by row, and each PE receives its own. The root sends
// the blocks of the farthest PEs first. A PE passes on those for PEs beyond it and keeps the last, so no PE
// stores the words of another. Toward the east the root sends from the end of its array, and there the words
// of a block travel in reverse. In a rectangle the PEs of the root's column pass on whole rows. See
// examples/21_scatter_gather.cpp.
//   constexpr scatter<f32> deal{.first = 0, .among = each_column, .root = {0, edge - 1}};
//   endpoint<deal> dealing; ... dealing.start(me, mem(x), then<&worker::next>());
//   ... and at the root dealing.start(me, mem(all), mem(x), ...)
// Its cost is the larger of two terms: the root sends (P - 1) B words; and the last PE but one passes a block
// on before it receives its own, 2 B + (2 T + 2) (P - 2) + S cycles, where T is the latency of a ramp and S
// cycles end one operation and begin the next. Before that the root copies its own block. Two colors for each
// axis.
#pragma once
#include "blocks.hpp"

namespace wsl::collective {

template <payload T>
struct scatter {
  using element = T;
  static constexpr const char* name = "scatter";

  int first = 0;     ///< the first of its colors
  area where = all;  ///< the rectangle, without strides
  team among = everyone;
  root_position root = {};  ///< a row uses only x, a column only y

  constexpr int colors() const { return block_relays::colors(among); }

  constexpr void wire(layout& l) const {
    const region r = rectangle_of(l, where, name);
    const block_relays ways{*this, r};
    claim_colors<T>(l, name, first, colors(), r);
    ways.x.template wire_outward<T>(l);
    ways.y.template wire_outward<T>(l);
  }

  /// The cost on a layout, in cycles, for blocks of `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const block_relays ways{*this, rectangle_of(l, where, name)};
    if (ways.blocks() == 1) return ways.ends(words, sizeof(T));
    // a PE that passes blocks on takes its own afterwards
    const f64 holds_up = ways.farthest() > 1 ? restart : 0;
    const f64 next_to_last = ways.way(2 * words, ways.farthest() - 1) + holds_up,
              last = ways.way(words, ways.farthest());
    f64 most = ways.busy(words) + holds_up;
    for (f64 end : {next_to_last, last}) most = end > most ? end : most;
    return most + ways.ends(words, sizeof(T));
  }

  template <auto net>
  class part : public block_part<net, part<net>> {
    using base = block_part<net, part>;
    friend base;

   public:
    using base::start;
    /// At the root: sends `blocks`, one for each PE and as long as `own`, and copies its own block to
    /// `own`.
    void start(pe& me, memory<T> blocks, memory<T> own, completion done = then_nothing) {
      base::start_at_root(me, blocks, own, done);
    }

   private:
    // First the blocks for PEs beyond this one, then its own.
    bool in_row(pe& me, int step) {
      if (step == 0)
        return base::pass(me, base::in_row_color(1), base::in_row_color(0), base::words_beyond_in_row());
      return base::run(
          me, mov(base::side_.x == 1 ? base::own_.reversed() : base::own_, fabin(base::in_row_color(0))));
    }
    bool in_column(pe& me, int step) {
      const color<T> in = base::in_column_color(0);
      if (step == 0) return base::pass(me, base::in_column_color(1), in, base::words_beyond_in_column());
      if (step == 2) return base::run(me, mov(base::own_, fabin(in)));
      return base::pass(me, base::piece_color(step - 1), in, base::words(step - 1));
    }
    // The rows of the north arm and of the south arm, the farthest first, then the root's own row.
    bool at_root(pe& me, int step) {
      const lines& column = base::relays_.y.where;
      const int row = step / 3, piece = step % 3, side = row >= column.reach(0);
      const bool mine = row == column.size() - 1;
      const int y = mine ? column.root : side ? column.size() - 1 - (row - column.reach(0)) : row;
      const memory<T> from = base::piece_of(y, piece);
      if (mine && piece == 1) return mov(base::own_, from), false;
      const color<T> to = mine ? base::piece_color(piece) : color<T>{base::relays_.y.color_of(side, 1)};
      return from.length() > 0 && base::run(me, mov(fabout(to), piece == 2 ? from.reversed() : from));
    }
  };
};

}  // namespace wsl::collective

namespace wsl {
using collective::scatter;
}
