// SPDX-License-Identifier: MIT
// The last resort for few nets on a small grid: tries all ways and colors, one after the other, until
// everything fits, or until a number of steps is used up. So a small floor plan is refused only if there is
// no solution.
#pragma once
#include <bit>
#include <utility>
#include <vector>

#include "territory.hpp"

namespace wsl::planning {

class exhaustive {
 public:
  /// It must know of a class: the PEs of its inner paths, the classes that are in one region with it,
  /// the colors that it may have at all, and the color that it has in any case, or -1.
  struct class_rules {
    std::vector<coord> inner;
    std::vector<int> apart;
    u64 allowed = 0;
    int fixed = -1;
  };

  /// `barred` are the colors that no net may have on a PE, by its index.
  constexpr exhaustive(const territory& grid, const std::vector<net>& nets,
                       const std::vector<class_rules>& rules, const std::vector<u64>& barred, long steps)
      : grid_(grid),
        nets_(nets),
        rules_(rules),
        barred_(barred),
        left_(steps),
        used_(grid.size(), 0),
        color_(rules.size(), -1),
        ways_(nets.size()) {
    for (const u64 b : barred) special_ |= b;
    for (const class_rules& r : rules) special_ |= ~r.allowed;
  }

  constexpr bool solve() {
    for (std::size_t k = 0; k < rules_.size(); ++k) order_.push_back(static_cast<int>(k));
    return next_class(0);
  }
  /// Whether it has tried everything.
  constexpr bool has_tried_all() const { return left_ > 0; }
  constexpr int color(int of_class) const { return color_[static_cast<std::size_t>(of_class)]; }
  constexpr net_route way(std::size_t n) const {
    net_route r = ways_[n];
    r.found = true;
    return r;
  }

 private:
  // Class by class: a color, then the nets one by one, each leaf by leaf, each step by step. Each
  // of these calls the next one inside of its loop over all that there is to try, so that it can come back.

  constexpr bool next_class(std::size_t nth) {
    if (nth == order_.size()) return true;
    const auto k = static_cast<std::size_t>(order_[nth]);
    bool tried_new = false;
    for (u64 left = rules_[k].allowed; left && left_ > 0; left &= left - 1) {
      const int c = std::countr_zero(left);
      if (rules_[k].fixed >= 0 && c != rules_[k].fixed) continue;
      const u64 bit = u64{1} << c;
      // colors that nothing has told apart yet are alike
      const bool is_new = !(in_use_ & bit) && !(special_ & bit);
      if (is_new && tried_new) continue;
      tried_new |= is_new;
      bool possible = true;
      for (const int other : rules_[k].apart) possible &= color_[static_cast<std::size_t>(other)] != c;
      if (!possible || !mark_fixed(k, bit)) continue;
      color_[k] = c;
      const u64 before = std::exchange(in_use_, in_use_ | bit);
      if (next_net(nth, 0)) return true;
      color_[k] = -1, in_use_ = before;
      unmark_fixed(k, bit);
    }
    return false;
  }
  /// The PEs where the class is in any case get its color. False, and nothing, if one has it already.
  constexpr bool mark_fixed(std::size_t k, u64 bit) {
    std::vector<coord> all = fixed_pes(k);
    for (const coord c : all)
      if ((used_[grid_.index(c)] | (rules_[k].fixed < 0 ? barred_[grid_.index(c)] : 0)) & bit) return false;
    for (const coord c : all) used_[grid_.index(c)] |= bit;
    return true;
  }
  constexpr void unmark_fixed(std::size_t k, u64 bit) {
    for (const coord c : fixed_pes(k)) used_[grid_.index(c)] &= ~bit;
  }
  constexpr std::vector<coord> fixed_pes(std::size_t k) const {
    std::vector<coord> all = rules_[k].inner;
    for (const net& n : nets_) {
      if (n.of_class != static_cast<int>(k)) continue;
      if (n.root.at != nowhere) all.push_back(n.root.at);
      for (const net_end& e : n.leaves)
        if (e.at != nowhere) all.push_back(e.at);
    }
    return all;
  }

