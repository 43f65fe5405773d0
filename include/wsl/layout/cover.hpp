// SPDX-License-Identifier: MIT
// The algebra of regions: what two of them share, and which PE of one is left when others are taken away. A
// region is a strided rectangle; so is the intersection of two, and a difference is a handful of them. This
// is how a rule speaks about every PE of a wafer while its cost depends on the number of regions only. The
// results are exact for any mix of strides.
#pragma once
#include <type_traits>

#include "../core/area.hpp"
#include "scratch.hpp"

namespace wsl::rules {

/// What a rule has spent. A constant expression may take a limited number of steps, so there it must give up
/// in time, with a sentence of its own; at run time it never does. A unit is about five steps of an
/// evaluator.
struct step_budget {
  static constexpr int limit = 140'000;
  int spent = 0;
  constexpr bool exhausted() const { return std::is_constant_evaluated() && spent > limit; }
};

inline constexpr coord nowhere{-1, -1};

/// Positions first, first + step, ... below end along one axis; end is one past the last of them.
struct run {
  int first = 0, end = 0, step = 1;
  constexpr bool empty() const { return first >= end; }
};

constexpr run tight(int first, int past, int step) {
  return first >= past ? run{} : run{first, (past - 1 - first) / step * step + first + 1, step};
}

/// What two runs share. The common positions repeat after the least common multiple of the steps, and the
/// first of them is at most b.step steps of `a` away.
constexpr run meet(const run& a, const run& b) {
  const int low = a.first > b.first ? a.first : b.first, high = a.end < b.end ? a.end : b.end;
  if (a.step == b.step) return (a.first - b.first) % a.step ? run{} : run{low, high, a.step};
  int x = a.first + (low - a.first + a.step - 1) / a.step * a.step, step = a.step;
  for (int i = 0; i < b.step && (x - b.first) % b.step; ++i) x += a.step;
  if (x >= high || (x - b.first) % b.step) return {};
  while (step % b.step) step += a.step;
  return tight(x, high, step);
}

/// Do the bounding boxes have nothing in common?
constexpr bool apart(const region& a, const region& b) {
  return a.x1 <= b.x0 || b.x1 <= a.x0 || a.y1 <= b.y0 || b.y1 <= a.y0;
}

constexpr region cross(const run& x, const run& y) {
  return x.empty() || y.empty() ? region{} : region{x.first, x.end, y.first, y.end, x.step, y.step};
}

/// A region whose bounds are one past its last column and row.
constexpr region tight(const region& r) { return cross(tight(r.x0, r.x1, r.sx), tight(r.y0, r.y1, r.sy)); }

/// The PEs that are in both. Requires tight regions, as every function below.
constexpr region intersect(const region& a, const region& b) {
  if (apart(a, b)) return {};
  const run x = meet({a.x0, a.x1, a.sx}, {b.x0, b.x1, b.sx});
  return x.empty() ? region{} : cross(x, meet({a.y0, a.y1, a.sy}, {b.y0, b.y1, b.sy}));
}

/// Appends what is left of `whole` without `part`, as disjoint regions. Requires `part` to be its
/// intersection with something.
constexpr void subtract(const region& whole, const region& part, scratch<region>& rest) {
  const auto keep = [&](const run& x, const run& y) {
    if (!x.empty() && !y.empty()) rest.push_back(cross(x, y));
  };
  const run all_x{whole.x0, whole.x1, whole.sx};
  keep(all_x, tight(whole.y0, part.y0, whole.sy));
  keep(all_x, tight(part.y1 - 1 + whole.sy, whole.y1, whole.sy));
  for (int y = whole.sy; y < part.sy; y += whole.sy) keep(all_x, tight(part.y0 + y, part.y1, part.sy));
  const run part_y{part.y0, part.y1, part.sy};
  keep(tight(whole.x0, part.x0, whole.sx), part_y);
  keep(tight(part.x1 - 1 + whole.sx, whole.x1, whole.sx), part_y);
  for (int x = whole.sx; x < part.sx; x += whole.sx) keep(tight(part.x0 + x, part.x1, part.sx), part_y);
}

/// A PE of `what` that none of the regions `by` has, or nowhere. Each piece that is left meets only the
/// regions after the one that cut it off; without such a region it is the answer. Exhausted effort answers
/// nowhere.
constexpr coord uncovered(const region& what, const scratch<region>& by, step_budget& work) {
  scratch<region> pieces;
  scratch<int> next;
  if (!what.empty()) pieces.push_back(what), next.push_back(0);
  while (!pieces.empty() && !work.exhausted()) {
    const region piece = pieces.pop_back();
    const int begin = next.pop_back();
    int i = begin;
    region shared;
    for (; i < by.size() && shared.empty(); ++i) shared = intersect(piece, by.data()[i]);
    work.spent += 16 + 6 * (i - begin);
    if (shared.empty()) return piece.nth(0);
    subtract(piece, shared, pieces);
    while (next.size() < pieces.size()) next.push_back(i);
  }
  return nowhere;
}

/// The PEs of a region whose neighbour on one side is not on the grid: its last row or column, or none.
constexpr region at_the_edge(const region& r, port side, const region& grid) {
  if (r.empty()) return {};
  if (side == port::east) return r.x1 == grid.x1 ? region{r.x1 - 1, r.x1, r.y0, r.y1, 1, r.sy} : region{};
  if (side == port::west) return r.x0 == grid.x0 ? region{r.x0, r.x0 + 1, r.y0, r.y1, 1, r.sy} : region{};
  if (side == port::north) return r.y0 == grid.y0 ? region{r.x0, r.x1, r.y0, r.y0 + 1, r.sx, 1} : region{};
  return r.y1 == grid.y1 ? region{r.x0, r.x1, r.y1 - 1, r.y1, r.sx, 1} : region{};
}

}  // namespace wsl::rules
