// SPDX-License-Identifier: MIT
// The rule that no wavelet arrives twice: the branches of a fork do not reconverge in a router that merges.
// Only colors in which some fork reaches some merge through two of its branches are decided on the graph of
// PEs. Broadcast trees do not merge, reduction trees do not fork, and a reduction that feeds a broadcast
// merges before it forks.
#pragma once
#include "pe_graph.hpp"

namespace wsl::rules {

constexpr bool has_fan_out(const route_segment& p) { return several(p.to & side_bits); }
constexpr bool has_fan_in(const route_segment& p) { return several(p.from & side_bits); }

/// The segments from which a merge can be reached.
constexpr void leading_to_merges(const flow& f, scratch<bool>& leads) {
  scratch<int> pending;
  for (int i = 0; i < f.segments.size(); ++i)
    if (leads[i] = has_fan_in(f.segments[i]); leads[i]) pending.push_back(i);
  while (!pending.empty()) {
    const int i = pending.pop_back();
    for (int d = 0; d < 4; ++d)
      for (int j = f.first_in(i, d); j >= 0; j = f.edges[j].next_in)
        if (const int before = f.edges[j].from; !leads[before])
          leads[before] = true, pending.push_back(before);
  }
}

/// The branches of one fork that reach each segment, as a mask of sides; for segments that lead to a merge.
constexpr void reach(flow& f, int fork, const scratch<bool>& leads, scratch<u8>& by) {
  scratch<int> pending;
  const auto enter = [&](int segment, int branches) {
    if (!leads[segment] || (by[segment] | branches) == by[segment]) return;
    by[segment] = static_cast<u8>(by[segment] | branches);
    pending.push_back(segment);
  };
  for (int i = 0; i < by.size(); ++i) by[i] = 0;
  for (int d = 0; d < 4; ++d)
    for (int j = f.first_out(fork, d); j >= 0; j = f.edges[j].next_out) enter(f.edges[j].to, bit_of_side(d));
  while (!pending.empty() && !f.work.exhausted()) {
    const int i = pending.pop_back();
    f.work.spent += 6;
    for (int d = 0; d < 4; ++d)
      for (int j = f.first_out(i, d); j >= 0; j = f.edges[j].next_out) enter(f.edges[j].to, by[i]);
  }
}

/// Chooses the edges between segments that a fork reaches which may meet itself again.
constexpr void choose_edges(flow& f, scratch<bool>& chosen) {
  const int n = f.segments.size();
  scratch<bool> leads(n), inside(n);
  scratch<u8> by(n);
  leading_to_merges(f, leads);
  for (int i = 0; i < n; ++i) {
    if (!leads[i] || !has_fan_out(f.segments[i])) continue;
    reach(f, i, leads, by);
    f.work.spent += n;
    bool meets = false;
    for (int k = 0; k < n; ++k) meets = meets || (several(by[k]) && has_fan_in(f.segments[k]));
    for (int k = 0; k < n && meets; ++k) inside[k] = inside[k] || by[k] != 0 || k == i;
  }
  for (int j = 0; j < f.edges.size(); ++j) chosen.push_back(inside[f.edges[j].from] && inside[f.edges[j].to]);
}

/// The nodes that a search from one source has visited.
struct visited_nodes {
  scratch<int> number;         ///< the number of the search that visited a node last
  scratch<graph_node> before;  ///< the predecessor of a node in that search
  constexpr explicit visited_nodes(int size) : number(size), before(size) {}
};

/// The node at which the paths to two nodes part.
constexpr graph_node fork_before(const pe_graph& w, visited_nodes& found, graph_node a, graph_node b) {
  for (; a.segment >= 0; a = found.before[w.index(a)]) found.number[w.index(a)] = -1;
  while (found.number[w.index(b)] != -1) b = found.before[w.index(b)];
  return b;
}

constexpr diagnostic search_from(flow& f, const pe_graph& w, visited_nodes& found, const graph_node& source,
                                 int number) {
  scratch<graph_node> pending;
  pending.push_back(source);
  found.before[w.index(source)] = {};
  while (!pending.empty() && !f.work.exhausted()) {
    const graph_node p = pending.pop_back();
    f.work.spent += 20;
    for (int k = w.first[p.segment]; k < w.first[p.segment + 1]; ++k) {
      const graph_node q = w.follow(p, k);
      if (q.segment < 0) continue;
      if (found.number[w.index(q)] == number) {
        diagnostic d = f.report(fault_kind::a_fork_meets_itself_again, q.at);
        d.fork = fork_before(w, found, found.before[w.index(q)], p).at;
        return d;
      }
      found.number[w.index(q)] = number, found.before[w.index(q)] = p;
      pending.push_back(q);
    }
  }
  return {};
}

/// Requires that every PE has at most one segment of the color, and that there is no cycle.
constexpr diagnostic reconvergence(flow& f) {
  if (f.overlap != nowhere || f.work.exhausted()) return f.nothing();
  scratch<bool> chosen;
  choose_edges(f, chosen);
  const pe_graph w(f, chosen);
  if (w.size == 0) return f.nothing();
  if (w.too_long()) return w.gave_up();
  scratch<int> inputs(w.size);
  scratch<graph_node> sources;
  w.count_inputs(inputs), w.sources(inputs, sources);
  visited_nodes found(w.size);
  for (int i = 0; i < sources.size(); ++i)
    if (const diagnostic d = search_from(f, w, found, sources[i], i + 1); d.found()) return d;
  return f.work.exhausted() ? w.gave_up() : diagnostic{};
}

}  // namespace wsl::rules
