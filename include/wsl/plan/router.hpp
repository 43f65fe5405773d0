// SPDX-License-Identifier: MIT
// Finds the way of a net: a shortest path (A*) from the tree that is there already to each end, one after the
// other. A way leads over free PEs and over those of the regions that it connects, never over a PE that
// another net of the same class passes. Where other classes pass it costs more, as much as the caller says.
#pragma once
#include <limits>
#include <vector>

#include "territory.hpp"

namespace wsl::planning {

class router {
 public:
  constexpr explicit router(const territory& grid)
      : grid_(grid),
        cost_(grid.count()),
        stamp_(grid.count()),
        tree_(grid.count()),
        off_(grid.count()),
        met_(grid.count()),
        entered_(grid.count()) {}

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
  /// From now on a way of d hops is given up where it would become longer than a x d + b; without limit if a
  /// is 0.
  constexpr void give_up_beyond(int a, int b) { detour_ = a, more_ = b; }
  /// From now on nets keep off the PEs that f(keep_off) is called for, by keep_off(PE).
  template <class F>
  constexpr void keep_off(F each) {
    ++off_now_;
    each([&](coord c) { off_.data()[grid_.index(c)] = off_now_; });
  }

  /// From now on a net may pass PEs on the ways of others of its class, at this price for each in hops, and
  /// at a higher one where they have met; with 0 it may not, and where they have met is forgotten.
  constexpr void share_with_own(int price) {
    own_price_ = hop * price;
    if (price > 0) return;
    for (const coord c : meetings_) met_.data()[grid_.index(c)] = 0;
    meetings_.clear();
  }
  constexpr void note_meeting(coord c) {
    ++met_.data()[grid_.index(c)];
    meetings_.push_back(c);
  }

  constexpr const net_end& lost() const { return lost_; }
  /// Calls f(PE) for the PEs that the last net has reached.
  template <class F>
  constexpr void each_reached(F f) const {
    for (std::size_t i = 0; i < grid_.size(); ++i)
      if (stamp_.data()[i] == now_) f(grid_.at(i));
  }

 private:
  struct open_cell {
    int total, cost;
    std::size_t cell;
  };
  /// The PEs that have been reached, the one with the lowest total first; of equals the one that came last,
  /// which is the one that is on its way to the end. Most totals are the lowest, or two hops more: they wait
  /// in lists by total, of which few are in use at a time.
  class open_list {
   public:
    constexpr bool empty() const { return size_ == 0; }
    constexpr void clear() { lists_.clear(), size_ = 0; }
    constexpr void add(const open_cell& c) {
      ++size_;
      std::size_t k = lists_.size();  // sorted, the lowest last
      while (k > 0 && lists_[k - 1].total < c.total) --k;
      if (k > 0 && lists_[k - 1].total == c.total) return lists_[k - 1].cells.push_back(c);
      lists_.insert(lists_.begin() + static_cast<std::ptrdiff_t>(k), {c.total, {c}});
    }
    constexpr open_cell take() {
      --size_;
      std::vector<open_cell>& cells = lists_.back().cells;
      const open_cell c = cells.back();
      cells.pop_back();
      if (cells.empty()) lists_.pop_back();
      return c;
    }

   private:
    struct of_total {
      int total;
      std::vector<open_cell> cells;
    };
    std::vector<of_total> lists_;
    std::size_t size_ = 0;
  };

