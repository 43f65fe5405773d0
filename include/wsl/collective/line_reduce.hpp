// SPDX-License-Identifier: MIT
// Reductions of a line of PEs to its root, in five ways (most are compared in arXiv 2404.15888):
//   chain          each PE adds its words to those that pass
//   two_phase      chains within groups, then a chain of the groups' leaders, whose words pass the groups on
//                  routes that are switched when these are done
//   tree           at level k every odd multiple of 2^k sends to the multiple before it; where the root would
//                  receive more colors than a PE has queues, the lowest levels are chains
//   star           every PE sends its words straight to the root, the nearest first, on routes that are
//                  switched from one PE to the next
//   grouped_star   chains within groups, then a star of the groups' leaders
// All are one scheme: a PE adds input after input to its words and then sends the sum. Distances count from
// the root, for each arm separately. reduce_cost.hpp has the cost of each.
#pragma once
#include "../layout/switches.hpp"
#include "cost.hpp"
#include "relay.hpp"
#include "tree_levels.hpp"

namespace wsl::collective {

/// The algorithm of a reduction; `automatic` is the cheapest by the cost model.
enum class tactic : int { automatic, chain, two_phase, tree, star, grouped_star };

/// A tactic on lines with a root. Colors are counted from 0.
class line_reduce {
 public:
  /// One step of a PE: the input of one color is combined with the PE's words, before or behind them, and
  /// the result stays or is sent.
  struct step {
    i8 in = -1, out = -1;  ///< colors, -1 for none
    bool before = false;
    /// The command that follows the words that are sent: an advance for the first two routers on their way,
    /// or a reset for all of them.
    command behind = nop;
    i16 times = 1;  ///< the number of PEs that send, one after the other
  };
  using steps = support::inplace_vector<step, 64>;  // both arms of both axes, 15 levels each

  /// The groups of a star are chosen for `words` words.
  constexpr line_reduce(tactic how, const lines& where, int words)
      : how_(how),
        where_(where),
        leaders_{leaders_of(how, where.reach(0)), leaders_of(how, where.reach(1))},
        group_size_(group_size_for(how, words)),
        tree_{where.reach(0), where.reach(1)} {}

  using distances = support::inplace_vector<int, 48>;

  constexpr tactic how() const { return how_; }
  constexpr const lines& where() const { return where_; }
  /// The distances of the leaders of an arm in two phases; the root is the first.
  constexpr const distances& leaders(int side) const { return leaders_[side]; }
  constexpr bool is_star() const { return how_ == tactic::star || how_ == tactic::grouped_star; }
  /// For a star, the number of PEs in a group, and of leaders that send to the root. The PE nearest to the
  /// root leads its group; the farthest group may be smaller.
  constexpr int group_size() const { return group_size_; }
  constexpr int groups(int side) const { return (where_.reach(side) + group_size_ - 1) / group_size_; }
  constexpr int colors() const {
    if (where_.size() == 1) return 0;
    if (how_ == tactic::star) return (where_.reach(0) > 0) + (where_.reach(1) > 0);
    return how_ == tactic::tree ? tree_.colors() : 2;
  }
  constexpr const tree_levels& tree() const { return tree_; }

  /// The color that a PE sends. PEs receive one color and send the other, and so do leaders. The root
  /// receives its two arms on different colors, and a single arm on color 0.
  constexpr int color_of(int side, int distance) const {
    if (how_ == tactic::tree) return tree_.color_of(side, distance);
    const bool second = side == 1 && where_.reach(0) > 0;
    if (is_star()) return (place_of(distance) + second) % 2;
    return (offset_of(side, distance) + group_of(side, distance) + 1 + second) % 2;
  }

  /// Adds the paths of all lines to a layout, on the colors from `first` on; those of a star with more
  /// options.
  template <payload T, class... Option>
  constexpr void wire(layout& l, int first, const Option&... options) const {
    for (int side : {0, 1}) {
      const arm a = where_.side(side);
      if (is_star()) wire_star<T>(l, a, side, first, options...);
      else if (how_ == tactic::tree) {
        for (int d = 1; d < tree_.chain(); ++d)
          wire_hops<T>(l, a, {first + color_of(side, d)}, d, a.reach + 1, tree_.chain(), 1);
        for (int hop = tree_.chain(); hop <= a.reach; hop *= 2)
          wire_hops<T>(l, a, {first + color_of(side, hop)}, hop, a.reach + 1, 2 * hop, hop);
      } else
        for (int i = 0; i < leaders_[side].size(); ++i) wire_group<T>(l, a, side, i, first);
    }
  }

  /// Appends the steps of the PE at a position of its line, on the colors from `first` on. Returns whether
  /// that PE then has the line's result.
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

