// SPDX-License-Identifier: MIT
// How the PEs of a line add up to a root, in four ways. A chain: each PE adds its words to those that pass. Two phases: chains in groups,
// then a chain of their leaders, whose words pass the groups on routes that are switched when these are done. A tree: at level k every odd
// multiple of 2^k sends to the multiple before. And a star: every PE sends its words straight to the root, the nearest first, on routes
// that are switched from one to the next. All are one scheme: a PE joins what comes in, input after input, and sends what it then has.
// Distances count from the root, each arm for itself.
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
    command behind = nop;  ///< follows what goes out: an advance for the two routers that it leaves first, or a reset for all on its way
    i16 times = 1;         ///< so many PEs send, one after the other
  };
  using steps = inplace_vector<step, 64>;  // both arms of both axes, 15 levels each

  constexpr line_reduce(tactic how, const lines& where)
      : how_(how), where_(where), leaders_{leaders_of(how, where.reach(0)), leaders_of(how, where.reach(1))} {}

  /// The cheapest of the tactics that need no more than so many colors. Two phases and a star take `switched` colors, and a star is good
  /// for single values.
  static constexpr line_reduce best(const lines& where, int words, int colors, bool switched) {
    line_reduce chosen{tactic::chain, where};
    for (tactic t : {tactic::two_phase, tactic::tree, tactic::star}) {
      const line_reduce l{t, where};
      const bool possible = l.colors() <= colors && (t == tactic::tree || switched) && (t != tactic::star || words == 1);
      if (possible && l.cycles(words) < chosen.cycles(words)) chosen = l;
    }
    return chosen;
  }

  constexpr tactic how() const { return how_; }
  constexpr int colors() const {
    if (size() == 1) return 0;
    if (how_ == tactic::star) return (where_.reach(0) > 0) + (where_.reach(1) > 0);
    return how_ == tactic::tree ? levels(0) + levels(1) : 2;
  }

  /// Adds the paths of all lines to a layout, on the colors from `first` on; those of a star with more options.
  template <payload T, class... Option>
  constexpr void wire(layout& l, int first, const Option&... options) const {
    for (int side : {0, 1}) {
      const arm a = where_.side(side);
      if (how_ == tactic::star) wire_star(l, a, color<T>{first + color_of(side, 1)}, options...);
      else if (how_ == tactic::tree)
        for (int k = 0; k < levels(side); ++k) wire_hops<T>(l, a, {first + tree_color(side, k)}, 1 << k, a.reach + 1, 2 << k, 1 << k);
      else
        for (int i = 0; i < leaders_[side].size(); ++i) wire_group<T>(l, a, side, i, first);
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
    last.behind = behind(side, distance);
    return false;
  }

  /// From the first operation's start to the last one's end.
  constexpr f64 cycles(int words) const {
    if (how_ == tactic::star) return star_cycles(words);
    inputs all;
    f64 last_turned = 0;
    for (int side : {0, 1}) last_turned = later(last_turned, hear(all, side, words));
    return later(last_turned, taken(all, words));
  }

 private:
  constexpr int size() const { return where_.size(); }

  // From the far end on a group has 4 PEs, 5, 7, 9, 11, 14 and so on: while the words from beyond come over the links of a group, a cycle each,
  // and up and down a ramp, its own chain, with a ramp for each PE, is just done. The root's group is what is left.
  using distances = inplace_vector<int, 48>;
  static constexpr distances leaders_of(tactic how, int reach) {
    distances outside_in, leaders;
    int pes = 4;
    for (int d = reach + 1 - pes; how == tactic::two_phase && d > 0; d -= pes) outside_in.push_back(d), pes += pes / handling + 1;
    leaders.push_back(0);
    for (int i = outside_in.size(); i > 0; --i) leaders.push_back(outside_in[i - 1]);
    return leaders;
  }
  /// The group of a PE, counted from the root, and how far it stands from its leader.
  constexpr int group_of(int side, int distance) const {
    int i = leaders_[side].size() - 1;
    while (leaders_[side][i] > distance) --i;
    return i;
  }
  constexpr int offset_of(int side, int distance) const { return distance - leaders_[side][group_of(side, distance)]; }
  constexpr bool followed(int side, int group) const { return group + 1 < leaders_[side].size(); }
  constexpr int end_of(int side, int group) const { return followed(side, group) ? leaders_[side][group + 1] : where_.reach(side) + 1; }

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

  // PEs receive one color and send the other, and so do leaders; the arms begin with different ones, for the root hears both.
  constexpr int color_of(int side, int distance) const {
    if (how_ == tactic::star) return side == 1 && where_.reach(0) > 0;  // an arm has a color of its own
    if (how_ == tactic::tree) return tree_color(side, level_of(distance));
    return (offset_of(side, distance) + group_of(side, distance) + side) % 2;
  }

  /// The command that follows what a PE sends. A leader's are the last words on their way.
  constexpr command behind(int side, int distance) const {
    if (how_ == tactic::star) return distance == where_.reach(side) ? reset : advance;
    if (how_ != tactic::two_phase) return nop;
    const int group = group_of(side, distance), offset = offset_of(side, distance);
    if (offset == 0) return distance - leaders_[side][group - 1] > 1 ? reset : nop;
    return followed(side, group) && offset % 2 ? advance : nop;
  }

  // A chain. If another leader follows, its words come over every other link's color: a router takes words from its own PE, or gives it
  // those of the next one, until the command behind them lets pass what comes from beyond; the command behind the leader's turns all back.
  template <payload T>
  constexpr void wire_group(layout& l, const arm& a, int side, int group, int first) const {
    const int leader = leaders_[side][group], end = end_of(side, group);
    const auto line = [&](int distance) { return color<T>{first + color_of(side, distance)}; };
    wire_hops<T>(l, a, line(leader + 2), leader + 2, end, 2, 1);
    if (!followed(side, group)) return wire_hops<T>(l, a, line(leader + 1), leader + 1, end, 2, 1);
    const color<T> c = line(end);
    const bool takes_none = (end - leader) % 2;  // the last PE before the next leader, on this color
    l.path(c, a.cell(leader), a.outward >> ramp);
    l.path(c, a.cells(leader + 1, end, 2), ramp >> a.inward(), switches{.pos1 = {.from = a.outward}, .pop = pop::on_advance});
    l.path(c, a.cells(leader + 2, end - takes_none, 2), a.outward >> ramp, switches{.pos1 = {.to = a.inward()}, .pop = pop::on_advance});
    if (takes_none && end - leader > 1) l.path(c, a.cell(end - 1), a.outward >> a.inward());
    l.path(c, a.cell(end), ramp >> a.inward());
  }

  // At first a router takes words from its own PE; the command behind them turns it to those from beyond, and that of the last PE turns
  // all of them back for the next time. The last PE has nobody beyond it: its switch stands there because its command, too, is for switches.
  template <payload T, class... Option>
  constexpr void wire_star(layout& l, const arm& a, color<T> c, const Option&... options) const {
    if (a.reach == 0) return;
    l.path(c, a.beyond(), ramp >> a.inward(), switches{.pos1 = {.from = a.outward}, .pop = pop::on_advance}, options...);
    l.path(c, a.tip(), ramp >> a.inward(), switches{.pos1 = {.to = a.inward()}, .pop = pop::on_advance}, options...);
    l.path(c, a.roots, a.outward >> ramp, options...);
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
      const int group = group_of(side, distance), end = end_of(side, group);
      if (distance + 1 < end) hear(distance + 1);
      if (distance == leaders_[side][group]) hear(end);
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

  // What the root hears from one side, in its order, and when all switches are turned back. A PE keeps what comes in, all of it, but its last
  // input it hands on while it comes.
  constexpr f64 hear(inputs& to, int side, int words) const {
    if (where_.reach(side) == 0) return 0;
    if (how_ != tactic::tree) return hear_groups(to, side, words);
    hear_tree(to, side, words);
    return 0;
  }
  constexpr input heard(int side, f64 first_word, int from, int shared) const { return {first_word, color_of(side, from), side, shared}; }
  static constexpr f64 chained(int pes) { return pes * (handling + 1); }
  static constexpr f64 later(f64 a, f64 b) { return a > b ? a : b; }

  // A leader hears its group and then the next leader; the farthest, alone with its group, is the last of a chain.
  constexpr f64 hear_groups(inputs& to, int side, int words) const {
    const distances& leaders = leaders_[side];
    const int last = leaders.size() - 1;
    f64 sends = 0, comes = chained(where_.reach(side) - leaders[last]);
    for (int i = last - 1; i >= 0; --i) {
      const f64 own = chained(leaders[i + 1] - leaders[i] - 1);
      sends = comes, comes = sends + (leaders[i + 1] - leaders[i]) + handling;
      if (i == 0 && own > 0) to.push_back(heard(side, own, 1, 0));
      if (i > 0 && own > 0) comes = later(comes, own + words + restart);
    }
    to.push_back(heard(side, comes, 1, 0));
    return last > 0 ? sends + words + 1 + restart : 0;
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
  distances leaders_[2];
};

}  // namespace wsl::collective

namespace wsl {
using collective::tactic;
}