  constexpr bool next_net(std::size_t nth, std::size_t from) {
    while (from < nets_.size() && nets_[from].of_class != order_[nth]) ++from;
    if (from == nets_.size()) return next_class(nth + 1);
    const net& n = nets_[from];
    ways_[from] = {};
    if (n.root.at != nowhere)
      ways_[from].steps.push_back(n.merges ? net_step{n.root.at, {}, n.root.inner, {}, n.root.positions}
                                           : net_step{n.root.at, n.root.inner, {}, {}, n.root.positions});
    return next_leaf(nth, from, 0);
  }
  constexpr bool next_leaf(std::size_t nth, std::size_t which, std::size_t leaf) {
    const net& n = nets_[which];
    if (leaf == n.leaves.size()) return next_net(nth, which + 1);
    const net_end& to = n.leaves[leaf];
    if (ways_[which].steps.empty()) return from_the_edge(nth, which, leaf);
    for (std::size_t s = 0; s < ways_[which].steps.size() && left_ > 0; ++s) {
      const net_step at = ways_[which].steps[s];
      bool is_leaf = false;
      for (const net_end& e : n.leaves) is_leaf |= e.at == at.at;
      const ports sides = at.at == n.root.at ? n.root.sides : is_leaf ? ports{} : every_way;
      if (sides.empty()) continue;
      for (const port side : every_side) {
        if (!sides.has(side) || (at.from | at.to).has(side)) continue;
        if (!grid_.has(at.at + step(side))) {
          if (to.at != nowhere || !to.sides.has(side)) continue;
          const net_route before = ways_[which];
          join_out(n, ways_[which].steps[s], side);
          ways_[which].host = at.at;
          if (next_leaf(nth, which, leaf + 1)) return true;
          ways_[which] = before;
          continue;
        }
        const net_route before = ways_[which];
        join_out(n, ways_[which].steps[s], side);
        if (go_on(nth, which, leaf, at.at + step(side), side, before.steps.size())) return true;
        ways_[which] = before;
      }
    }
    return false;
  }
  constexpr bool from_the_edge(std::size_t nth, std::size_t which, std::size_t leaf) {
    const port side = static_cast<port>(nets_[which].root.sides.bits);
    for (std::size_t i = 0; i < grid_.size() && left_ > 0; ++i) {
      const coord c = grid_.at(i);
      if (grid_.has(c + step(side))) continue;
      ways_[which].host = c;
      if (go_on(nth, which, leaf, c, opposite(side), 0)) return true;
      ways_[which] = {};
    }
    return false;
  }

  /// Steps onto c; `first` is where the way to this leaf begins in the steps of the net.
  constexpr bool go_on(std::size_t nth, std::size_t which, std::size_t leaf, coord c, port by,
                       std::size_t first) {
    if (--left_ <= 0) return false;
    const net& n = nets_[which];
    const net_end& to = n.leaves[leaf];
    if (c == to.at) {
      if (!to.sides.has(opposite(by))) return false;
      net_step last{c, n.merges ? to.inner : ports{}, n.merges ? ports{} : to.inner, to.deal, to.positions};
      join_in(n, last, opposite(by));
      ways_[which].steps.push_back(last);
      if (next_leaf(nth, which, leaf + 1)) return true;
      ways_[which].steps.pop_back();
      return false;
    }
    const u64 bit = u64{1} << color(n.of_class);
    const std::size_t i = grid_.index(c);
    if (!may_pass(n, c) || ((used_[i] | barred_[i]) & bit)) return false;
    // A way that comes beside itself has a shorter one on part of its PEs.
    std::vector<net_step>& steps = ways_[which].steps;
    for (std::size_t s = first; s + 1 < steps.size(); ++s)
      if (distance(steps[s].at, c) == 1) return false;
    net_step here{c, {}, {}};
    join_in(n, here, opposite(by));
    steps.push_back(here);
    used_[i] |= bit;
    const std::size_t mine = steps.size() - 1;
    for (const port side : every_side) {
      if (side == opposite(by)) continue;
      const coord next = c + step(side);
      const bool leaves = !grid_.has(next);
      if (leaves && !(to.at == nowhere && to.sides.has(side))) continue;
      ways_[which].steps[mine] = here;
      join_out(n, ways_[which].steps[mine], side);
      if (leaves) ways_[which].host = c;
      if (leaves ? next_leaf(nth, which, leaf + 1) : go_on(nth, which, leaf, next, side, first)) return true;
      ways_[which].steps.resize(mine + 1);
    }
    ways_[which].steps.pop_back();
    used_[i] &= ~bit;
    return false;
  }
  constexpr bool may_pass(const net& n, coord c) const {
    const int owner = grid_.owner(c);
    if (owner == territory::free) return true;
    if (owner == territory::of_layout) return false;
    bool own = owner == n.root.region;
    for (const net_end& e : n.leaves) own |= e.region == owner;
    return own;
  }
  static constexpr void join_out(const net& n, net_step& s, port side) {
    n.merges ? s.from = s.from | ports{side} : s.to = s.to | ports{side};
  }
  static constexpr void join_in(const net& n, net_step& s, port side) {
    n.merges ? s.to = s.to | ports{side} : s.from = s.from | ports{side};
  }

  const territory& grid_;
  const std::vector<net>& nets_;
  const std::vector<class_rules>& rules_;
  const std::vector<u64>& barred_;
  long left_;
  u64 special_ = 0, in_use_ = 0;
  std::vector<u64> used_;
  std::vector<int> color_, order_;
  std::vector<net_route> ways_;
};

}  // namespace wsl::planning
