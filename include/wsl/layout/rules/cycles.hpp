// SPDX-License-Identifier: MIT
// No route may go in a circle: nothing would ever take the wavelet out of the fabric. A closed walk over a
// grid goes as often east as west and as often north as south, and it stays within one strongly connected
// component of the flow. So a join towards the east in a component without joins towards the west lies on no
// circle; such joins are dropped until nothing changes. Straight runs, turns, snakes, spirals and trees
// vanish in this way whatever their size; only what is left is decided by walking its PEs.
#pragma once
#include "walk.hpp"

namespace wsl::rules {

/// Strongly connected components of the chosen joins, by Tarjan's algorithm with its stacks made explicit.
class components {
 public:
  scratch<int> of;  ///< component of each record

  constexpr components(const flow& f, const scratch<bool>& chosen) : graph_(f, chosen), cursor_(0) {
    for (int i = 0; i < f.paths.size(); ++i)
      of.push_back(-1), index_.push_back(0), low_.push_back(0), cursor_.push_back(graph_.first[i]);
    for (int i = 0; i < f.paths.size(); ++i)
      if (index_[i] == 0) explore(i);
  }

 private:
  constexpr void explore(int root) {
    enter(root);
    while (!calls_.empty()) {
      const int v = calls_[calls_.size() - 1];
      if (cursor_[v] == graph_.first[v + 1]) leave(v);
      else visit(v, graph_.net.edges[graph_.out[cursor_[v]++]].to);
    }
  }
  constexpr void enter(int v) {
    index_[v] = low_[v] = ++clock_;
    calls_.push_back(v), open_.push_back(v);
  }
  constexpr void visit(int v, int w) {
    if (index_[w] == 0) enter(w);
    else if (of[w] < 0 && index_[w] < low_[v]) low_[v] = index_[w];
  }
  constexpr void leave(int v) {
    calls_.pop_back();
    if (!calls_.empty()) {
      const int u = calls_[calls_.size() - 1];
      if (low_[v] < low_[u]) low_[u] = low_[v];
    }
    if (low_[v] != index_[v]) return;
    for (int w = -1; w != v;) of[w = open_.pop_back()] = count_;
    ++count_;
  }

  walk graph_;
  scratch<int> index_, low_, cursor_, calls_, open_;
  int clock_ = 0, count_ = 0;
};

/// Drops the joins that cannot lie on a circle. Returns whether components may have changed.
constexpr bool drop(const flow& f, scratch<bool>& chosen) {
  const components c(f, chosen);
  scratch<u8> sides(f.paths.size());  // of the joins inside a component
  for (int j = 0; j < f.edges.size(); ++j) {
    const edge& k = f.edges[j];
    if (c.of[k.from] != c.of[k.to]) chosen[j] = false;
    if (chosen[j]) sides[c.of[k.to]] = static_cast<u8>(sides[c.of[k.to]] | bit_of_side(k.side));
  }
  bool changed = false;
  for (int j = 0; j < f.edges.size(); ++j) {
    const edge& k = f.edges[j];
    if (!chosen[j] || sides[c.of[k.to]] & bit_of_side(k.side ^ 1)) continue;
    chosen[j] = false, changed = true;
  }
  return changed;
}

/// Some node is on a circle or behind one; the circle is found by walking backwards until a node comes twice.
constexpr diagnostic name_circle(const walk& w, scratch<int>& inputs, const scratch<bool>& chosen, place p) {
  const flow& f = w.net;
  while (true) {
    inputs[w.node(p)] = -1;
    place before;
    int side = 0;
    for (int d = 0; d < 4; ++d)
      for (int j = f.first_in(p.record, d); j >= 0; j = f.edges[j].next_in) {
        const place q{f.edges[j].from, p.at + step(every_side[d])};
        if (chosen[j] && f.paths[q.record].where.has(q.at) && inputs[w.node(q)] != 0)
          before = q, side = d ^ 1;
      }
    if (inputs[w.node(before)] < 0) return f.report(fault_kind::the_route_goes_in_a_circle, before.at, side);
    p = before;
  }
}

/// Takes away nodes without inputs until none is left. What stays has a circle.
constexpr diagnostic walk_circles(const walk& w, const scratch<bool>& chosen) {
  scratch<int> inputs(w.size);
  scratch<place> ready;
  w.count_inputs(inputs);
  w.sources(inputs, ready);
  int* count = inputs.data();
  int left = w.size;
  for (; !ready.empty(); --left) {
    const place p = ready.pop_back();
    for (int k = w.first[p.record]; k < w.first[p.record + 1]; ++k)
      if (const place q = w.follow(p, k); q.record >= 0 && --count[w.node(q)] == 0) ready.push_back(q);
  }
  if (left == 0) return {};
  for (int i = 0; i < w.out.size(); ++i) {
    const int record = w.net.edges[w.out[i]].to;
    for (int n = 0; n < w.net.paths[record].where.count(); ++n) {
      const place p{record, w.net.paths[record].where.nth(n)};
      if (count[w.node(p)] > 0) return name_circle(w, inputs, chosen, p);
    }
  }
  return {};
}

/// Requires that every PE has one record of the color at most.
constexpr diagnostic circles(flow& f) {
  if (f.overlap != nowhere || f.work.exhausted()) return f.nothing();
  scratch<bool> chosen;
  for (int j = 0; j < f.edges.size(); ++j) chosen.push_back(true);
  while (drop(f, chosen)) {}
  const walk w(f, chosen);
  if (w.too_long()) return w.refusal();
  return w.size == 0 ? diagnostic{} : walk_circles(w, chosen);
}

}  // namespace wsl::rules
