// SPDX-License-Identifier: MIT
// Where regions alone cannot decide, PEs do: some joins of a flow, with the PEs of their records as numbered
// nodes. This is the only part of the checker whose cost depends on the number of PEs; constant expressions
// enter it with a bound.
#pragma once
#include "flow.hpp"

namespace wsl::rules {

struct place {
  int record = -1;
  coord at = nowhere;
};

class walk {
 public:
  /// Constant expressions walk at most so many PEs.
  static constexpr int limit = 4096;

  const flow& net;
  scratch<int> first, out;  ///< the joins out of record i: out[first[i]] .. out[first[i + 1] - 1]
  int size = 0;             ///< number of nodes

  constexpr walk(const flow& f, const scratch<bool>& chosen) : net(f) {
    const int n = f.paths.size();
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
  constexpr diagnostic refusal() const {
    diagnostic d = net.report(fault_kind::the_routes_turn_too_often_to_check_while_compiling,
                              net.paths[net.edges[out[0]].from].where.nth(0));
    d.have = size, d.limit = limit;
    return d;
  }
  constexpr int node(const place& p) const { return base_[p.record] + net.paths[p.record].where.rank(p.at); }

  /// How many joins enter each node.
  constexpr void count_inputs(scratch<int>& inputs) const {
    int* count = inputs.data();
    for (int i = 0; i < out.size(); ++i) {
      const edge& j = net.edges[out[i]];
      const region& to = net.paths[j.to].where;
      const region hit = intersect(net.paths[j.from].where.shifted(step(every_side[j.side])), to);
      for (int y = hit.y0; y < hit.y1; y += hit.sy) {
        const int row = base_[j.to] + (y - to.y0) / to.sy * to.columns();
        for (int x = hit.x0; x < hit.x1; x += hit.sx) ++count[row + (x - to.x0) / to.sx];
      }
    }
  }

  /// Appends the nodes without inputs.
  constexpr void sources(const scratch<int>& inputs, scratch<place>& found) const {
    const int* count = inputs.data();
    for (int i = 0; i < net.paths.size(); ++i) {
      if (base_[i] < 0) continue;
      const region& r = net.paths[i].where;
      int n = base_[i];
      for (int y = r.y0; y < r.y1; y += r.sy)
        for (int x = r.x0; x < r.x1; x += r.sx)
          if (count[n++] == 0) found.push_back({i, {x, y}});
    }
  }

  /// Where join number k of `out` leads from a place: record -1 when the neighbour is not in the join's
  /// target.
  constexpr place follow(const place& p, int k) const {
    const edge& j = net.edges.data()[out.data()[k]];
    const coord q = p.at + step(every_side[j.side]);
    return net.paths.data()[j.to].where.has(q) ? place{j.to, q} : place{};
  }

 private:
  constexpr void number(int record) {
    if (base_[record] >= 0) return;
    base_[record] = size;
    size += net.paths[record].where.count();
  }

  scratch<int> base_;  // the node of each record's first PE
};

}  // namespace wsl::rules
