// SPDX-License-Identifier: MIT
// The paths of connections as few records: PEs with the same route of the same color that form a row, a column
// or a rectangle become one path of a layout.
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
  const payload_calls* calls = nullptr;

  constexpr bool same_route(const path_piece& p) const {
    return color == p.color && from == p.from && to == p.to && merges == p.merges && calls == p.calls;
  }
};

namespace piece_order {

constexpr long route_key(const path_piece& p) {
  return (p.color * 64L + p.from.bits) * 64 + p.to.bits;
}
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
constexpr std::vector<path_piece> joined(std::vector<path_piece> pieces) {
  std::vector<path_piece> rows, columns;
  for (const path_piece& p : pieces)
    (p.from.has(north) || p.from.has(south) ? columns : rows).push_back(p);
  join(rows, true), join(rows, false);
  join(columns, false), join(columns, true);
  rows.insert(rows.end(), columns.begin(), columns.end());
  return rows;
}

}  // namespace wsl::planning
