// SPDX-License-Identifier: MIT
// A root has a block of words for every PE of its row, its column or the rectangle, in the order of their indices, row by row; each gets
// its own. The root sends those for the farthest PE first; a PE passes on what is for PEs beyond it and keeps the rest, so nobody stores
// what is not his. To the east the root sends from behind, and there the words of a block run backwards. In a rectangle the root's column
// passes on whole rows. The mirror image of a gather. See examples/21_scatter_gather.cpp.
//   constexpr scatter<f32> deal{.first = 0, .among = each_column, .root = {0, end - 1}};
//   endpoint<deal> dealing; ... dealing.start(me, mem(x), then<&worker::next>()), and at the root dealing.start(me, mem(all), mem(x), ...)
// The root is what it costs: it sends (P - 1) B words. Two colors for each axis.
#pragma once
#include "cost.hpp"
#include "relay.hpp"

namespace wsl::collective {

template <payload T>
struct scatter {
  using element = T;
  static constexpr const char* name = "scatter";

  int first = 0;          ///< the first of its colors
  area where = all;       ///< the rectangle, without strides
  team among = everyone;
  spot root = {};         ///< a row uses only x, a column only y

  constexpr int colors() const { return among == team::rectangle ? 4 : 2; }

  constexpr void wire(layout& l) const {
    const region r = ground(l, where, name);
    take_colors<T>(l, name, first, colors(), r);
    flat(r).template wire_outward<T>(l);
    upright(r).template wire_outward<T>(l);
  }

  /// What it takes on a layout, in cycles, with blocks of `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const region r = ground(l, where, name);
    const f64 others = team_size(r, among) - 1, away = flat(r).where.farthest() + upright(r).where.farthest();
    if (others == 0) return 0;
    const f64 busy = pattern{.contention = words * others, .distance = 1, .depth = 1}.cycles() + 1;  // the root
    const f64 way = pattern{.contention = f64(words), .energy = words * away, .links = away, .distance = away, .depth = away}.cycles();
    return (busy > way ? busy : way) + copying(words, sizeof(T)) + (away > 1 ? 2 : 1) * restart;
  }

  constexpr relay flat(const region& r) const { return {lines_of(r, axis::x, among, root, name), first}; }
  constexpr relay upright(const region& r) const {
    return {lines_of(r, axis::y, among, root, name), among == team::rectangle ? first + 2 : first};
  }

  template <auto net>
  class part {
   public:
    /// At the root: sends the blocks, each as long as `own`, and keeps its own.
    void start(pe& me, memory<T> blocks, memory<T> own, completion done = none<T>(net.first)) {
      begin(me, own, done);
      if (!is_root()) misuse::this_PE_is_not_the_root(name, me.at());
      const int size = x_.where.size() * y_.where.size();
      if (blocks.length() != size * own.length()) misuse::the_blocks_do_not_fit(name, me.at(), blocks.length(), size, own.length());
      blocks_ = blocks;
      go_on(me);
    }
    /// At every other PE: its block is there, and those for PEs beyond it are sent, when `done` happens.
    void start(pe& me, memory<T> own, completion done = none<T>(net.first)) {
      begin(me, own, done);
      if (is_root()) misuse::this_PE_is_the_root(name, me.at());
      go_on(me);
    }
    static consteval auto tasks() { return table(local<&part::go_on>(), uses_colors<T, net.first, net.colors()>()); }

   private:
    bool is_root() const { return away_.x == 0 && away_.y == 0; }

    void begin(pe& me, memory<T> own, completion done) {
      const region r = ground(me, net.where, name);
      if (own.length() < 1) misuse::a_collective_moves_at_least_one_word(name, me.at());
      const coord at = me.at() - corner(r);
      x_ = net.flat(r), y_ = net.upright(r);
      away_ = {x_.where.distance_of(at.x), y_.where.distance_of(at.y)};
      side_ = {x_.where.side_of(at.x), y_.where.side_of(at.y)};
      own_ = own, done_ = done, step_ = 0;
    }
    void go_on(pe& me) {
      const int steps = away_.x ? 2 : away_.y ? 4 : 3 * y_.where.size();
      while (step_ < steps)
        if (away_.x ? pass(me, step_++) : away_.y ? pass_row(me, step_++) : deal(me, step_++)) return;
      finish(me, net.first, unused_, done_);
    }

    // The steps say whether they have started an operation. What is for PEs beyond comes first, then this PE's block.
    bool pass(pe& me, int step) {
      const color<T> in{x_.color_of(side_.x, away_.x)};
      if (step == 1) return start(me, mov(side_.x == 1 ? own_.reversed() : own_, fabin(in)));
      return forward(me, {x_.color_of(side_.x, away_.x + 1)}, in, (x_.where.reach(side_.x) - away_.x) * own_.length());
    }
    bool pass_row(pe& me, int step) {
      const color<T> in{y_.color_of(side_.y, away_.y)};
      if (step == 2) return start(me, mov(own_, fabin(in)));
      if (step > 0) return forward(me, {x_.color_of(step / 2, 1)}, in, words(step - 1));
      return forward(me, {y_.color_of(side_.y, away_.y + 1)}, in, (y_.where.reach(side_.y) - away_.y) * x_.where.size() * own_.length());
    }
    // The rows of the north arm and of the south arm, the farthest first, then the root's own.
    bool deal(pe& me, int step) {
      const int row = step / 3, piece = step % 3, rows = y_.where.size(), side = row >= y_.where.reach(0);
      const bool mine = row == rows - 1;
      const int y = mine ? y_.where.root : side ? rows - 1 - (row - y_.where.reach(0)) : row;
      const memory<T> from =
          blocks_.part(y * x_.where.size() * own_.length() + (piece > 0 ? words(0) : 0) + (piece > 1 ? words(1) : 0), words(piece));
      if (mine && piece == 1) return mov(own_, from), false;
      const color<T> to{mine ? x_.color_of(piece / 2, 1) : y_.color_of(side, 1)};
      return words(piece) > 0 && start(me, mov(fabout(to), piece == 2 ? from.reversed() : from));
    }
    /// A row goes in three pieces: what is west of the root's column; the block of that column; what is east of it, backwards.
    int words(int piece) const { return own_.length() * (piece == 1 ? 1 : x_.where.reach(piece / 2)); }

    bool forward(pe& me, color<T> out, color<T> in, int n) { return n > 0 && start(me, mov(fabout(out), fabin(in, n))); }
    template <class Operation>
    bool start(pe& me, const Operation& op) { return me.async(op, then<&part::go_on>()), true; }

    relay x_, y_;
    coord away_, side_;
    memory<T> own_{nullptr, 0};
    memory<T> blocks_{nullptr, 0};
    completion done_{};
    int step_ = 0;
    T unused_{};
  };
};

}  // namespace wsl::collective

namespace wsl {
using collective::scatter;
}
