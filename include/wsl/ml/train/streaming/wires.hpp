// SPDX-License-Identifier: MIT
// The colors and routes of wafers that train. A wafer has rows and columns of workers, and above each row of
// workers a row of ports to the memory. The ports of the first wafer are the memory servers themselves (on a
// real machine these are beside the wafer), those of the others are nodes of the trees that join the wafers.
// Two wafers with two rows and two columns of workers each:
//
//          wafer 0                     wafer 1
//   row 0  server 0,0   server 0,1    node      node      weight tiles of server y,c to the same port of all
//   row 1  worker 0,0   worker 0,1    worker    worker    wafers, and down column c of each to its workers
//   row 2  server 1,0   server 1,1    node      node      likewise; also up the column
//   row 3  worker 1,0   worker 1,1    worker    worker
//
// Gradients are added up from worker to worker of a column toward the port of their server, from both ends of
// the column, and then from port to port toward the west. The workers of a row exchange parts of activations
// on a ring. Rows that share a sequence pass keys and values to the south and their gradients to the north,
// and rows that share an image lines of it both ways, on the colors of the sums of gradients.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "../../../collective/folded_ring.hpp"
#include "../../../wsl.hpp"
#include "../settings.hpp"

namespace wsl::ml {

namespace wires {

/// The colors, in this order: the tiles of every server, sums of gradients between workers, sums on their way
/// to a port, the ring, and the trees.
inline constexpr int max_tiles = 48, max_tree = 8;
/// As far as the area of a server's tiles strides from one wafer to the next.
inline constexpr int max_columns = 16;
/// Sums of gradients on their way south or north. Neighbouring workers differ in parity, and so in color.
constexpr color<f32> south_from(int worker) { return {max_tiles + worker % 2}; }
constexpr color<f32> north_from(int worker) { return {max_tiles + 2 + worker % 2}; }
/// Sums of gradients from a worker to the port above it.
inline constexpr color<f32> to_server{max_tiles + 4};
/// The ring along the workers of a row of a wafer.
inline constexpr folded_ring<f32> ring{max_tiles + 5, folded_ring<f32>::axis::rows};
inline constexpr int first_of_trees = max_tiles + 8;

/// The row of workers to which a row of the grid belongs, and that of a PE.
constexpr int index_in_column(int row) { return row / 2; }
inline int index_in_column(const pe& me) { return index_in_column(me.y()); }

/// The weight tiles of a server. Where there are several wafers, those of different columns pass the same
/// ports, and so have colors of their own.
inline color<f32> weight_tiles(const wafer_grid& g, int server, int column) {
  return {g.wafers > 1 ? server * g.columns + column : server};
}
/// The colors of all weight tiles.
inline constexpr color_range<f32, max_tiles> all_weight_tiles{0};

/// The levels of a tree that joins some wafers.
constexpr int levels(int wafers) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(wafers - 1)));
}
/// Sums from a node of a column's tree to the node 2^level wafers to the west.
inline color<f32> up(const wafer_grid& g, int level, int column) {
  return {first_of_trees + level * g.columns + column};
}
/// The level on which the node of a wafer w > 0 sends its sums.
constexpr int level_of(int w) { return std::countr_zero(static_cast<unsigned>(w)); }
/// The number of nodes that send their sums to the port of wafer w, on levels 0, 1, ...
constexpr int children(int w, int wafers) {
  int n = 0;
  while (n < levels(wafers) && w % (2 << n) == 0 && w + (1 << n) < wafers) ++n;
  return n;
}
/// The colors of all trees.
inline constexpr color_range<f32, max_tree> all_sums{first_of_trees};

/// Whether there are enough colors, and areas stride so far.
inline bool fits(const wafer_grid& g) {
  return g.columns <= max_columns && (g.wafers > 1 ? g.rows * g.columns : g.rows) <= max_tiles &&
         levels(g.wafers) * g.columns <= max_tree;
}
/// Throws std::invalid_argument if it does not fit.
inline const wafer_grid& checked(const wafer_grid& g) {
  if (g.rows < 1 || g.columns < 1 || g.wafers < 1)
    throw std::invalid_argument(fmt::format("wsl: {} wafers of {} x {} workers: each number is at least 1",
                                            g.wafers, g.rows, g.columns));
  if (g.columns > max_columns)
    throw std::invalid_argument(fmt::format(
        "wsl: a wafer has at most {} columns of workers, not {}: take more rows", max_columns, g.columns));
  if (const int tiles = g.wafers > 1 ? g.rows * g.columns : g.rows; tiles > max_tiles)
    throw std::invalid_argument(
        fmt::format("wsl: {} x {} workers need {} colors for weights, and there are {}: use fewer rows{}",
                    g.rows, g.columns, tiles, max_tiles, g.wafers > 1 ? " or columns, or one wafer" : ""));
  if (const int sums = levels(g.wafers) * g.columns; sums > max_tree)
    throw std::invalid_argument(fmt::format(
        "wsl: the trees of {} wafers with {} columns of workers need {} colors, and there are {}: use fewer "
        "columns or wafers",
        g.wafers, g.columns, sums, max_tree));
  return g;
}

