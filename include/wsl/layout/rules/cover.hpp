// SPDX-License-Identifier: MIT
// The algebra of regions: the intersection of two, and a PE of one that no others cover. A region is a
// strided rectangle; the intersection of two is one as well, and a difference is a handful of them. With it a
// rule speaks about every PE of a wafer at a cost that depends on the number of regions only. The results are
// exact for any strides.
#pragma once
#include <type_traits>

#include "../../core/area.hpp"
#include "scratch.hpp"

namespace wsl::rules {

/// The work that a rule has done. The compiler limits the steps of a constant expression, so there a rule
/// gives up in time, with a sentence of its own; at run time it never does. A unit is about five steps of a
/// compiler.
struct step_budget {
  static constexpr int limit = 140'000;
  int spent = 0;
  constexpr bool exhausted() const { return std::is_constant_evaluated() && spent > limit; }
};

inline constexpr coord nowhere{-1, -1};

/// The positions first, first + step, ... below end along one axis. The end is one past the last of them.
struct progression {
  int first = 0, end = 0, step = 1;
  constexpr bool empty() const { return first >= end; }
};

constexpr progression tight(int first, int past, int step) {
  return first >= past ? progression{}
                       : progression{first, (past - 1 - first) / step * step + first + 1, step};
}

/// The positions that two progressions share. They repeat after the least common multiple of the steps, and
/// the first of them is at most b.step steps of `a` away.
constexpr progression meet(const progression& a, const progression& b) {
  const int low = a.first > b.first ? a.first : b.first, high = a.end < b.end ? a.end : b.end;
  if (a.step == b.step) return (a.first - b.first) % a.step ? progression{} : progression{low, high, a.step};
  int x = a.first + (low - a.first + a.step - 1) / a.step * a.step, step = a.step;
  for (int i = 0; i < b.step && (x - b.first) % b.step; ++i) x += a.step;
  if (x >= high || (x - b.first) % b.step) return {};
  while (step % b.step) step += a.step;
  return tight(x, high, step);
}

/// Whether the bounding boxes are disjoint.
constexpr bool apart(const region& a, const region& b) {
  return a.x1 <= b.x0 || b.x1 <= a.x0 || a.y1 <= b.y0 || b.y1 <= a.y0;
}

constexpr region cross(const progression& x, const progression& y) {
  return x.empty() || y.empty() ? region{} : region{x.first, x.end, y.first, y.end, x.step, y.step};
}

/// A region whose bounds are one past its last column and row.
constexpr region tight(const region& r) { return cross(tight(r.x0, r.x1, r.sx), tight(r.y0, r.y1, r.sy)); }

/// The PEs that are in both. Requires tight regions, as every function below.
constexpr region intersect(const region& a, const region& b) {
  if (apart(a, b)) return {};
  const progression x = meet({a.x0, a.x1, a.sx}, {b.x0, b.x1, b.sx});
  return x.empty() ? region{} : cross(x, meet({a.y0, a.y1, a.sy}, {b.y0, b.y1, b.sy}));
}

/// Appends the difference of `whole` and `part` as disjoint regions. Requires that `part` is an intersection
/// of `whole` with some region.
constexpr void subtract(const region& whole, const region& part, scratch<region>& rest) {
  const auto keep = [&](const progression& x, const progression& y) {
    if (!x.empty() && !y.empty()) rest.push_back(cross(x, y));
  };
  const progression all_x{whole.x0, whole.x1, whole.sx};
  keep(all_x, tight(whole.y0, part.y0, whole.sy));
  keep(all_x, tight(part.y1 - 1 + whole.sy, whole.y1, whole.sy));
  for (int y = whole.sy; y < part.sy; y += whole.sy) keep(all_x, tight(part.y0 + y, part.y1, part.sy));
  const progression part_y{part.y0, part.y1, part.sy};
  keep(tight(whole.x0, part.x0, whole.sx), part_y);
  keep(tight(part.x1 - 1 + whole.sx, whole.x1, whole.sx), part_y);
  for (int x = whole.sx; x < part.sx; x += whole.sx) keep(tight(part.x0 + x, part.x1, part.sx), part_y);
}

/// A PE of `what` that none of the regions `by` covers, or nowhere; nowhere also if the budget is exhausted.
/// The rest of a piece after the subtraction of the i-th region has to be compared only with the regions
/// after it.
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

/// The PEs of a region whose neighbour on one side is not on the grid: the outermost row or column, or none.
constexpr region at_the_boundary(const region& r, port side, const region& grid) {
  if (r.empty()) return {};
  if (side == port::east) return r.x1 == grid.x1 ? region{r.x1 - 1, r.x1, r.y0, r.y1, 1, r.sy} : region{};
  if (side == port::west) return r.x0 == grid.x0 ? region{r.x0, r.x0 + 1, r.y0, r.y1, 1, r.sy} : region{};
  if (side == port::north) return r.y0 == grid.y0 ? region{r.x0, r.x1, r.y0, r.y0 + 1, r.sx, 1} : region{};
  return r.y1 == grid.y1 ? region{r.x0, r.x1, r.y1 - 1, r.y1, r.sx, 1} : region{};
}

}  // namespace wsl::rules
