// SPDX-License-Identifier: MIT
// A root has a block of words for every PE of its row, its column or the rectangle, in the order of their
// indices, row by row; each gets its own. The root sends those for the farthest PE first; a PE passes on what
// is for PEs beyond it and keeps the rest, so nobody stores what is not his. To the east the root sends from
// behind, and there the words of a block run backwards. In a rectangle the root's column passes on whole
// rows. The mirror image of a gather. See examples/21_scatter_gather.cpp.
//   constexpr scatter<f32> deal{.first = 0, .among = each_column, .root = {0, edge - 1}};
//   endpoint<deal> dealing; ... dealing.start(me, mem(x), then<&worker::next>()), and at the root dealing.start(me, mem(all), mem(x), ...)
// The root is what it costs: it sends (P - 1) B words; or the way to the last PE but one, which passes a
// block on before it takes its own: 2 B + (2 T + 2) (P - 2) + S, with S cycles to end an operation and begin
// one. Before that the root copies its own. Two colors for each axis.
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
  spot root = {};  ///< a row uses only x, a column only y

  constexpr int colors() const { return block_ways::colors(among); }

  constexpr void wire(layout& l) const {
    const region r = ground(l, where, name);
    const block_ways ways{*this, r};
    take_colors<T>(l, name, first, colors(), r);
    ways.x.template wire_outward<T>(l);
    ways.y.template wire_outward<T>(l);
  }

  /// What it takes on a layout, in cycles, with blocks of `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const block_ways ways{*this, ground(l, where, name)};
    if (ways.blocks() == 1) return ways.ends(words, sizeof(T));
    const f64 holds_up = ways.farthest() > 1 ? restart : 0;  // who passes blocks on takes its own after that
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
    /// At the root: sends the blocks, each as long as `own`, and keeps its own.
    void start(pe& me, memory<T> blocks, memory<T> own, completion done = none<T>(net.first)) {
      base::start_at_root(me, blocks, own, done);
    }

   private:
    // First what is for PEs beyond, then this PE's block.
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
    // The rows of the north arm and of the south arm, the farthest first, then the root's own.
    bool at_root(pe& me, int step) {
      const lines& column = base::ways_.y.where;
      const int row = step / 3, piece = step % 3, side = row >= column.reach(0);
      const bool mine = row == column.size() - 1;
      const int y = mine ? column.root : side ? column.size() - 1 - (row - column.reach(0)) : row;
      const memory<T> from = base::piece_of(y, piece);
      if (mine && piece == 1) return mov(base::own_, from), false;
      const color<T> to = mine ? base::piece_color(piece) : color<T>{base::ways_.y.color_of(side, 1)};
      return from.length() > 0 && base::run(me, mov(fabout(to), piece == 2 ? from.reversed() : from));
    }
  };
};

}  // namespace wsl::collective

namespace wsl {
using collective::scatter;
}
