// SPDX-License-Identifier: MIT
// A stencil of nine points, one cell a PE: each cell sends eight words a step, four of them around a corner.
#pragma once
#include <wsl/wsl.hpp>

namespace nine_points {

using namespace wsl;

/// Toward the four sides, by the parity of the sender along the way; toward the four corners, by its parity
/// in both directions: first along the row, then along the column.
inline constexpr port along_row[] = {east, west, east, west}, along_column[] = {north, north, south, south};
constexpr color<f32> toward_side(int side, int parity) { return {2 * side + parity}; }
constexpr color<f32> toward_corner(int corner, int px, int py) { return {8 + 4 * corner + px + 2 * py}; }

/// Each cell becomes the mean of the nine around it; beyond the edge there is nothing.
template <int px, int py>
struct cell {
  f32 u = 0, sum = 0;
  int heard = 0;

  void heat(pe&, f32 x) { u = x; }
  void step(pe& me) {
    for (int k = 0; k < 4; ++k)
      if (!me.edge(every_side[k])) me.send(toward_side(k, k < 2 ? px : py), u);
    for (int k = 0; k < 4; ++k)
      if (!me.edge(along_row[k]) && !me.edge(along_column[k])) me.send(toward_corner(k, px, py), u);
  }
  void hear(pe& me, f32 v) {
    sum += v;
    if (++heard < degree(me)) return;
    u = (u + sum) / 9;
    sum = 0, heard = 0;
  }
  static int degree(const pe& me) {
    const int columns = 3 - me.west_edge() - me.east_edge(), rows = 3 - me.north_edge() - me.south_edge();
    return columns * rows - 1;
  }

  template <int k>
  using from_side = task_list<on<toward_side(k, 1 - (k < 2 ? px : py)), &cell::hear>,
                              sends<toward_side(k, k < 2 ? px : py)>>;
  template <int k>
  using from_corner =
      task_list<on<toward_corner(k, 1 - px, 1 - py), &cell::hear>, sends<toward_corner(k, px, py)>>;
  using tasks =
      task_list<launch<&cell::heat>, launch<&cell::step>, numbered<4, from_side>, numbered<4, from_corner>>;
};

struct span_of_lines {
  int from, to;  ///< `to` counts back from the edge
};
/// The lines of a parity from which a step toward a side stays on the grid, and those on which it arrives.
constexpr span_of_lines senders(port side, int parity) {
  return side == east || side == south ? span_of_lines{parity, 1} : span_of_lines{parity ? 1 : 2, 0};
}
constexpr span_of_lines receivers(port side, int parity) {
  return side == east || side == south ? span_of_lines{parity + 1, 0} : span_of_lines{parity ? 0 : 1, 1};
}
constexpr area block(span_of_lines x, span_of_lines y) {
  return columns(x.from, edge - x.to, 2).rows(y.from, edge - y.to, 2);
}

inline layout plan(int width, int height) {
  layout l{wse2, width, height};
  l.place<cell<0, 0>>(columns(0, edge, 2).rows(0, edge, 2));
  l.place<cell<1, 0>>(columns(1, edge, 2).rows(0, edge, 2));
  l.place<cell<0, 1>>(columns(0, edge, 2).rows(1, edge, 2));
  l.place<cell<1, 1>>(columns(1, edge, 2).rows(1, edge, 2));
  for (int p = 0; p < 2; ++p)
    for (int k = 0; k < 4; ++k) {
      const port side = every_side[k];
      const span_of_lines from = senders(side, p), to = receivers(side, p);
      const auto along = [&](span_of_lines s) {
        return k < 2 ? columns(s.from, edge - s.to, 2) : rows(s.from, edge - s.to, 2);
      };
      l.path(toward_side(k, p), along(from), ramp >> side);
      l.path(toward_side(k, p), along(to), opposite(side) >> ramp);
    }
  for (int k = 0; k < 4; ++k)
    for (int py = 0; py < 2; ++py)
      for (int px = 0; px < 2; ++px) {
        const color<f32> c = toward_corner(k, px, py);
        const port first = along_row[k], then = along_column[k];
        l.path(c, block(senders(first, px), senders(then, py)), ramp >> first);
        l.path(c, block(receivers(first, px), senders(then, py)), opposite(first) >> then);
        l.path(c, block(receivers(first, px), receivers(then, py)), opposite(then) >> ramp);
      }
  return l;
}

}  // namespace nine_points
