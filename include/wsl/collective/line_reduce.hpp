// SPDX-License-Identifier: MIT
// How the PEs of a line add up to a root, in five ways. A chain: each PE adds its words to those that pass. Two phases: chains in groups,
// then a chain of their leaders, whose words pass the groups on routes that are switched when these are done. A tree: at level k every odd
// multiple of 2^k sends to the multiple before. A star: every PE sends its words straight to the root, the nearest first, on routes that
// are switched from one to the next. And a chain of stars: the last PE of a star is the leader of the one beyond it, and what it sends is
// that one's sum. All are one scheme: a PE joins what comes in, input after input, and sends what it then has. Distances count from the
// root, each arm for itself. What they cost is in reduce_cost.hpp.
#pragma once
#include "../fabric/switches.hpp"
#include "cost.hpp"
#include "relay.hpp"

namespace wsl::collective {

/// How a reduction goes about it; `automatic` takes the cheapest by the model.
enum class tactic : int { automatic, chain, two_phase, tree, star, star_chain };

/// A tactic on lines with a root. Colors are counted from 0.
class line_reduce {
 public:
  /// One step of a PE: what comes in on a color is joined with what it has, before it or behind it, and the result stays or goes out.
  struct step {
    i8 in = -1, out = -1;  ///< colors, -1 for none
    bool before = false;
    command behind = nop;  ///< follows what goes out: an advance for the two routers that it leaves first, or a reset for all on its way
    i16 times = 1;         ///< so many PEs send, one after the other; the result of more than one stays
  };
  using steps = inplace_vector<step, 64>;  // both arms of both axes, 15 levels each

  constexpr line_reduce(tactic how, const lines& where)
      : how_(how), where_(where), leaders_{leaders_of(how, where.reach(0)), leaders_of(how, where.reach(1))} {}

  using distances = inplace_vector<int, 48>;

  constexpr tactic how() const { return how_; }
  constexpr const lines& where() const { return where_; }
  /// Where the leaders of an arm stand; the root is the first.
  constexpr const distances& leaders(int side) const { return leaders_[side]; }
  /// Whether leaders hear all PEs of a group straight, up to the next leader.
  constexpr bool has_stars() const { return how_ == tactic::star || how_ == tactic::star_chain; }
  /// A leader and whom it hears in a star: its group, and the next leader.
  constexpr arm star_of(int side, int group) const {
    const arm a = where_.side(side);
    const int leader = leaders_[side][group];
    return {a.cell(leader), a.outward, end_of_star(side, group) - leader};
  }
  constexpr int colors() const {
    if (where_.size() == 1) return 0;
    if (how_ == tactic::tree) return levels(0) + levels(1);
    return has_stars() && !followed(0, 0) && !followed(1, 0) ? (where_.reach(0) > 0) + (where_.reach(1) > 0) : 2;
  }

  /// The color that a PE sends. PEs receive one color and send the other, and so do leaders; the root hears its arms on different ones, the
  /// only arm on 0.
  constexpr int color_of(int side, int distance) const {
    if (how_ == tactic::tree) return tree_color(side, level_of(distance));
    const bool second = side == 1 && where_.reach(0) > 0;
    if (has_stars()) return (group_of(side, distance - 1) + second) % 2;
    return (offset_of(side, distance) + group_of(side, distance) + 1 + second) % 2;
  }

  /// Adds the paths of all lines to a layout, on the colors from `first` on; those of a star with more options.
  template <payload T, class... Option>
  constexpr void wire(layout& l, int first, const Option&... options) const {
    for (int side : {0, 1}) {
      const arm a = where_.side(side);
      if (how_ == tactic::tree)
        for (int k = 0; k < levels(side); ++k) wire_hops<T>(l, a, {first + tree_color(side, k)}, 1 << k, a.reach + 1, 2 << k, 1 << k);
      else
        for (int i = 0; i < leaders_[side].size(); ++i)
          if (has_stars()) wire_star<T>(l, star_of(side, i), first + color_of(side, leaders_[side][i] + 1), options...);
          else wire_group<T>(l, a, side, i, first);
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
    if (heard_before == 0 || to[to.size() - 1].times > 1) to.push_back({});
    step& last = to[to.size() - 1];
    last.out = static_cast<i8>(first + color_of(side, distance));
    last.behind = behind(side, distance);
    return false;
  }

 private:
  // From the far end on a group has 4 PEs, 5, 7, 9, 11, 14 and so on: while the words from beyond come over the links of a group, a cycle each,
  // and up and down a ramp, its own chain, with a ramp for each PE, is just done. A star of single values has two cycles for each PE: they
  // have 7 PEs, 14, 28 and so on. The root's group is what is left.
  static constexpr distances leaders_of(tactic how, int reach) {
    distances outside_in, leaders;
    const bool chains = how == tactic::two_phase, stars = how == tactic::star_chain;
    int pes = chains ? 4 : 7;
    for (int d = reach + 1 - pes; (chains || stars) && d > 0; d -= pes) outside_in.push_back(d), pes += chains ? pes / handling + 1 : pes;
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

  constexpr int end_of_star(int side, int group) const { return end_of(side, group) - !followed(side, group); }

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

  /// The command that follows what a PE sends. A leader's are the last words on their way.
  constexpr command behind(int side, int distance) const {
    if (has_stars()) return distance == end_of_star(side, group_of(side, distance - 1)) ? reset : advance;
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
  constexpr void wire_star(layout& l, const arm& a, int own_color, const Option&... options) const {
    if (a.reach == 0) return;
    const color<T> c{own_color};
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
    if (has_stars()) {
      const int group = group_of(side, distance), end = end_of_star(side, group);
      if (distance > leaders_[side][group]) return 0;
      const bool hands_on = distance > 0 && followed(side, group);  // the last words, while they come
      if (const int kept = end - distance - hands_on; kept > 0) hear(distance + 1, kept);
      if (hands_on) hear(end);
    } else if (how_ == tactic::tree) {
      for (int k = 0; k < levels(side) && distance % (2 << k) == 0; ++k) hear(distance + (1 << k));
    } else {
      const int group = group_of(side, distance), end = end_of(side, group);
      if (distance + 1 < end) hear(distance + 1);
      if (distance == leaders_[side][group]) hear(end);
    }
    return to.size() - before;
  }

  tactic how_;
  lines where_;
  distances leaders_[2];
};

}  // namespace wsl::collective

namespace wsl {
using collective::tactic;
}
