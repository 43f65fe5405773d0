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
    if (line_.has_stars()) return star_cycles();
    inputs all;
    f64 last_turned = 0;
    for (int side : {0, 1}) last_turned = later(last_turned, hear(all, side));
    return later(last_turned, taken(all, words_));
  }

 private:
  // A leader hears its star and then, at its end, what the next leader has heard; all but the root hand that on while it comes. The farthest
  // leader gives what it has, a single value without an operation. A sender is done when a task has sent the command behind its words.
  constexpr f64 star_cycles() const {
    if (line_.where().size() == 1) return 0;
    const int begun = words_ > 1 ? begin : 0, issued = words_ > 1 ? issue : 0;
    f64 end = 0, done = words_ + begun + 1 + issued;
    for (int side : {0, 1}) {
      const int pes = line_.star_of(side, 0).reach, last = line_.leaders(side).size() - 1;
      if (pes == 0) continue;
      f64 comes = star(pes);
      if (last > 0) {
        f64 sends = star(line_.star_of(side, last).reach) + begin + issued;
        if (last == 1) done = later(done, sends + words_ + begun + 1 + issue);
        for (int i = last - 1; i > 0; --i) {
          const int size = line_.star_of(side, i).reach;
          sends = later(star(size - 1) + restart, sends + size + handling);
          done = later(done, sends + words_ + begin + 1 + issue);
        }
        comes = later(comes, sends + pes + handling + words_);
      }
      end = end > 0 ? later(comes, end + restart + waiting_star(pes)) : comes;
    }
    return later(end, done);
  }
  // From the start of a leader's operation to the last of so many PEs' words. A value and its command pass for each PE. With arrays the first
  // command has a task; those after it stand behind their words, if all of these have left their PE while others send.
  constexpr f64 star(int pes) const {
    if (words_ == 1) return 2 * pes - 1;
    if (pes == 1) return words_ + handling + 1;
    return words_ + begin + 1 + handling + (pes - 1) * turn();
  }
  constexpr f64 turn() const {
    constexpr int places = wse2.output_depth[0] + ramp_latency + 2 * wse2.router_depth;
    return words_ + 1 + (words_ > places ? begin + 1 + handling - places : 0);
  }
  // The same of a star behind the root, when that has heard the other: what fits a queue has come. It has held up the words of a single PE;
  // while more of them take turns the line has a rest.
  constexpr f64 waiting_star(int pes) const {
    const input before = heard(0, 0, 1, 0), behind = heard(1, 0, 1, 0);
    const f64 all = f64(pes) * words_, rest = all - behind.depth() - 1;
    return later(all, rest / words_ * turn()) + (line_.star_of(0, 0).reach == 1 ? held_up(before, 0, behind, words_) : 0);
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

/// The cheapest of the tactics that need no more than so many colors. Two phases and stars take `switched` colors.
constexpr line_reduce cheapest(const lines& where, int words, int colors, bool switched) {
  line_reduce chosen{tactic::chain, where};
  for (tactic t : {tactic::two_phase, tactic::tree, tactic::star, tactic::star_chain}) {
    const line_reduce l{t, where};
    const bool possible = l.colors() <= colors && (t == tactic::tree || switched);
    if (possible && reduce_cost{l, words}.cycles() < reduce_cost{chosen, words}.cycles()) chosen = l;
  }
  return chosen;
}

}  // namespace wsl::collective
