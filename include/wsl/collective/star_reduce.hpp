// SPDX-License-Identifier: MIT
// A reduce in which every PE sends its words straight to the root, one after the other, the nearest first: nobody between handles them. On
// each side of the root one color is enough, for its route changes. At first a router takes words from its own PE; a command behind them
// turns it to those from beyond; and the command of the last PE turns all of them back, for the next time. For single values on lines of 4
// to 24 PEs no tactic of `reduce` is as quick. See examples/26_collective_pictures.cpp.
//   constexpr star_reduce<f32> sum{.first = 0, .among = each_row};
//   endpoint<sum> summing; ... summing.start(me, mem(x), then<&worker::next>())
// Order: parts are joined in the order of their indices, from the root outward, first those before it, then those behind it. To a root at
// the end of a line of P PEs single values take 2 (P - 1) + 2 T + 1 + I cycles: a value and a command for each, with T the ramp's latency
// and I cycles to issue an operation. B words take (P - 1) (B + S) + 2 T + 2: the root begins and ends an operation for each PE, S cycles.
#pragma once
#include <utility>

#include "../fabric/switches.hpp"
#include "combine.hpp"
#include "cost.hpp"
#include "line.hpp"

namespace wsl::collective {

template <payload T, class Combine = plus>
struct star_reduce {
  using element = T;
  using combine = Combine;
  static constexpr const char* name = "star_reduce";

  int first = 0;          ///< the first of its colors
  area where = all;       ///< the rectangle, without strides
  team among = everyone;
  spot root = {};         ///< a row uses only x, a column only y

  /// One for each side of the root.
  constexpr int colors() const { return among == team::rectangle ? 4 : 2; }

  constexpr void wire(layout& l) const {
    const region r = ground(l, where, name);
    take_colors<T>(l, name, first, colors(), r);
    for (axis a : {axis::x, axis::y})
      for (int side : {0, 1}) wire_arm(l, along(r, a).side(side), color_of(a, side));
  }

  /// What it takes on a layout, in cycles, with `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const region r = ground(l, where, name);
    return cycles(along(r, axis::x), words) + cycles(along(r, axis::y), words);
  }

  /// The lines along an axis: rows first, then the root's column.
  constexpr lines along(const region& r, axis a) const { return lines_of(r, a, among, root, name); }
  constexpr color<T> color_of(axis a, int side) const { return {first + (a == axis::y && among == team::rectangle ? 2 : 0) + side}; }

  template <auto net>
  class part {
   public:
    /// Joins the arrays of all PEs of a team into the root's. They are equally long, and left alone until `done` happens: then the root
    /// has the result, and elsewhere what the PE had to give has been sent.
    void start(pe& me, memory<T> array, completion done = none<T>(net.first)) {
      where_ = ground(me, net.where, name);
      if (array.length() < 1) misuse::a_collective_moves_at_least_one_word(name, me.at());
      array_ = array, done_ = done, axis_ = axis::x, heard_ = 0;
      go_on(me);
    }
    static consteval auto tasks() {
      return table(local<&part::go_on>(), local<&part::sent>(), uses_colors<T, net.first, net.colors()>(),
                   commands(std::make_integer_sequence<int, net.colors()>{}));
    }

   private:
    template <int... k>
    static consteval auto commands(std::integer_sequence<int, k...>) { return table(steers<color<T>{net.first + k}>(advance, reset)...); }

    void go_on(pe& me) {
      const lines line = net.along(where_, axis_);
      const int position = collective::along(me.at() - corner(where_), axis_);
      if (line.distance_of(position) > 0) {
        out_ = net.color_of(axis_, line.side_of(position)), last_ = line.distance_of(position) == line.reach(line.side_of(position));
        if (array_.length() > 1) return me.async(mov(fabout(out_), array_), then<&part::sent>());
        me.send(out_, array_[0]);
        sent(me);
      } else if (heard_ < line.size() - 1) {
        const int side = heard_ >= line.reach(0), senders = array_.length() == 1 ? line.reach(side) : 1;
        heard_ += senders;
        take(me, net.color_of(axis_, side), side == 0, senders);
      } else if (axis_ == axis::x) {
        axis_ = axis::y, heard_ = 0;
        go_on(me);
      } else finish(me, net.first, unused_, done_);
    }
    void sent(pe& me) {
      if (last_) me.send_control(out_, reset);
      else me.send_control(out_, advance);
      finish(me, net.first, unused_, done_);
    }
    /// The words of one PE; single values of several PEs, in one operation.
    void take(pe& me, color<T> from, bool before, int senders) {
      T* const total = &array_[0];
      const auto next = then<&part::go_on>();
      if (senders == 1 && before) me.async(join<Combine>(array_, fabin(from), array_), next);
      else if (senders == 1) me.async(join<Combine>(array_, array_, fabin(from)), next);
      else if (before) me.async(map([](T sum, T x) { return Combine{}(x, sum); }, total, *total, fabin(from, senders)), next);
      else me.async(join<Combine>(total, *total, fabin(from, senders)), next);
    }

    region where_;
    memory<T> array_{nullptr, 0};
    completion done_{};
    color<T> out_{};
    axis axis_ = axis::x;
    int heard_ = 0;
    bool last_ = false;
    T unused_{};
  };

 private:
  static constexpr f64 cycles(const lines& line, int words) {
    const int others = line.size() - 1, operations = (line.reach(0) > 0) + (line.reach(1) > 0);
    if (others == 0) return 0;
    if (words > 1) return others * (words + restart) + handling + 1;
    return pattern{.contention = f64(2 * others), .depth = 1}.cycles() + issue + (operations - 1) * restart;
  }
  // The last PE has nobody beyond it: its switch does not move. It stands there because its command, too, is for switches.
  constexpr void wire_arm(layout& l, const arm& a, color<T> c) const {
    if (a.reach == 0) return;
    l.path(c, a.beyond(), ramp >> a.inward(), switches{.pos1 = {.from = a.outward}, .pop = pop::on_advance});
    l.path(c, a.tip(), ramp >> a.inward(), switches{.pos1 = {.to = a.inward()}, .pop = pop::on_advance});
    l.path(c, a.roots, a.outward >> ramp);
  }
};

}  // namespace wsl::collective

namespace wsl {
using collective::star_reduce;
}
