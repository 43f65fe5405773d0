// SPDX-License-Identifier: MIT
// A root collects a block of words from every PE of its row, its column or the rectangle, in the order of their indices, row by row. Each
// PE sends its block toward the root and then passes on what comes from beyond it, so nobody stores what is not his. From the west
// blocks arrive backwards, so there their words run backwards, too, and the root fills its array from behind. In a rectangle the root's
// column passes on whole rows. See examples/21_scatter_gather.cpp.
//   constexpr gather<f32> collect{.first = 0, .among = each_row};
//   endpoint<collect> collecting; ... collecting.start(me, mem(x), then<...>()), and at the root collecting.start(me, mem(x), mem(all), ...)
// The root is what it costs: it takes (P - 1) B words. Two colors for each axis.
#pragma once
#include "cost.hpp"
#include "relay.hpp"

namespace wsl::collective {

template <payload T>
struct gather {
  using element = T;
  static constexpr const char* name = "gather";

  int first = 0;          ///< the first of its colors
  area where = all;       ///< the rectangle, without strides
  team among = everyone;
  spot root = {};         ///< a row uses only x, a column only y

  constexpr int colors() const { return among == team::rectangle ? 4 : 2; }

  constexpr void wire(layout& l) const {
    const region r = ground(l, where, name);
    take_colors<T>(l, name, first, colors(), r);
    flat(r).template wire<T>(l);
    upright(r).template wire<T>(l);
  }

  /// What it takes on a layout, in cycles, with blocks of `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const region r = ground(l, where, name);
    const f64 others = team_size(r, among) - 1, away = flat(r).where.farthest() + upright(r).where.farthest();
    if (others == 0) return 0;
    const f64 busy = pattern{.contention = words * others, .distance = 1, .depth = 1}.cycles() + 1;  // the root, from the first word on
    const f64 way = pattern{.contention = f64(words), .energy = words * away, .links = away, .distance = away, .depth = away}.cycles();
    return (busy > way ? busy : way) + copying(words, sizeof(T)) + restart;
  }

  constexpr relay flat(const region& r) const { return {lines_of(r, axis::x, among, root, name), first}; }
  constexpr relay upright(const region& r) const {
    return {lines_of(r, axis::y, among, root, name), among == team::rectangle ? first + 2 : first};
  }

  template <auto net>
  class part {
   public:
    /// At the root: collects all blocks, as long as `own`, which is one of them.
    void start(pe& me, memory<T> own, memory<T> blocks, completion done = none<T>(net.first)) {
      begin(me, own, done);
      if (!is_root()) misuse::this_PE_is_not_the_root(name, me.at());
      const int size = x_.where.size() * y_.where.size();
      if (blocks.length() != size * own.length()) misuse::the_blocks_do_not_fit(name, me.at(), blocks.length(), size, own.length());
      blocks_ = blocks;
      go_on(me);
    }
    /// At every other PE: its block has been sent, and those from beyond it, when `done` happens.
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
        if (away_.x ? pass(me, step_++) : away_.y ? pass_row(me, step_++) : collect(me, step_++)) return;
      finish(me, net.first, unused_, done_);
    }

    // The steps say whether they have started an operation. First comes this PE's block, then those from beyond it.
    bool pass(pe& me, int step) {
      const color<T> out{x_.color_of(side_.x, away_.x)};
      if (step == 0) return start(me, mov(fabout(out), side_.x == 0 ? own_.reversed() : own_));
      return forward(me, out, {x_.color_of(side_.x, away_.x + 1)}, (x_.where.reach(side_.x) - away_.x) * own_.length());
    }
    bool pass_row(pe& me, int step) {
      const color<T> out{y_.color_of(side_.y, away_.y)};
      if (step == 1) return start(me, mov(fabout(out), own_));
      if (step < 3) return forward(me, out, {x_.color_of(step / 2, 1)}, words(step));
      return forward(me, out, {y_.color_of(side_.y, away_.y + 1)}, (y_.where.reach(side_.y) - away_.y) * x_.where.size() * own_.length());
    }
    // The root's own row, then those of its north arm, then those of its south arm.
    bool collect(pe& me, int step) {
      const int row = step / 3, piece = step % 3, north_rows = y_.where.reach(0), side = row > north_rows;
      const int y = y_.where.root + (side ? row - north_rows : -row);
      memory<T> to = blocks_.part(y * x_.where.size() * own_.length() + (piece > 0 ? words(0) : 0) + (piece > 1 ? words(1) : 0), words(piece));
      if (row == 0 && piece == 1) return mov(to, own_), false;
      const color<T> from{row == 0 ? x_.color_of(piece / 2, 1) : y_.color_of(side, 1)};
      return words(piece) > 0 && start(me, mov(piece == 0 ? to.reversed() : to, fabin(from)));
    }
    /// A row comes in three pieces: what is west of the root's column, backwards; the block of that column; what is east of it.
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
using collective::gather;
}
