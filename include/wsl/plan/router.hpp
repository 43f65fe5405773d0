// SPDX-License-Identifier: MIT
// Finds the way of a net: a shortest path (A*) from the tree that is there already to each end, one after the
// other. A way leads over free PEs and over those of the regions that it connects, never over a PE that another
// net of the same class passes. Where other classes pass it costs more, as much as the caller says.
#pragma once
#include <algorithm>
#include <vector>

#include "territory.hpp"

namespace wsl::planning {

class router {
 public:
  constexpr explicit router(const territory& grid)
      : grid_(grid), cost_(grid.size(), 0), stamp_(grid.size(), 0), tree_(grid.size(), 0), entered_(grid.size(), 0) {}

  /// The cost of a hop onto a free PE; costs of sharing a PE are in these units.
  static constexpr int hop = 64;

  /// The way of a net; `sharing` is the cost of each other class on a PE. `found` is false if an
  /// end cannot be reached: then `lost()` is that end.
  constexpr net_route way_of(const net& n, int sharing) {
    net_ = &n, sharing_ = sharing;
    ++tree_now_;
    net_route r;
    if (n.root.at != nowhere) add(r, root_step(n.root.at));
    for (const net_end& leaf : in_order()) {
      if (!extend(r, leaf)) {
        lost_ = leaf;
        return r;
      }
    }
    r.found = true;
    return r;
  }
  constexpr const net_end& lost() const { return lost_; }
  /// Calls f(PE) for the PEs that the last net has reached.
  template <class F>
  constexpr void each_reached(F f) const {
    for (std::size_t i = 0; i < stamp_.size(); ++i)
      if (stamp_[i] == now_) f(grid_.at(i));
  }

 private:
  struct open_cell {
    int total, cost;
    std::size_t cell;
    /// The heap's first is the cheapest, of equals the one that has come farthest.
    friend constexpr bool operator<(const open_cell& a, const open_cell& b) {
      if (a.total != b.total) return a.total > b.total;
      if (a.cost != b.cost) return a.cost < b.cost;
      return a.cell > b.cell;
    }
  };

  // Words go away from the root, or to it if the net merges.
  constexpr net_step root_step(coord at) const {
    const net_end& e = net_->root;
    return net_->merges ? net_step{at, {}, e.inner} : net_step{at, e.inner, {}};
  }
  constexpr void join_out(net_step& s, port side) const {
    net_->merges ? s.from = s.from | ports{side} : s.to = s.to | ports{side};
  }
  constexpr void join_in(net_step& s, port side) const {
    net_->merges ? s.to = s.to | ports{side} : s.from = s.from | ports{side};
  }

  /// The leaves, those that are near the root first.
  constexpr std::vector<net_end> in_order() const {
    std::vector<net_end> all = net_->leaves;
    const coord root = net_->root.at;
    const auto far = [&](const net_end& e) {
      if (e.at == nowhere || root == nowhere) return 0;
      return distance(e.at, root);
    };
    for (std::size_t i = 1; i < all.size(); ++i)
      for (std::size_t k = i; k > 0 && far(all[k]) < far(all[k - 1]); --k) std::swap(all[k], all[k - 1]);
    return all;
  }
  static constexpr int distance(coord a, coord b) {
    return (a.x < b.x ? b.x - a.x : a.x - b.x) + (a.y < b.y ? b.y - a.y : a.y - b.y);
  }

  constexpr bool is_end(coord c, const net_end& e) const { return e.at == c; }
  /// Whether the net may pass a PE on its way.
  constexpr bool passable(coord c) const {
    const int owner = grid_.owner(c);
    if (owner == territory::of_layout) return false;
    if (owner >= 0 && owner != net_->root.region) {
      bool own = false;
      for (const net_end& e : net_->leaves) own |= e.region == owner;
      if (!own) return false;
    }
    bool free = true;
    grid_.each(c, [&](int of_class, int) { free &= of_class != net_->of_class; });
    return free;
  }
  constexpr int cost_of(coord c) const {
    int others = 0;
    grid_.each(c, [&](int of_class, int) { others += of_class != net_->of_class; });
    return hop + sharing_ * others + hop * grid_.penalty(c);
  }
  constexpr int at_least(coord c, const net_end& to) const {
    return to.at == nowhere ? 0 : hop * distance(c, to.at);
  }

  constexpr bool is_new(std::size_t i) const { return stamp_[i] != now_; }
  constexpr void reach(std::vector<open_cell>& open, coord c, int cost, port by, const net_end& to) {
    const std::size_t i = grid_.index(c);
    if (!is_new(i) && cost_[i] <= cost) return;
    stamp_[i] = now_, cost_[i] = cost, entered_[i] = static_cast<u8>(by);
    open.push_back({cost + at_least(c, to), cost, i});
    std::push_heap(open.begin(), open.end());
  }