 private:
  // In a star a group has one PE more than there are words: while the next leader's words travel to it, its
  // own words and their command pass.
  static constexpr int group_size_for(tactic how, int words) {
    if (how != tactic::grouped_star) return 1;
    return words < most_stride ? words + 1 : most_stride;
  }
  // From the far end a group has 4 PEs, 5, 7, 9, 11, 14 and so on: while the words from beyond cross the
  // links of a group, a cycle each, and the ramp twice, its own chain, with a ramp for each PE, is just
  // done. The rest is the root's group.
  static constexpr distances leaders_of(tactic how, int reach) {
    distances outside_in, leaders;
    int pes = 4;
    for (int d = reach + 1 - pes; how == tactic::two_phase && d > 0; d -= pes)
      outside_in.push_back(d), pes += pes / handling + 1;
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
  constexpr int offset_of(int side, int distance) const {
    return distance - leaders_[side][group_of(side, distance)];
  }
  constexpr bool followed(int side, int group) const { return group + 1 < leaders_[side].size(); }
  constexpr int end_of(int side, int group) const {
    return followed(side, group) ? leaders_[side][group + 1] : where_.reach(side) + 1;
  }

  /// The place of a PE in its group of a star; its leader has place 0.
  constexpr int place_of(int distance) const { return (distance - 1) % group_size_; }
  constexpr int last_leader(int side) const { return (groups(side) - 1) * group_size_ + 1; }

  /// The command that follows the words of a PE. The words of a leader are the last on their way.
  constexpr command behind(int side, int distance) const {
    if (is_star())
      return distance == last_leader(side)                            ? switch_rst
             : distance > last_leader(side) || place_of(distance) % 2 ? nop
                                                                      : switch_adv;
    if (how_ != tactic::two_phase) return nop;
    const int group = group_of(side, distance), offset = offset_of(side, distance);
    if (offset == 0) return distance - leaders_[side][group - 1] > 1 ? switch_rst : nop;
    return followed(side, group) && offset % 2 ? switch_adv : nop;
  }

  // A chain. If another leader follows, its words travel on every other link's color. A router first takes
  // words from its own PE, or delivers those of the next one; the command behind them lets the words from
  // beyond pass, and the command behind the leader's words turns all switches back.
  template <payload T>
  constexpr void wire_group(layout& l, const arm& a, int side, int group, int first) const {
    const int leader = leaders_[side][group], end = end_of(side, group);
    const auto line = [&](int distance) { return color<T>{first + color_of(side, distance)}; };
    wire_hops<T>(l, a, line(leader + 2), leader + 2, end, 2, 1);
    if (!followed(side, group)) return wire_hops<T>(l, a, line(leader + 1), leader + 1, end, 2, 1);
    const color<T> c = line(end);
    const bool takes_none = (end - leader) % 2;  // the last PE before the next leader, on this color
    l.path(c, a.cell(leader), a.outward >> ramp);
    l.path(c, a.cells(leader + 1, end, 2), ramp >> a.inward(),
           switches{.pos1 = {.from = a.outward}, .pop = pop::on_advance});
    l.path(c, a.cells(leader + 2, end - takes_none, 2), a.outward >> ramp,
           switches{.pos1 = {.to = a.inward()}, .pop = pop::on_advance});
    if (takes_none && end - leader > 1) l.path(c, a.cell(end - 1), a.outward >> a.inward());
    l.path(c, a.cell(end), ramp >> a.inward());
  }

  // At first a router takes words from its own PE, or delivers those of the next one in its group. The
  // command behind them lets the words from beyond pass, and that of the last leader turns all switches
  // back for the next call. The last leader has no leader beyond it: it has a switch because commands only
  // travel over routes with switches.
  template <payload T, class... Option>
  constexpr void wire_star(layout& l, const arm& a, int side, int first, const Option&... options) const {
    if (a.reach == 0) return;
    const color<T> leaders{first + color_of(side, 1)}, others{first + color_of(side, 2)};
    const int last = last_leader(side), size = group_size_;
    const switches then_from_beyond{.pos1 = {.from = a.outward}, .pop = pop::on_advance},
        then_inward{.pos1 = {.to = a.inward()}, .pop = pop::on_advance};
    for (int place = 0; place < size; place += 2) {
      l.path(leaders, a.cells(1 + place, last, size), ramp >> a.inward(), then_from_beyond, options...);
      if (place > 0) l.path(leaders, a.cells(place, last, size), a.outward >> ramp, then_inward, options...);
    }
    if (size % 2 == 0) l.path(leaders, a.cells(size, last, size), a.outward >> a.inward(), options...);
    l.path(leaders, a.cell(last), ramp >> a.inward(), then_inward, options...);
    l.path(leaders, a.roots, a.outward >> ramp, options...);
    for (int place = 1; place < size; place += 2) wire_hops<T>(l, a, others, 1 + place, last, size, 1);
    wire_hops<T>(l, a, others, last + 1, a.reach + 1, 2, 1);
    wire_hops<T>(l, a, leaders, last + 2, a.reach + 1, 2, 1);
  }

  constexpr int add_inputs(steps& to, int first, int side, int distance) const {
    const int before = to.size();
    const auto receive_from = [&](int from, int times = 1) {
      if (from > where_.reach(side)) return;
      to.push_back(
          {static_cast<i8>(first + color_of(side, from)), -1, side == 0, nop, static_cast<i16>(times)});
    };
    if (is_star()) {
      if (distance == 0) receive_from(1, groups(side));
      else if (place_of(distance) + 1 < group_size_) receive_from(distance + 1);
    } else if (how_ == tactic::tree) {
      if (tree_.is_chained(distance + 1)) receive_from(distance + 1);
      for (int hop = tree_.chain(); hop <= where_.reach(side) && distance % (2 * hop) == 0; hop *= 2)
        receive_from(distance + hop);
    } else {
      const int group = group_of(side, distance), end = end_of(side, group);
      if (distance + 1 < end) receive_from(distance + 1);
      if (distance == leaders_[side][group]) receive_from(end);
    }
    return to.size() - before;
  }

  tactic how_;
  lines where_;
  distances leaders_[2];
  int group_size_;
  tree_levels tree_;
};

}  // namespace wsl::collective

namespace wsl {
using collective::tactic;
}
