// SPDX-License-Identifier: MIT
// How the PEs of a line add up to a root, in three ways. A chain: each PE adds its words to those that pass. Two phases: chains in groups
// of about sqrt(P), then a chain of their leaders. A tree: at level k every odd multiple of 2^k sends to the multiple before. All are one
// scheme: a PE joins what comes in, color after color, and sends what it then has. Distances count from the root, each arm for itself.
#pragma once
#include "cost.hpp"
#include "relay.hpp"

namespace wsl::collective {

/// How a reduction goes about it; `automatic` takes the cheapest by the model.
enum class tactic : int { automatic, chain, two_phase, tree };

/// A tactic on lines with a root. Colors are counted from 0.
class line_reduce {
 public:
  /// One step of a PE: what comes in on a color is joined with what it has, before it or behind it, and the result stays or goes out.
  struct step {
    i8 in = -1, out = -1;  ///< colors, -1 for none
    bool before = false;
  };
  using steps = inplace_vector<step, 64>;  // both arms of both axes, 15 levels each

  constexpr line_reduce(tactic how, const lines& where) : how_(how), where_(where), group_(group_of(how, where.farthest())) {}

  /// The cheapest of the tactics that need no more than so many colors.
  static constexpr tactic best(const lines& where, int words, int colors) {
    tactic chosen = tactic::chain;
    for (tactic t : {tactic::two_phase, tactic::tree}) {
      const line_reduce l{t, where};
      if (l.colors() <= colors && l.cycles(words) < line_reduce{chosen, where}.cycles(words)) chosen = t;
    }
    return chosen;
  }

  constexpr int colors() const {
    if (size() == 1) return 0;
    return how_ == tactic::tree ? levels(0) + levels(1) : how_ == tactic::two_phase ? 4 : 2;
  }

  /// Adds the paths of all lines to a layout, on the colors from `first` on.
  template <payload T>
  constexpr void wire(layout& l, int first) const {
    for (int side : {0, 1}) {
      const arm a = where_.side(side);
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
    const int inputs = add_inputs(to, first, side, distance);
    if (inputs == 0) to.push_back({});
    to[to.size() - 1].out = static_cast<i8>(first + color_of(side, distance));
    return false;
  }

  /// The root takes its inputs one after the other, each when its first word is there.
  constexpr f64 cycles(int words) const {
    f64 now = 0;
    for (int side : {0, 1}) {
      const arrivals a = arrivals_at_root(side, words);
      for (const arrival& input : a) now = taken(now, input, words);
    }
    return now;
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
    if (how_ == tactic::tree) return tree_color(side, level_of(distance));
    if (how_ == tactic::two_phase && distance % group_ == 0) return 2 + (distance / group_ + side) % 2;
    return (distance + side) % 2;
  }

  constexpr int add_inputs(steps& to, int first, int side, int distance) const {
    const int before = to.size();
    const auto hear = [&](int from) {
      if (from <= where_.reach(side)) to.push_back({static_cast<i8>(first + color_of(side, from)), -1, side == 0});
    };
    if (how_ == tactic::tree) {
      for (int k = 0; k < levels(side) && distance % (2 << k) == 0; ++k) hear(distance + (1 << k));
    } else {
      if (how_ == tactic::chain || (distance + 1) % group_ != 0) hear(distance + 1);
      if (how_ == tactic::two_phase && distance % group_ == 0) hear(distance + group_);
    }
    return to.size() - before;
  }

  // When the first word of each of the root's inputs arrives, and over how many links. A PE keeps what comes in, all of it, but its last
  // input it hands on while it comes.
  struct arrival {
    f64 first_word = 0;
    int hops = 0;
  };
  using arrivals = inplace_vector<arrival, 16>;
  static constexpr f64 later(f64 a, f64 b) { return a > b ? a : b; }
  /// When an input is taken that follows one taken at `before`, or is the first.
  static constexpr f64 taken(f64 before, const arrival& input, int words) {
    const f64 ready = before > 0 ? before + restart : 0;
    return words + later(ready, input.first_word) + moving_up(words, input.hops, ready - input.first_word);
  }
  constexpr arrivals arrivals_at_root(int side, int words) const {
    const int n = where_.reach(side);
    arrivals a;
    if (n == 0) return a;
    if (how_ == tactic::chain) a.push_back({f64(n * (handling + 1)), 1});
    if (how_ == tactic::two_phase) two_phase_arrivals(a, n, words);
    if (how_ == tactic::tree) tree_arrivals(a, n, words);
    return a;
  }
  constexpr void two_phase_arrivals(arrivals& a, int n, int words) const {
    const int leaders = n / group_, last_group = n - leaders * group_;
    const auto chain = [](int pes) { return pes * (handling + 1); };
    a.push_back({f64(chain(leaders ? group_ - 1 : n)), 1});
    if (leaders == 0) return;
    const f64 others_ready = chain(group_ - 1) + words + restart;
    f64 sends = last_group ? chain(last_group) : 0;  // alone with its group, the farthest leader hands on what comes in
    for (int k = 1; k < leaders; ++k) {
      const f64 comes = sends + group_ + handling;
      sends = later(others_ready, comes) + moving_up(words, group_, others_ready - comes);
    }
    a.push_back({sends + group_ + handling, group_});
  }
  // The PE at distance 2^k with all its levels below k hands on its last input while it comes. In a line of n PEs beyond the root the last
  // of them has fewer, and so has the last of those beyond it: the bits of n are their levels.
  constexpr void tree_arrivals(arrivals& a, int n, int words) const {
    f64 kept = 0, whole_sends = 0, last_sends = 0, last_comes = 0;
    for (int k = 0; 1 << k <= n; ++k) {
      const f64 ready = k > 0 ? kept + restart : 0;  // the inputs below k are kept
      if (n >> k & 1) last_comes = last_sends + (1 << k) + handling, last_sends = later(last_comes, ready);
      a.push_back({2 << k > n ? last_comes : whole_sends + (1 << k) + handling, 1 << k});
      whole_sends = later(a[k].first_word, ready);
      kept = taken(kept, a[k], words);
    }
  }

  tactic how_;
  lines where_;
  int group_;
};

}  // namespace wsl::collective
