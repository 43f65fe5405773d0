// SPDX-License-Identifier: MIT
// The cost of a reduction on lines, tactic by tactic, by the model of cost.hpp and inputs.hpp: a PE receives
// its inputs one after the other and sends its sum while it receives the last. reduce.hpp asks this header
// which tactic is the cheapest.
#pragma once
#include "inputs.hpp"
#include "line_reduce.hpp"

namespace wsl::collective {

class reduce_cost {
 public:
  constexpr reduce_cost(const line_reduce& line, int words) : line_(line), words_(words) {}

  /// From the first operation's start to the last one's end.
  constexpr f64 cycles() const {
    if (line_.is_star()) return star_cycles();
    inputs all;
    f64 last_turned = 0;
    for (int side : {0, 1}) last_turned = later(last_turned, receive_from(all, side));
    return later(last_turned, taken(all, words_));
  }

 private:
  // The root receives one side in one operation, then the other. A sender is done when a task has sent the
  // command behind its words. A single value that waits for no other is sent without an operation, and its
  // command with it.
  constexpr f64 star_cycles() const {
    if (line_.where().size() == 1) return 0;
    const f64 before = star(0), behind = star(1);
    const f64 all =
        before > 0 && behind > 0 ? later(behind, before + restart + waiting_star()) : later(before, behind);
    const f64 done = at_once() ? 2. : later(grouped(0), grouped(1)) + words_ + begin + 1 + issue;
    return later(all, done);
  }
  // From the start of the root's operation to the last words of a side. The words of the second leader take
  // as long as a group, or wait for the first leader's command, which a task sends. Those of each later
  // leader take as long as a group, or wait for the turn of the leader before.
  constexpr f64 star(int side) const {
    const int leaders = line_.groups(side), size = line_.group_size();
    if (leaders == 0) return 0;
    if (at_once()) return 2 * leaders - 1 + on_the_way;
    const f64 first = star_begins(side) + words_;
    return leaders == 1 ? first : first + later(size, begin + turn()) + (leaders - 2) * later(size, turn());
  }
  /// Single values are sent at once, but not taken before the root's operation has begun.
  static constexpr f64 on_the_way = issue < handling + 1 ? handling + 1 - issue : 0;
  constexpr bool at_once() const {
    return words_ == 1 && (line_.group_size() == 1 || line_.where().farthest() == 1);
  }
  /// The time at which the first leader has its group's sum, and at which its words arrive at the root.
  constexpr f64 grouped(int side) const {
    const int reach = line_.where().reach(side), size = line_.group_size();
    return reach > 0 ? chained((reach < size ? reach : size) - 1) : 0;
  }
  constexpr f64 star_begins(int side) const { return grouped(side) + handling + 1; }
  // The turn of a leader: its words and its command, which follows at once if the words that wait fit on
  // their way.
  constexpr f64 turn() const {
    constexpr int places = wse2.output_depth[0] + ramp_latency + 2 * wse2.router_depth;
    const int waits = words_ + begin + 1 - line_.group_size();
    return words_ + 1 + (words_ > places && waits > places ? begin + 1 + handling - places : 0);
  }
  // The second side, when the root has received the first one: the words that fit a queue have already
  // arrived. They have delayed the words of a single leader; while more of them take turns the line has
  // pauses.
  constexpr f64 waiting_star() const {
    const input first = heard(0, star_begins(0), 1, 0), second = heard(1, star_begins(1), 1, 0);
    const f64 all = f64(line_.groups(1)) * words_, rest = all - second.depth() - 1;
    return later(all, rest / words_ * turn()) +
           (line_.groups(0) == 1 ? delay_by(first, first.first_word, second, words_) : 0);
  }

  // Adds the root's inputs from one side, in their order. The result is the time at which all switches are
  // turned back. A PE keeps the sums of its inputs, but passes on its last input while it arrives.
  constexpr f64 receive_from(inputs& to, int side) const {
    if (line_.where().reach(side) == 0) return 0;
    if (line_.how() != tactic::tree) return add_groups(to, side);
    add_tree(to, side);
    return 0;
  }
  constexpr input heard(int side, f64 first_word, int from, int shared) const {
    return {first_word, line_.color_of(side, from), side, shared};
  }
  static constexpr f64 chained(int pes) { return pes * (handling + 1); }
  static constexpr f64 later(f64 a, f64 b) { return a > b ? a : b; }

  // A leader receives its group and then the next leader. The farthest leader, alone with its group, is the
  // end of a chain.
  constexpr f64 add_groups(inputs& to, int side) const {
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
  // The PE at distance 2^k with all its levels below k passes on its last input while it arrives. In a line
  // of n PEs beyond the root the last of them has fewer levels, and so has the last of those beyond it: the
  // bits of n are their levels.
  // Where the lowest levels are chains, these are the first input of each of their leaders.
  constexpr void add_tree(inputs& to, int side) const {
    const int n = line_.where().reach(side), chain = line_.tree().chain();
    const auto level = [&](int k, f64 sends) {
      return heard(side, sends + (1 << k) + handling, 1 << k, 1 << k);
    };
    const f64 begun = chained(n < chain ? n : chain - 1);
    f64 ready = chain > 1 ? begun + words_ + restart : 0, last_comes = 0, last_sends = chained(n % chain);
    if (chain > 1) to.push_back(heard(side, begun, 1, 0));
    int k = 0;
    while (1 << k < chain) ++k;
    input whole = level(k, begun);
    for (; 1 << k <= n; ++k) {
      const f64 start = later(ready, whole.first_word);
      if (n >> k & 1) last_comes = last_sends + (1 << k) + handling, last_sends = later(last_comes, ready);
      to.push_back(whole);
      if (2 << k > n) to[to.size() - 1].first_word = last_comes;
      const input next = level(k + 1, start);
      ready = start + words_ + delay_by(whole, start, next, words_) + restart;
      whole = next;
    }
  }

  const line_reduce& line_;
  int words_;
};

/// The cheapest of the tactics that need at most `colors` colors, a tree at most `of_tree`. Two phases and
/// stars need routes with switches, which `switched` allows.
constexpr line_reduce cheapest(const lines& where, int words, int colors, bool switched, int of_tree) {
  line_reduce chosen{tactic::chain, where, words};
  for (tactic t : {tactic::two_phase, tactic::tree, tactic::star, tactic::grouped_star}) {
    const line_reduce l{t, where, words};
    const bool possible = t == tactic::tree ? l.colors() <= of_tree : l.colors() <= colors && switched;
    if (possible && reduce_cost{l, words}.cycles() < reduce_cost{chosen, words}.cycles()) chosen = l;
  }
  return chosen;
}

}  // namespace wsl::collective
