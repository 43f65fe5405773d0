// SPDX-License-Identifier: MIT
// The paths of connections as few records: PEs with the same route of the same color that form a row, a
// column or a rectangle become one path of a layout.
#pragma once
#include <algorithm>
#include <vector>

#include "net.hpp"

namespace wsl::planning {

struct path_piece {
  wsl::region where;
  int color = 0;
  ports from, to;
  bool merges = false;
  dealing deal;
  const switches* positions = nullptr;
  const payload_calls* calls = nullptr;

  constexpr bool same_route(const path_piece& p) const {
    return color == p.color && from == p.from && to == p.to && merges == p.merges && calls == p.calls &&
           deal == p.deal && positions == p.positions;
  }
};

/// Makes a piece larger by one beside it with the same route, if both together are a rectangle.
constexpr bool extend(path_piece& by, const path_piece& p) {
  if (!by.same_route(p)) return false;
  wsl::region& a = by.where;
  const wsl::region& b = p.where;
  if (a.y0 == b.y0 && a.y1 == b.y1) {
    if (a.x1 == b.x0) return a.x1 = b.x1, true;
    if (a.x0 == b.x1) return a.x0 = b.x0, true;
  }
  if (a.x0 == b.x0 && a.x1 == b.x1) {
    if (a.y1 == b.y0) return a.y1 = b.y1, true;
    if (a.y0 == b.y1) return a.y0 = b.y0, true;
  }
  return false;
}
/// Adds the piece of one PE, to the last one if the net goes straight on.
constexpr void add_to(std::vector<path_piece>& pieces, std::size_t first, const path_piece& one) {
  if (pieces.size() == first || !extend(pieces.back(), one)) pieces.push_back(one);
}
/// Nets side by side, as those between two ports of several PEs, become one: lays the pieces from `second` on
/// over those from `first` on, if each extends one there.
constexpr bool lay_over(std::vector<path_piece>& pieces, std::size_t first, std::size_t second) {
  if (pieces.size() - second != second - first) return false;
  for (std::size_t k = second; k < pieces.size(); ++k)
    if (path_piece p = pieces[first + k - second]; !extend(p, pieces[k])) return false;
  for (std::size_t k = second; k < pieces.size(); ++k) extend(pieces[first + k - second], pieces[k]);
  pieces.resize(second);
  return true;
}

namespace piece_order {

constexpr long route_key(const path_piece& p) { return (p.color * 64L + p.from.bits) * 64 + p.to.bits; }
constexpr bool by_rows(const path_piece& a, const path_piece& b) {
  if (route_key(a) != route_key(b)) return route_key(a) < route_key(b);
  if (a.where.y0 != b.where.y0) return a.where.y0 < b.where.y0;
  if (a.where.y1 != b.where.y1) return a.where.y1 < b.where.y1;
  return a.where.x0 < b.where.x0;
}
constexpr bool by_columns(const path_piece& a, const path_piece& b) {
  if (route_key(a) != route_key(b)) return route_key(a) < route_key(b);
  if (a.where.x0 != b.where.x0) return a.where.x0 < b.where.x0;
  if (a.where.x1 != b.where.x1) return a.where.x1 < b.where.x1;
  return a.where.y0 < b.where.y0;
}

}  // namespace piece_order

/// Joins pieces that share a whole side, along rows or along columns.
constexpr void join(std::vector<path_piece>& pieces, bool along_rows) {
  std::sort(pieces.begin(), pieces.end(), along_rows ? piece_order::by_rows : piece_order::by_columns);
  std::size_t kept = 0;
  for (const path_piece& p : pieces) {
    if (kept > 0) {
      path_piece& last = pieces[kept - 1];
      if (along_rows && last.same_route(p) && last.where.y0 == p.where.y0 && last.where.y1 == p.where.y1 &&
          last.where.x1 == p.where.x0) {
        last.where.x1 = p.where.x1;
        continue;
      }
      if (!along_rows && last.same_route(p) && last.where.x0 == p.where.x0 && last.where.x1 == p.where.x1 &&
          last.where.y1 == p.where.y0) {
        last.where.y1 = p.where.y1;
        continue;
      }
    }
    pieces[kept++] = p;
  }
  pieces.resize(kept);
}

/// The pieces of PEs, joined: first those that words cross from west to east or back along rows, the others
/// along columns; then what has become equal the other way.
constexpr std::vector<path_piece> joined(const std::vector<path_piece>& pieces) {
  std::vector<path_piece> rows, columns;
  for (const path_piece& p : pieces) (p.from.has(north) || p.from.has(south) ? columns : rows).push_back(p);
  join(rows, true), join(rows, false);
  join(columns, false), join(columns, true);
  rows.insert(rows.end(), columns.begin(), columns.end());
  return rows;
}

}  // namespace wsl::planning