  /// Leads the tree to one more leaf.
  constexpr bool extend(net_route& r, const net_end& to) {
    ++now_;
    std::vector<open_cell> open;
    if (r.steps.empty()) begin_at_the_edge(open, to);
    for (net_step& s : r.steps) {
      // a leaf of the tree goes no farther; the root leaves through its own sides
      const ports sides = s.at == net_->root.at ? net_->root.sides : branches(s.at) ? every_way : ports{};
      const ports used = s.from | s.to;
      if (to.at == nowhere)
        for (const port side : every_side)
          if (to.sides.has(side) && sides.has(side) && !used.has(side) && !grid_.has(s.at + step(side)))
            return join_out(s, side), r.host = s.at, true;
      for (const port side : every_side) {
        const coord c = s.at + step(side);
        if (!sides.has(side) || used.has(side) || !grid_.has(c)) continue;
        if (is_end(c, to) && to.sides.has(opposite(side))) reach(open, c, hop, side, to);
        else if (passable(c) && !in_tree(c)) reach(open, c, cost_of(c), side, to);
      }
    }
    while (!open.empty()) {
      std::pop_heap(open.begin(), open.end());
      const open_cell best = open.back();
      open.pop_back();
      if (best.cost > cost_[best.cell]) continue;
      const coord c = grid_.at(best.cell);
      if (is_end(c, to)) return trace(r, c, to), true;
      if (to.at == nowhere && leaves_the_grid(c, to)) return r.host = c, trace(r, c, to), true;
      for (const port side : every_side) {
        const coord next = c + step(side);
        if (!grid_.has(next) || in_tree(next)) continue;
        if (is_end(next, to)) {
          if (to.sides.has(opposite(side))) reach(open, next, best.cost + hop, side, to);
        } else if (passable(next)) {
          reach(open, next, best.cost + cost_of(next), side, to);
        }
      }
    }
    return false;
  }

  constexpr bool branches(coord c) const {
    for (const net_end& e : net_->leaves)
      if (e.at == c) return false;
    return true;
  }
  constexpr bool in_tree(coord c) const { return tree_[grid_.index(c)] == tree_now_; }
  constexpr void add(net_route& r, const net_step& s) {
    r.steps.push_back(s);
    tree_[grid_.index(s.at)] = tree_now_;
  }
  constexpr bool leaves_the_grid(coord c, const net_end& host) const {
    for (const port side : every_side)
      if (host.sides.has(side) && !grid_.has(c + step(side))) return true;
    return false;
  }
  /// A stream of the host enters at any PE of a side.
  constexpr void begin_at_the_edge(std::vector<open_cell>& open, const net_end& to) {
    for (int k = 0; k < (net_->root.sides.has(east) || net_->root.sides.has(west) ? grid_.height() : grid_.width());
         ++k) {
      const coord c = net_->root.sides.has(east)    ? coord{grid_.width() - 1, k}
                      : net_->root.sides.has(west)  ? coord{0, k}
                      : net_->root.sides.has(north) ? coord{k, 0}
                                                    : coord{k, grid_.height() - 1};
      const port inward = opposite(static_cast<port>(net_->root.sides.bits));
      if (is_end(c, to) ? to.sides.has(opposite(inward)) : passable(c)) reach(open, c, cost_of(c), inward, to);
    }
  }

  /// Writes down the way to c, from its end to the tree.
  constexpr void trace(net_route& r, coord c, const net_end& to) {
    net_step last{c, {}, {}};
    if (to.at == nowhere) {
      join_out(last, host_side(c, to));
    } else {
      last.from = net_->merges ? to.inner : ports{}, last.to = net_->merges ? ports{} : to.inner;
    }
    std::vector<net_step> way{last};
    for (;;) {
      const port by = static_cast<port>(entered_[grid_.index(way.back().at)]);
      join_in(way.back(), opposite(by));
      const coord before = way.back().at - step(by);
      if (!grid_.has(before)) {  // the host's edge
        r.host = way.back().at;
        break;
      }
      bool met = false;
      for (net_step& s : r.steps)
        if (s.at == before) join_out(s, by), met = true;
      if (met) break;
      net_step s{before, {}, {}};
      join_out(s, by);
      way.push_back(s);
    }
    while (!way.empty()) add(r, way.back()), way.pop_back();
  }
  constexpr port host_side(coord c, const net_end& host) const {
    for (const port side : every_side)
      if (host.sides.has(side) && !grid_.has(c + step(side))) return side;
    return ramp;
  }

  const territory& grid_;
  const net* net_ = nullptr;
  int sharing_ = 0, now_ = 0, tree_now_ = 0;
  net_end lost_;
  std::vector<int> cost_, stamp_, tree_;
  std::vector<u8> entered_;
};

}  // namespace wsl::planning