  // Words go away from the root, or to it if the net merges.
  constexpr net_step root_step(coord at) const {
    const net_end& e = net_->root;
    return net_->merges ? net_step{at, {}, e.inner, {}, e.positions}
                        : net_step{at, e.inner, {}, {}, e.positions};
  }
  constexpr net_step leaf_step(const net_end& e) const {
    return net_->merges ? net_step{e.at, e.inner, {}, {}, e.positions}
                        : net_step{e.at, {}, e.inner, e.deal, e.positions};
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

  /// The cost for the net to pass a PE on its way, or -1 if it may not.
  constexpr int cost_of(std::size_t i) const {
    if (const int owner = grid_.owner(i); owner != territory::free) {
      if (owner == territory::of_layout) return -1;
      bool own = owner == net_->root.region;
      for (const net_end& e : net_->leaves) own |= e.region == owner;
      if (!own) return -1;
    }
    if (off_.data()[i] == off_now_) return -1;
    const territory::company there = grid_.on(i, net_->of_class);
    if (there.stays || (there.own > 0 && own_price_ == 0)) return -1;
    return hop + sharing_ * there.others + hop * (grid_.penalty(i) + met_.data()[i]) + own_price_ * there.own;
  }
  constexpr int at_least(coord c, const net_end& to) const {
    return to.at == nowhere ? 0 : hop * distance(c, to.at);
  }

  // Most nets have a way of at most two bends. Looking at a few of these first costs a small part of a
  // search, which matters in a constant expression. The search follows only where none of them is free.

  /// The cost of going straight from one PE to another, without the first and with the last; -1 if not free.
  constexpr int cost_of_line(coord from, coord to, coord end) const {
    const coord d{to.x > from.x ? 1 : to.x < from.x ? -1 : 0, to.y > from.y ? 1 : to.y < from.y ? -1 : 0};
    int sum = 0;
    for (coord c = from; c != to;) {
      c = c + d;
      const int cost = c == end ? hop : cost_of(grid_.index(c));
      if (cost < 0) return -1;
      sum += cost;
    }
    return sum;
  }
  static constexpr port toward(coord from, coord to) {
    return to.x > from.x ? east : to.x < from.x ? west : to.y < from.y ? north : to.y > from.y ? south : ramp;
  }
  struct bent_way {
    coord first, second;
    int cost = -1;
  };
  /// The way from the root over two corners, if the ends allow it and it is free.
  constexpr void consider(bent_way& best, coord first, coord second, const net_end& to) const {
    if (best.cost >= 0 && sharing_ == 0) return;  // all of two bends at most are of one length
    const coord root = net_->root.at, end = to.at;
    const port out = toward(root, first != root    ? first
                                  : second != root ? second
                                                   : end),
               in = toward(second != end  ? second
                           : first != end ? first
                                          : root,
                           end);
    if (!net_->root.sides.has(out) || !to.sides.has(opposite(in))) return;
    int cost = 0;
    coord from = root;
    for (const coord corner : {first, second, end}) {
      const int line = cost_of_line(from, corner, end);
      if (line < 0) return;
      cost += line, from = corner;
    }
    if (best.cost < 0 || cost < best.cost) best = {first, second, cost};
  }
  constexpr bool goes_with_two_bends(net_route& r, const net_end& to) {
    const coord a = net_->root.at, b = to.at;
    if (a == nowhere || b == nowhere || a == b || r.steps.size() != 1 || own_price_ > 0) return false;
    bent_way best;
    if (a.x == b.x || a.y == b.y) {
      consider(best, a, b, to);
    } else {
      consider(best, {b.x, a.y}, b, to);
      consider(best, {a.x, b.y}, b, to);
      for (const int part : {1, 0, 2}) {
        if (net_->beside && part != 0) break;
        const int dx = b.x - a.x, dy = b.y - a.y, sx = dx < 0 ? -1 : 1, sy = dy < 0 ? -1 : 1;
        const int x = part == 1   ? a.x + dx / 2
                      : part == 0 ? a.x + sx
                                  : b.x - sx,
                  y = part == 1   ? a.y + dy / 2
                      : part == 0 ? a.y + sy
                                  : b.y - sy;
        if (x != a.x && x != b.x) consider(best, {x, a.y}, {x, b.y}, to);
        if (y != a.y && y != b.y) consider(best, {a.x, y}, {b.x, y}, to);
        if (best.cost >= 0 && sharing_ == 0) break;
      }
      // nets side by side turn one behind the other: the first place that is free
      for (int x = a.x + (b.x > a.x ? 1 : -1); net_->beside && best.cost < 0 && x != b.x;
           x += b.x > a.x ? 1 : -1)
        consider(best, {x, a.y}, {x, b.y}, to);
      for (int y = a.y + (b.y > a.y ? 1 : -1); net_->beside && best.cost < 0 && y != b.y;
           y += b.y > a.y ? 1 : -1)
        consider(best, {a.x, y}, {b.x, y}, to);
    }
    // with other nets on its PEs, there may be a better one
    if (best.cost < 0 || (sharing_ > 0 && best.cost > hop * distance(a, b))) return false;
    coord at = a;
    for (const coord corner : {best.first, best.second, b})
      while (at != corner) {
        const port side = toward(at, corner);
        join_out(at == a ? r.steps[0] : r.steps.back(), side);
        at = at + step(side);
        net_step next{at, {}, {}};
        if (at == b) next = leaf_step(to);
        join_in(next, opposite(side));
        add(r, next);
      }
    return true;
  }

  /// Leads the tree to one more leaf.
  constexpr bool extend(net_route& r, const net_end& to) {
    if (goes_with_two_bends(r, to)) return true;
    ++now_;
    longest_ = detour_ > 0 && to.at != nowhere && net_->root.at != nowhere
                   ? hop * (detour_ * distance(net_->root.at, to.at) + more_)
                   : std::numeric_limits<int>::max();
    open_.clear();
    if (r.steps.empty()) begin_at_the_edge(to);
    for (net_step& s : r.steps) {
      // a leaf of the tree goes no farther; the root leaves through its own sides
      const ports sides = s.at == net_->root.at ? net_->root.sides : branches(s.at) ? every_way : ports{};
      const ports used = s.from | s.to;
      if (to.at == nowhere)
        for (const port side : every_side)
          if (to.sides.has(side) && sides.has(side) && !used.has(side) && !grid_.has(s.at + step(side)))
            return join_out(s, side), r.host = s.at, true;
      for (const port side : every_side)
        if (sides.has(side) && !used.has(side)) look(s.at + step(side), 0, side, to);
    }
    while (!open_.empty()) {
      const open_cell best = open_.take();
      if (best.cost > cost_.data()[best.cell]) continue;
      const coord c = grid_.at(best.cell);
      if (c == to.at) return trace(r, c, to), true;
      if (to.at == nowhere && leaves_the_grid(c, to)) return r.host = c, trace(r, c, to), true;
      for (const port side : every_side) look(c + step(side), best.cost, side, to);
    }
    return false;
  }
  /// Comes to a PE through a side of the one before, at whose cost.
  constexpr void look(coord c, int cost, port by, const net_end& to) {
    if (!grid_.has(c)) return;
    const std::size_t i = grid_.index(c);
    if (stamp_.data()[i] == now_ && cost_.data()[i] <= cost + hop) return;
    if (tree_.data()[i] == tree_now_) return;
    const int more = c == to.at ? (to.sides.has(opposite(by)) ? hop : -1) : cost_of(i);
    if (more < 0 || (stamp_.data()[i] == now_ && cost_.data()[i] <= cost + more)) return;
    const int total = cost + more + at_least(c, to);
    if (total > longest_) return;
    stamp_.data()[i] = now_, cost_.data()[i] = cost + more, entered_.data()[i] = static_cast<u8>(by);
    open_.add({total, cost + more, i});
  }

  constexpr bool branches(coord c) const {
    for (const net_end& e : net_->leaves)
      if (e.at == c) return false;
    return true;
  }
  constexpr void add(net_route& r, const net_step& s) {
    r.steps.push_back(s);
    tree_.data()[grid_.index(s.at)] = tree_now_;
  }
  constexpr bool leaves_the_grid(coord c, const net_end& host) const {
    for (const port side : every_side)
      if (host.sides.has(side) && !grid_.has(c + step(side))) return true;
    return false;
  }
  /// A stream of the host enters at any PE of a side.
  constexpr void begin_at_the_edge(const net_end& to) {
    for (int k = 0;
         k < (net_->root.sides.has(east) || net_->root.sides.has(west) ? grid_.height() : grid_.width());
         ++k) {
      const coord c = net_->root.sides.has(east)    ? coord{grid_.width() - 1, k}
                      : net_->root.sides.has(west)  ? coord{0, k}
                      : net_->root.sides.has(north) ? coord{k, 0}
                                                    : coord{k, grid_.height() - 1};
      const port inward = opposite(static_cast<port>(net_->root.sides.bits));
      look(c, 0, inward, to);
    }
  }

  /// Writes down the way to c, from its end to the tree.
  constexpr void trace(net_route& r, coord c, const net_end& to) {
    net_step last{c, {}, {}};
    if (to.at == nowhere) join_out(last, host_side(c, to));
    else last = leaf_step(to);
    std::vector<net_step> way{last};
    for (;;) {
      const port by = static_cast<port>(entered_.data()[grid_.index(way.back().at)]);
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
  int sharing_ = 0, own_price_ = 0, detour_ = 0, more_ = 0, longest_ = 0, now_ = 0, tree_now_ = 0,
      off_now_ = 1;
  net_end lost_;
  open_list open_;
  rules::scratch<int> cost_, stamp_, tree_, off_, met_;  // by PE
  std::vector<coord> meetings_;
  rules::scratch<u8> entered_;
};

}  // namespace wsl::planning
