// SPDX-License-Identifier: MIT
// What a reduction on lines costs, tactic by tactic, by the model of cost.hpp and inputs.hpp: a PE takes its inputs one after the other, and
// sends while it takes the last. Which tactic is the cheapest is what reduce.hpp asks.
#pragma once
#include "inputs.hpp"
#include "line_reduce.hpp"

namespace wsl::collective {

class reduce_cost {
 public:
  constexpr reduce_cost(const line_reduce& line, int words) : line_(line), words_(words) {}

  /// From the first operation's start to the last one's end.
  constexpr f64 cycles() const {
    if (line_.how() == tactic::star) return star_cycles();
    inputs all;
    f64 last_turned = 0;
    for (int side : {0, 1}) last_turned = later(last_turned, hear(all, side));
    return later(last_turned, taken(all, words_));
  }

 private:
  // Single values come in one operation a side: a value and its command pass for each PE, an element of a call takes longer, and what has
  // come meanwhile is waiting. Arrays come one by one. A sender is done when it has sent its command, a single value without an operation.
  constexpr f64 star_cycles() const {
    const int before = line_.where().reach(0), behind = line_.where().reach(1);
    if (line_.where().size() == 1) return 0;
    if (words_ > 1) {
      const input west = heard(0, 0, 1, 0), east = heard(1, 0, 1, 0);
      const f64 between = before && behind ? held_up(west, 0, east, words_) : 0;
      return later((line_.where().size() - 1) * (words_ + restart) - restart + handling + 1 + between, words_ + begin + 1 + issue);
    }
    const f64 first = before > 1 ? wse2.call * before : before, waiting = before ? first + restart + behind : 0;
    return later(later(2 * behind - 1, behind ? waiting : first), 2);
  }

  // What the root hears from one side, in its order, and when all switches are turned back. A PE keeps what comes in, all of it, but its last
  // input it hands on while it comes.
  constexpr f64 hear(inputs& to, int side) const {
    if (line_.where().reach(side) == 0) return 0;
    if (line_.how() != tactic::tree) return hear_groups(to, side);
    hear_tree(to, side);
    return 0;
  }
  constexpr input heard(int side, f64 first_word, int from, int shared) const { return {first_word, line_.color_of(side, from), side, shared}; }
  static constexpr f64 chained(int pes) { return pes * (handling + 1); }
  static constexpr f64 later(f64 a, f64 b) { return a > b ? a : b; }

  // A leader hears its group and then the next leader; the farthest, alone with its group, is the last of a chain.
  constexpr f64 hear_groups(inputs& to, int side) const {
    const line_reduce::distances& leaders = line_.leaders(side);
    const int last = leaders.size() - 1;
    f64 sends = 0, comes = chained(line_.where().reach(side) - leaders[last]);
    for (int i = last - 1; i >= 0; --i) {
      const f64 own = chained(leaders[i + 1] - leaders[i] - 1);
      sends = comes, comes = sends + (leaders[i + 1] - leaders[i]) + handling;
      if (i == 0 && own > 0) to.push_back(heard(side, own, 1, 0));
      if (i > 0 && own > 0) comes = later(comes, own + words_ + restart);
    }
    to.push_back(heard(side, comes, 1, 0));
    return last > 0 ? sends + words_ + 1 + restart : 0;
  }
  // The PE at distance 2^k with all its levels below k hands on its last input while it comes. In a line of n PEs beyond the root the last
  // of them has fewer, and so has the last of those beyond it: the bits of n are their levels.
  constexpr void hear_tree(inputs& to, int side) const {
    const int n = line_.where().reach(side);
    const auto level = [&](int k, f64 sends) { return heard(side, sends + (1 << k) + handling, 1 << k, 1 << k); };
    f64 ready = 0, last_comes = 0, last_sends = 0;
    input whole = level(0, 0);
    for (int k = 0; 1 << k <= n; ++k) {
      const f64 start = later(ready, whole.first_word);
      if (n >> k & 1) last_comes = last_sends + (1 << k) + handling, last_sends = later(last_comes, ready);
      to.push_back(whole);
      if (2 << k > n) to[to.size() - 1].first_word = last_comes;
      const input next = level(k + 1, start);
      ready = start + words_ + held_up(whole, start, next, words_) + restart;
      whole = next;
    }
  }

  const line_reduce& line_;
  int words_;
};

/// The cheapest of the tactics that need no more than so many colors. Two phases and a star take `switched` colors, and a star is good for
/// single values.
constexpr line_reduce cheapest(const lines& where, int words, int colors, bool switched) {
  line_reduce chosen{tactic::chain, where};
  for (tactic t : {tactic::two_phase, tactic::tree, tactic::star}) {
    const line_reduce l{t, where};
    const bool possible = l.colors() <= colors && (t == tactic::tree || switched) && (t != tactic::star || words == 1);
    if (possible && reduce_cost{l, words}.cycles() < reduce_cost{chosen, words}.cycles()) chosen = l;
  }
  return chosen;
}

}  // namespace wsl::collective
