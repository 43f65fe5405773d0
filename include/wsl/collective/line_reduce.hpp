// SPDX-License-Identifier: MIT
// How the PEs of a line add up to a root, in four ways. A chain: each PE adds its words to those that pass. Two phases: chains in groups
// of about sqrt(P), then a chain of their leaders. A tree: at level k every odd multiple of 2^k sends to the multiple before. And a star:
// every PE sends its words straight to the root, the nearest first, on routes that are switched from one to the next. All are one scheme:
// a PE joins what comes in, color after color, and sends what it then has. Distances count from the root, each arm for itself.
#pragma once
#include "../fabric/switches.hpp"
#include "inputs.hpp"
#include "relay.hpp"

namespace wsl::collective {

/// How a reduction goes about it; `automatic` takes the cheapest by the model.
enum class tactic : int { automatic, chain, two_phase, tree, star };

/// A tactic on lines with a root. Colors are counted from 0.
class line_reduce {
 public:
  /// One step of a PE: what comes in on a color is joined with what it has, before it or behind it, and the result stays or goes out.
  struct step {
    i8 in = -1, out = -1;  ///< colors, -1 for none
    bool before = false;
    command behind = nop;  ///< follows what goes out
    i16 times = 1;         ///< so many PEs send, one after the other
  };
  using steps = inplace_vector<step, 64>;  // both arms of both axes, 15 levels each

  constexpr line_reduce(tactic how, const lines& where) : how_(how), where_(where), group_(group_of(how, where.farthest())) {}

  /// The cheapest of the tactics that need no more than so many colors. A star takes `switched` colors, and is good for single values.
  static constexpr line_reduce best(const lines& where, int words, int colors, bool switched) {
    line_reduce chosen{tactic::chain, where};
    for (tactic t : {tactic::two_phase, tactic::tree, tactic::star}) {
      const line_reduce l{t, where};
      const bool possible = l.colors() <= colors && (t != tactic::star || (switched && words == 1));
      if (possible && l.cycles(words) < chosen.cycles(words)) chosen = l;
    }
    return chosen;
  }

  constexpr tactic how() const { return how_; }
  constexpr int colors() const {
    if (size() == 1) return 0;
    if (how_ == tactic::star) return (where_.reach(0) > 0) + (where_.reach(1) > 0);
    return how_ == tactic::tree ? levels(0) + levels(1) : how_ == tactic::two_phase ? 4 : 2;
  }

  /// Adds the paths of all lines to a layout, on the colors from `first` on.
  template <payload T>
  constexpr void wire(layout& l, int first) const {
    for (int side : {0, 1}) {
      const arm a = where_.side(side);
      if (how_ == tactic::star) {
        wire_star<T>(l, a, {first + color_of(side, 1)});
        continue;
      }
      if (how_ == tactic::tree) {
        for (int k = 0; k < levels(side); ++k) wire_hops<T>(l, a, {first + tree_color(side, k)}, 1 << k, a.reach + 1, 2 << k, 1 << k);
        continue;
      }
      for (int p : {1, 2}) {
        if (how_ == tactic::chain) wire_hops<T>(l, a, {first + (p + side) % 2}, p, a.reach + 1, 2, 1);
        else wire_hops<T>(l, a, {first + 2 + (p + side) % 2}, p * group_, a.reach + 1, 2 * group_, group_);
      }
      for (int leader = 0; how_ == tactic::two_phase && leader <= a.reach; leader += group_)
        for (int d : {leader + 1, leader + 2}) wire_hops<T>(l, a, {first + (d + side) % 2}, d, leader + group_, 2, 1);
    }
  }

  /// Appends what the PE at a position of its line does, on the colors from `first` on. Says whether the line's result is then there.
  constexpr bool append(steps& to, int position, int first) const {
    const int side = where_.side_of(position), distance = where_.distance_of(position);
    if (distance == 0) {
      for (int arm : {0, 1}) add_inputs(to, first, arm, 0);
      return true;
    }
    const int heard_before = add_inputs(to, first, side, distance);
    if (heard_before == 0) to.push_back({});
    step& last = to[to.size() - 1];
    last.out = static_cast<i8>(first + color_of(side, distance));
    if (how_ == tactic::star) last.behind = distance == where_.reach(side) ? reset : advance;
    return false;
  }

  /// From the first operation's start to the last one's end.
  constexpr f64 cycles(int words) const {
    if (how_ == tactic::star) return star_cycles(words);
    inputs all;
    for (int side : {0, 1}) hear(all, side, words);
    return taken(all, words);
  }

 private:
  constexpr int size() const { return where_.size(); }
  static constexpr int group_of(tactic how, int reach) {
    int g = 1;
    while (how == tactic::two_phase && g * g < reach + 1) ++g;
    return g;
  }
  constexpr int levels(int side) const {
    int k = 0;
    while (1 << k <= where_.reach(side)) ++k;
    return k;
  }
  constexpr int tree_color(int side, int level) const { return (side ? levels(0) : 0) + level; }
  static constexpr int level_of(int distance) {
    int k = 0;
    while (distance % (2 << k) == 0) ++k;
    return k;
  }

