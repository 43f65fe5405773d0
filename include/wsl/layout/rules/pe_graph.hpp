// SPDX-License-Identifier: MIT
// The graph of single PEs behind some edges of a flow, for the questions that regions alone cannot answer.
// Its nodes are the PEs of the segments at these edges, numbered from 0. Searching it is the only part of the
// checker whose cost depends on the number of PEs, so a constant expression searches graphs of a bounded size
// only.
#pragma once
#include "flow.hpp"

namespace wsl::rules {

/// One PE of a segment.
struct graph_node {
  int segment = -1;
  coord at = nowhere;
};

class pe_graph {
 public:
  /// The most nodes that a constant expression searches.
  static constexpr int limit = 4096;

  const flow& net;
  scratch<int> first, out;  ///< the edges out of segment i: out[first[i]] .. out[first[i + 1] - 1]
  int size = 0;             ///< number of nodes

  constexpr pe_graph(const flow& f, const scratch<bool>& chosen) : net(f) {
    const int n = f.segments.size();
    for (int i = 0; i < n; ++i) {
      first.push_back(out.size()), base_.push_back(-1);
      for (int d = 0; d < 4; ++d)
        for (int j = f.first_out(i, d); j >= 0; j = f.edges[j].next_out)
          if (chosen[j]) out.push_back(j);
    }
    first.push_back(out.size());
    for (int i = 0; i < out.size(); ++i) number(f.edges[out[i]].from), number(f.edges[out[i]].to);
  }

  constexpr bool too_long() const { return std::is_constant_evaluated() && size > limit; }
  constexpr diagnostic gave_up() const {
    diagnostic d = net.report(fault_kind::the_routes_turn_too_often_to_check_while_compiling,
                              net.segments[net.edges[out[0]].from].where.nth(0));
    d.have = size, d.limit = limit;
    return d;
  }
  constexpr int index(const graph_node& p) const {
    return base_[p.segment] + net.segments[p.segment].where.rank(p.at);
  }

  /// The number of edges that enter each node.
  constexpr void count_inputs(scratch<int>& inputs) const {
    int* count = inputs.data();
    for (int i = 0; i < out.size(); ++i) {
      const edge& j = net.edges[out[i]];
      const region& to = net.segments[j.to].where;
      const region hit = intersect(net.segments[j.from].where.shifted(step(every_side[j.side])), to);
      for (int y = hit.y0; y < hit.y1; y += hit.sy) {
        const int row = base_[j.to] + (y - to.y0) / to.sy * to.columns();
        for (int x = hit.x0; x < hit.x1; x += hit.sx) ++count[row + (x - to.x0) / to.sx];
      }
    }
  }

  /// Appends the nodes without inputs.
  constexpr void sources(const scratch<int>& inputs, scratch<graph_node>& found) const {
    const int* count = inputs.data();
    for (int i = 0; i < net.segments.size(); ++i) {
      if (base_[i] < 0) continue;
      const region& r = net.segments[i].where;
      int n = base_[i];
      for (int y = r.y0; y < r.y1; y += r.sy)
        for (int x = r.x0; x < r.x1; x += r.sx)
          if (count[n++] == 0) found.push_back({i, {x, y}});
    }
  }

  /// The node to which edge k of `out` leads from a node; its segment is -1 if the neighbour is not in the
  /// target of the edge.
  constexpr graph_node follow(const graph_node& p, int k) const {
    const edge& j = net.edges.data()[out.data()[k]];
    const coord q = p.at + step(every_side[j.side]);
    return net.segments.data()[j.to].where.has(q) ? graph_node{j.to, q} : graph_node{};
  }

 private:
  constexpr void number(int segment) {
    if (base_[segment] >= 0) return;
    base_[segment] = size;
    size += net.segments[segment].where.count();
  }

  scratch<int> base_;  // the node of each segment's first PE
};

}  // namespace wsl::rules
