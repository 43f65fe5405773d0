// SPDX-License-Identifier: MIT
// The rule that no route is a cycle, because a wavelet would never leave it. A closed walk over a grid goes
// as often east as west and as often north as south, and it stays within one strongly connected component of
// the flow. So an edge to the east, in a component without edges to the west, lies on no cycle. Such edges
// are dropped until nothing changes: straight lines, turns, snakes, spirals and trees vanish in this way
// whatever their size. The remaining edges are decided on the graph of their PEs.
#pragma once
#include "pe_graph.hpp"

namespace wsl::rules {

/// Strongly connected components of the chosen edges, by Tarjan's algorithm with its stacks made explicit.
class components {
 public:
  scratch<int> of;  ///< component of each segment

  constexpr components(const flow& f, const scratch<bool>& chosen) : graph_(f, chosen), cursor_(0) {
    for (int i = 0; i < f.segments.size(); ++i)
      of.push_back(-1), index_.push_back(0), low_.push_back(0), cursor_.push_back(graph_.first[i]);
    for (int i = 0; i < f.segments.size(); ++i)
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

  pe_graph graph_;
  scratch<int> index_, low_, cursor_, calls_, open_;
  int clock_ = 0, count_ = 0;
};

/// Drops edges that cannot lie on a cycle. Returns whether the components may have changed.
constexpr bool drop_acyclic(const flow& f, scratch<bool>& chosen) {
  const components c(f, chosen);
  scratch<u8> sides(f.segments.size());  // the sides of the edges inside a component
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

/// Node p is on a cycle or behind one. The cycle is found by walking backwards until a node comes twice.
constexpr diagnostic name_cycle(const pe_graph& w, scratch<int>& inputs, const scratch<bool>& chosen,
                                graph_node p) {
  const flow& f = w.net;
  while (true) {
    inputs[w.index(p)] = -1;
    graph_node before;
    int side = 0;
    for (int d = 0; d < 4; ++d)
      for (int j = f.first_in(p.segment, d); j >= 0; j = f.edges[j].next_in) {
        const graph_node q{f.edges[j].from, p.at + step(every_side[d])};
        if (chosen[j] && f.segments[q.segment].where.has(q.at) && inputs[w.index(q)] != 0)
          before = q, side = d ^ 1;
      }
    if (inputs[w.index(before)] < 0) return f.report(fault_kind::the_route_goes_in_a_circle, before.at, side);
    p = before;
  }
}

/// Removes nodes without inputs until there is none, as a topological sort does. If any remain, they contain
/// a cycle.
constexpr diagnostic cycle_among_pes(const pe_graph& w, const scratch<bool>& chosen) {
  scratch<int> inputs(w.size);
  scratch<graph_node> ready;
  w.count_inputs(inputs);
  w.sources(inputs, ready);
  int* count = inputs.data();
  int left = w.size;
  for (; !ready.empty(); --left) {
    const graph_node p = ready.pop_back();
    for (int k = w.first[p.segment]; k < w.first[p.segment + 1]; ++k)
      if (const graph_node q = w.follow(p, k); q.segment >= 0 && --count[w.index(q)] == 0) ready.push_back(q);
  }
  if (left == 0) return {};
  for (int i = 0; i < w.out.size(); ++i) {
    const int segment = w.net.edges[w.out[i]].to;
    for (int n = 0; n < w.net.segments[segment].where.count(); ++n) {
      const graph_node p{segment, w.net.segments[segment].where.nth(n)};
      if (count[w.index(p)] > 0) return name_cycle(w, inputs, chosen, p);
    }
  }
  return {};
}

/// Requires that every PE has at most one segment of the color.
constexpr diagnostic cycle_in(flow& f) {
  if (f.overlap != nowhere || f.work.exhausted()) return f.nothing();
  scratch<bool> chosen;
  for (int j = 0; j < f.edges.size(); ++j) chosen.push_back(true);
  while (drop_acyclic(f, chosen)) {}
  const pe_graph w(f, chosen);
  if (w.too_long()) return w.gave_up();
  return w.size == 0 ? diagnostic{} : cycle_among_pes(w, chosen);
}

}  // namespace wsl::rules