/// Wires the trees of each column, which lie in the rows of ports: a path for each node that sends, whose
/// receiver may be farther away than an area strides.
inline void wire_trees(layout& l, const wafer_grid& g) {
  const area ports = rows(0, edge, 2);
  for (int k = 0; k < max_tree; ++k) l.path(color<f32>{first_of_trees + k}, columns(0, 0), ramp >> west);
  for (int level = 0; level < levels(g.wafers); ++level)
    for (int c = 0; c < g.columns; ++c) {
      const color<f32> sums = up(g, level, c);
      const int d = g.columns << level;  // from a sender to its receiver
      for (int to = c; to + d < g.width(); to += 2 * d)
        l.path(sums, ports.column(to + d), ramp >> west)
            .path(sums, ports.columns(to + 1, to + d), east >> west)
            .path(sums, ports.column(to), east >> ramp);
    }
}

/// Wires the tiles of a server to its column of every wafer: along its row of ports, and down and up.
inline void wire_tiles(layout& l, const wafer_grid& g, int server, int column) {
  const auto c = weight_tiles(g, server, column);
  const int at = 2 * server, end_row = g.height();
  const bool several = g.wafers > 1;
  const ports along = server > 0 ? north | south : ports{south};
  // With one wafer all columns use the same colors.
  const auto here = [&](const area& a) { return several ? a.columns(column, edge, g.columns) : a; };
  if (several) {
    const int last = g.width() - g.columns + column;
    l.path(c, row(at).column(column), ramp >> (along | east))
        .path(c, row(at).columns(column + g.columns, last, g.columns), west >> (along | east))
        .path(c, row(at).column(last), west >> along);
    for (int x = 1; x < g.columns; ++x) l.path(c, row(at).columns(column + x, last, g.columns), west >> east);
  } else l.path(c, row(at), ramp >> along);
  l.path(c, here(rows(2, at, 2)), south >> north).path(c, here(rows(at + 2, end_row, 2)), north >> south);
  l.path(c, here(rows(3, at, 2)), south >> (ramp | north))
      .path(c, here(rows(at + 1, end_row - 1, 2)), north >> (ramp | south));
  if (server > 0) l.path(c, here(row(1)), south >> ramp);
  l.path(c, here(row(end_row - 1)), north >> ramp);
}

inline void wire(layout& l, const wafer_grid& g) {
  const int end_row = g.height();
  for (int k = 0; k < max_tiles; ++k) l.path(color<f32>{k}, columns(0, 0), ramp >> south);
  for (int server = 0; server < g.rows; ++server)
    for (int c = 0; c < (g.wafers > 1 ? g.columns : 1); ++c) wire_tiles(l, g, server, c);
  for (int p : {0, 1}) {
    const int from = 2 * p, to = p ? 0 : 2;  // worker y's server is in row 2 y
    l.path(south_from(p), rows(from + 1, end_row - 2, 4), ramp >> south);
    l.path(south_from(p), rows(from + 2, end_row - 1, 4), north >> south);
    l.path(south_from(p), rows(from + 3, end_row, 4), north >> ramp);
    l.path(north_from(p), rows(to + 3, end_row, 4), ramp >> north);
    l.path(north_from(p), rows(to + 2, end_row, 4), south >> north);
    l.path(north_from(p), rows(to + 1, end_row - 2, 4), south >> ramp);
  }
  l.path(to_server, rows(1, end_row, 2), ramp >> north).path(to_server, rows(0, end_row, 2), south >> ramp);
  for (color<f32> c : ring.colors()) l.path(c, columns(0, 0), ramp >> ramp);
  ring.wire(l, rows(1, edge, 2), g.columns);
  wire_trees(l, g);
}

}  // namespace wires

}  // namespace wsl::ml
