// SPDX-License-Identifier: MIT
// Areas name PEs before the size of the grid is known: bounds count from the west or north edge, or back from
// the far edge with `edge`, and may stride. A region is an area on a grid of a known size, with plain
// numbers. See examples/03_edges_and_areas.cpp.
#pragma once
#include "coord.hpp"

namespace wsl {

/// A position along one axis: 3 counts from the near edge, `edge - 1` from the far edge.
struct bound {
  int offset = 0;
  bool far = false;
  constexpr bound(int n) : offset(n) {}
  constexpr bound(int n, bool from_far_edge) : offset(n), far(from_far_edge) {}
  constexpr int in(int extent) const { return far ? extent + offset : offset; }
  friend constexpr bound operator-(bound b, int n) { return {b.offset - n, b.far}; }
  friend constexpr bound operator+(bound b, int n) { return {b.offset + n, b.far}; }
};

inline constexpr bound edge{0, true};

/// Columns [x0, x1) every sx, crossed with rows [y0, y1) every sy.
struct area {
  bound x0 = 0, x1 = edge, y0 = 0, y1 = edge;
  int sx = 1, sy = 1;

  /// The same rows, other columns; and the same columns, other rows: `columns(1, edge, 2).row(0)`.
  constexpr area columns(bound from, bound to = edge, int every = 1) const {
    return {from, to, y0, y1, every, sy};
  }
  constexpr area rows(bound from, bound to = edge, int every = 1) const {
    return {x0, x1, from, to, sx, every};
  }
  constexpr area column(bound x) const { return columns(x, x + 1); }
  constexpr area row(bound y) const { return rows(y, y + 1); }
};

inline constexpr area all{};
constexpr area columns(bound from, bound to = edge, int every = 1) { return all.columns(from, to, every); }
constexpr area rows(bound from, bound to = edge, int every = 1) { return all.rows(from, to, every); }
constexpr area column(bound x) { return all.column(x); }
constexpr area row(bound y) { return all.row(y); }
constexpr area at(bound x, bound y) { return all.column(x).row(y); }

/// An area on a grid of a known size: columns x0, x0 + sx, ... below x1, and rows likewise. x1 and y1 are one
/// past the last column and row that belong to it.
struct region {
  int x0 = 0, x1 = 0, y0 = 0, y1 = 0, sx = 1, sy = 1;

  /// That of a record which is not in use. A layout has a thousand of them, and each program a constant of
  /// it: what is all zeros takes no time to write.
  static constexpr region none() { return {0, 0, 0, 0, 0, 0}; }

  constexpr bool empty() const { return x0 >= x1 || y0 >= y1; }
  constexpr bool has(coord c) const {
    return c.x >= x0 && c.x < x1 && c.y >= y0 && c.y < y1 && (c.x - x0) % sx == 0 && (c.y - y0) % sy == 0;
  }
  constexpr int columns() const { return empty() ? 0 : (x1 - x0 - 1) / sx + 1; }
  constexpr int rows() const { return empty() ? 0 : (y1 - y0 - 1) / sy + 1; }
  constexpr int count() const { return columns() * rows(); }
  /// The i-th PE in row-major order.
  constexpr coord nth(int i) const { return {x0 + i % columns() * sx, y0 + i / columns() * sy}; }
  /// The index of c in that order; c must belong to the region.
  constexpr int rank(coord c) const { return (c.y - y0) / sy * columns() + (c.x - x0) / sx; }
  /// The same shape, moved by one hop.
  constexpr region shifted(coord by) const { return {x0 + by.x, x1 + by.x, y0 + by.y, y1 + by.y, sx, sy}; }
  friend constexpr bool operator==(const region&, const region&) = default;
};

/// The PEs of `a` when its edges are those of `grid`: a module that lives in a rectangle of the wafer
/// resolves its areas in it. Requires positive strides.
constexpr region resolve(const area& a, const region& grid) {
  const int w = grid.x1 - grid.x0, h = grid.y1 - grid.y0;
  region r{
      grid.x0 + a.x0.in(w), grid.x0 + a.x1.in(w), grid.y0 + a.y0.in(h), grid.y0 + a.y1.in(h), a.sx, a.sy};
  if (r.empty()) return {};
  r.x1 = r.x0 + (r.x1 - r.x0 - 1) / r.sx * r.sx + 1;
  r.y1 = r.y0 + (r.y1 - r.y0 - 1) / r.sy * r.sy + 1;
  return r;
}

namespace detail {

/// "column 3", or "columns 1 to 7 every 2".
inline std::string text_of_span(const char* one, int from, int to, int every) {
  if (to - from == 1) return support::joined({one, " ", from});
  return support::joined(
      {one, "s ", from, " to ", to - 1, every > 1 ? support::joined({" every ", every}) : ""});
}

}  // namespace detail

/// "PE(3, 4)", "columns 1 to 7 every 2 and row 0", or "no PE", as messages and drawings name a region.
inline std::string text_of(const region& r) {
  if (r.empty()) return "no PE";
  if (r.count() == 1) return text_of(r.nth(0));
  return detail::text_of_span("column", r.x0, r.x1, r.sx) + " and " +
         detail::text_of_span("row", r.y0, r.y1, r.sy);
}

}  // namespace wsl
