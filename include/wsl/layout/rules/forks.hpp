// SPDX-License-Identifier: MIT
// No wavelet may arrive twice: the branches of a fork must not meet again in a router that merges. Only
// colors in which some fork leads to some merge through two of its branches need a look at PEs; broadcast
// trees do not merge, reduction trees do not fork, and a reduction that feeds a broadcast merges before it
// forks.
#pragma once
#include "walk.hpp"

namespace wsl::rules {

constexpr bool forks(const route_segment& p) { return several(p.to & side_bits); }
constexpr bool gathers(const route_segment& p) { return several(p.from & side_bits); }

/// Records from which a merge can be reached.
constexpr void leading_to_merges(const flow& f, scratch<bool>& leads) {
  scratch<int> pending;
  for (int i = 0; i < f.paths.size(); ++i)
    if (leads[i] = gathers(f.paths[i]); leads[i]) pending.push_back(i);
  while (!pending.empty()) {
    const int i = pending.pop_back();
    for (int d = 0; d < 4; ++d)
      for (int j = f.first_in(i, d); j >= 0; j = f.edges[j].next_in)
        if (const int before = f.edges[j].from; !leads[before])
          leads[before] = true, pending.push_back(before);
  }
}

/// By which branches of one fork each record is reached, as a mask of sides, if it leads to a merge.
constexpr void reach(flow& f, int fork, const scratch<bool>& leads, scratch<u8>& by) {
  scratch<int> pending;
  const auto enter = [&](int record, int branches) {
    if (!leads[record] || (by[record] | branches) == by[record]) return;
    by[record] = static_cast<u8>(by[record] | branches);
    pending.push_back(record);
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

/// Chooses the joins between records that a suspicious fork reaches.
constexpr void choose(flow& f, scratch<bool>& chosen) {
  const int n = f.paths.size();
  scratch<bool> leads(n), inside(n);
  scratch<u8> by(n);
  leading_to_merges(f, leads);
  for (int i = 0; i < n; ++i) {
    if (!leads[i] || !forks(f.paths[i])) continue;
    reach(f, i, leads, by);
    f.work.spent += n;
    bool meets = false;
    for (int k = 0; k < n; ++k) meets = meets || (several(by[k]) && gathers(f.paths[k]));
    for (int k = 0; k < n && meets; ++k) inside[k] = inside[k] || by[k] != 0 || k == i;
  }
  for (int j = 0; j < f.edges.size(); ++j) chosen.push_back(inside[f.edges[j].from] && inside[f.edges[j].to]);
}

/// A flood from one source: the node before each that it reached.
struct breadth_first_search {
  scratch<int> number;    ///< of the flood that reached a node last
  scratch<place> before;  ///< the place before a node in that flood
  constexpr explicit breadth_first_search(int size) : number(size), before(size) {}
};

/// Where the ways to two places part.
constexpr place parting(const walk& w, breadth_first_search& found, place a, place b) {
  for (; a.record >= 0; a = found.before[w.node(a)]) found.number[w.node(a)] = -1;
  while (found.number[w.node(b)] != -1) b = found.before[w.node(b)];
  return b;
}

constexpr diagnostic run_search(flow& f, const walk& w, breadth_first_search& found, const place& source,
                                int number) {
  scratch<place> pending;
  pending.push_back(source);
  found.before[w.node(source)] = {};
  while (!pending.empty() && !f.work.exhausted()) {
    const place p = pending.pop_back();
    f.work.spent += 20;
    for (int k = w.first[p.record]; k < w.first[p.record + 1]; ++k) {
      const place q = w.follow(p, k);
      if (q.record < 0) continue;
      if (found.number[w.node(q)] == number) {
        diagnostic d = f.report(fault_kind::a_fork_meets_itself_again, q.at);
        d.fork = parting(w, found, found.before[w.node(q)], p).at;
        return d;
      }
      found.number[w.node(q)] = number, found.before[w.node(q)] = p;
      pending.push_back(q);
    }
  }
  return {};
}

/// Requires that every PE has one record of the color at most, and that there is no circle.
constexpr diagnostic meetings(flow& f) {
  if (f.overlap != nowhere || f.work.exhausted()) return f.nothing();
  scratch<bool> chosen;
  choose(f, chosen);
  const walk w(f, chosen);
  if (w.size == 0) return f.nothing();
  if (w.too_long()) return w.refusal();
  scratch<int> inputs(w.size);
  scratch<place> sources;
  w.count_inputs(inputs), w.sources(inputs, sources);
  breadth_first_search found(w.size);
  for (int i = 0; i < sources.size(); ++i)
    if (const diagnostic d = run_search(f, w, found, sources[i], i + 1); d.found()) return d;
  return f.work.exhausted() ? w.refusal() : diagnostic{};
}

}  // namespace wsl::rules
