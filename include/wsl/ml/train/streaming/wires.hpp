// SPDX-License-Identifier: MIT
// The colors and routes of wafers that train. A wafer is a column of PEs in which ports to the memory and
// workers alternate: port y is in row 2 y, worker y in the row below it. In the first column the ports are
// the memory servers themselves (on a real machine these are beside the wafer), in the other columns they are
// nodes of the trees that join the wafers.
//
//          wafer 0        wafer 1
//   row 0  server 0 ----> node         weight tiles of server 0, to all wafers ...
//   row 1  worker 0       worker 0       ... and down each column, to all workers
//   row 2  server 1 ----> node         weight tiles of server 1, likewise; also up the column
//   row 3  worker 1       worker 1
//
// Gradients are added up from worker to worker toward the port of their server, from both ends of the column,
// and then from port to port toward the west.
#pragma once
#include <algorithm>
#include <bit>

#include "../../../wsl.hpp"
#include "weight_format.hpp"

namespace wsl::ml::wires {

inline constexpr int max_servers = 24;  ///< also the most workers of a wafer
inline constexpr int max_wafers = 16, levels = 4;

/// The server or worker that stands in a row.
constexpr int index_in_row(int row) { return row / 2; }
inline int workers_of(const pe& me) { return me.height() / 2; }

/// The weight tiles of a server.
template <class Weight>
constexpr color<typename weight_format<Weight>::word> weight_tiles(int server) {
  return {server};
}
/// Sums of gradients on their way south or north. Neighbouring workers differ in parity, and so in color.
constexpr color<f32> south_from(int worker) { return {max_servers + worker % 2}; }
constexpr color<f32> north_from(int worker) { return {max_servers + 2 + worker % 2}; }
/// Sums of gradients from a worker to the port above it.
inline constexpr color<f32> to_server{max_servers + 4};

/// Sums from a node of a tree to the node 2^level columns to the west.
constexpr color<f32> up(int level) { return {max_servers + 5 + level}; }

/// The level on which the node in column x > 0 sends its sums.
constexpr int level_of(int x) { return std::countr_zero(static_cast<unsigned>(x)); }
/// The number of nodes that send their sums to the port in column x, on levels 0, 1, ...
constexpr int children(int x, int wafers) {
  int n = 0;
  while (n < levels && x % (2 << n) == 0 && x + (1 << n) < wafers) ++n;
  return n;
}
inline int children(const pe& me) { return children(me.x(), me.width()); }

/// The colors of all weight tiles.
template <class Weight>
inline constexpr color_range<typename weight_format<Weight>::word, max_servers> all_weight_tiles{0};

/// The colors that a port with `count` children reads: the gradients of its wafer and the children's sums.
template <int count>
using reads_sums = reads<to_server, color_range<f32, count>{up(0).id}>;

/// Wires the trees, which lie in the rows of ports.
inline void wire_trees(layout& l) {
  const int wafers = l.width();
  const area ports = rows(0, edge, 2);
  for (int level = 0; level < levels; ++level) {
    const int d = 1 << level;  // nodes d, 3 d, 5 d, ... send d columns to the west
    l.path(up(level), ports.columns(d, wafers, 2 * d), ramp >> west)
        .path(up(level), ports.columns(0, std::max(0, wafers - d), 2 * d), east >> ramp);
    for (int x = 1; x < d; ++x)
      l.path(up(level), ports.columns(x, std::max(x, wafers - d + x), 2 * d), east >> west);
  }
}

template <class Weight>
void wire(layout& l) {
  const int end_row = l.height();  // even
  const bool several = l.width() > 1;
  for (int y = 0; y < max_servers; ++y) {
    const auto c = weight_tiles<Weight>(y);
    const int at = 2 * y;
    if (at >= end_row) {
      l.path(c, columns(0, 0), ramp >> south);
      continue;
    }
    const ports along = y > 0 ? north | south : ports{south};
    l.path(c, row(at).column(0), ramp >> (several ? along | east : along));
    if (several)
      l.path(c, row(at).columns(1, edge - 1), west >> (along | east))
          .path(c, row(at).column(edge - 1), west >> along);
    l.path(c, rows(2, at, 2), south >> north).path(c, rows(at + 2, end_row, 2), north >> south);
    l.path(c, rows(3, at, 2), south >> (ramp | north))
        .path(c, rows(at + 1, end_row - 1, 2), north >> (ramp | south));
    if (y > 0) l.path(c, row(1), south >> ramp);
    l.path(c, row(end_row - 1), north >> ramp);
  }
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
  wire_trees(l);
}

}  // namespace wsl::ml::wires