  // Next to each other, PEs receive one color and send the other; the arms begin with different ones, for the root hears both.
  constexpr int color_of(int side, int distance) const {
    if (how_ == tactic::star) return side == 1 && where_.reach(0) > 0;  // an arm has a color of its own
    if (how_ == tactic::tree) return tree_color(side, level_of(distance));
    if (how_ == tactic::two_phase && distance % group_ == 0) return 2 + (distance / group_ + side) % 2;
    return (distance + side) % 2;
  }

  // At first a router takes words from its own PE; the command behind them turns it to those from beyond, and that of the last PE turns
  // all of them back for the next time. The last PE has nobody beyond it: its switch stands there because its command, too, is for switches.
  template <payload T>
  constexpr void wire_star(layout& l, const arm& a, color<T> c) const {
    if (a.reach == 0) return;
    l.path(c, a.beyond(), ramp >> a.inward(), switches{.pos1 = {.from = a.outward}, .pop = pop::on_advance});
    l.path(c, a.tip(), ramp >> a.inward(), switches{.pos1 = {.to = a.inward()}, .pop = pop::on_advance});
    l.path(c, a.roots, a.outward >> ramp);
  }

  constexpr int add_inputs(steps& to, int first, int side, int distance) const {
    const int before = to.size();
    const auto hear = [&](int from, int times = 1) {
      if (from > where_.reach(side)) return;
      to.push_back({static_cast<i8>(first + color_of(side, from)), -1, side == 0, nop, static_cast<i16>(times)});
    };
    if (how_ == tactic::star) {
      if (distance == 0) hear(1, where_.reach(side));
    } else if (how_ == tactic::tree) {
      for (int k = 0; k < levels(side) && distance % (2 << k) == 0; ++k) hear(distance + (1 << k));
    } else {
      if (how_ == tactic::chain || (distance + 1) % group_ != 0) hear(distance + 1);
      if (how_ == tactic::two_phase && distance % group_ == 0) hear(distance + group_);
    }
    return to.size() - before;
  }

  // Single values come in one operation a side: a value and its command pass for each PE, an element of a call takes longer, and what has
  // come meanwhile is waiting. Arrays come one by one. A sender is done when it has sent its command, a single value without an operation.
  constexpr f64 star_cycles(int words) const {
    const int before = where_.reach(0), behind = where_.reach(1);
    if (size() == 1) return 0;
    if (words > 1) {
      const input west = heard(0, 0, 1, 0), east = heard(1, 0, 1, 0);
      const f64 between = before && behind ? held_up(west, 0, east, words) : 0;
      return later((size() - 1) * (words + restart) - restart + handling + 1 + between, words + begin + 1 + issue);
    }
    const f64 first = before > 1 ? wse2.call * before : before, waiting = before ? first + restart + behind : 0;
    return later(later(2 * behind - 1, behind ? waiting : first), 2);
  }

  // What the root hears from one side, in its order. A PE keeps what comes in, all of it, but its last input it hands on while it comes.
  constexpr void hear(inputs& to, int side, int words) const {
    const int n = where_.reach(side);
    if (n == 0) return;
    if (how_ == tactic::chain) to.push_back(heard(side, chained(n), 1, 0));
    if (how_ == tactic::two_phase) hear_two_phases(to, side, words);
    if (how_ == tactic::tree) hear_tree(to, side, words);
  }
  constexpr input heard(int side, f64 first_word, int from, int shared, f64 stagger = 0) const {
    return {first_word, color_of(side, from), side, shared, stagger};
  }
  static constexpr f64 chained(int pes) { return pes * (handling + 1); }
  static constexpr f64 later(f64 a, f64 b) { return a > b ? a : b; }

  constexpr void hear_two_phases(inputs& to, int side, int words) const {
    const int n = where_.reach(side), leaders = n / group_, last_group = n - leaders * group_;
    if (leaders == 0) return void(to.push_back(heard(side, chained(n), 1, 0)));
    const input own = heard(side, chained(group_ - 1), 1, group_ - 1, handling);
    f64 sends = last_group ? chained(last_group) : 0;  // alone with its group, the farthest leader hands on what comes in
    for (int k = 1; k < leaders; ++k) {
      const input others = heard(side, sends + group_ + handling, group_, 0);
      sends = later(others.first_word, own.first_word + words + held_up(own, own.first_word, others, words) + restart);
    }
    to.push_back(own);
    to.push_back(heard(side, sends + group_ + handling, group_, 0));
  }
  // The PE at distance 2^k with all its levels below k hands on its last input while it comes. In a line of n PEs beyond the root the last
  // of them has fewer, and so has the last of those beyond it: the bits of n are their levels.
  constexpr void hear_tree(inputs& to, int side, int words) const {
    const int n = where_.reach(side);
    const auto level = [&](int k, f64 sends) { return heard(side, sends + (1 << k) + handling, 1 << k, 1 << k); };
    f64 ready = 0, last_comes = 0, last_sends = 0;
    input whole = level(0, 0);
    for (int k = 0; 1 << k <= n; ++k) {
      const f64 start = later(ready, whole.first_word);
      if (n >> k & 1) last_comes = last_sends + (1 << k) + handling, last_sends = later(last_comes, ready);
      to.push_back(whole);
      if (2 << k > n) to[to.size() - 1].first_word = last_comes;
      const input next = level(k + 1, start);
      ready = start + words + held_up(whole, start, next, words) + restart;
      whole = next;
    }
  }

  tactic how_;
  lines where_;
  int group_;
};

}  // namespace wsl::collective

namespace wsl {
using collective::tactic;
}
