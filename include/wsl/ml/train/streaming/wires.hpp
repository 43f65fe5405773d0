// SPDX-License-Identifier: MIT
// The wires of wafers that train. A wafer is a column in which ports to the memory and workers alternate,
// port y in row 2 y and worker y below it. In the first column the ports are the memory's servers themselves
// (on a real machine they stand beside the wafer), in the others nodes of the trees that join the wafers. A
// server's slabs are broadcast to all workers of all wafers; gradients are added up from worker to worker
// toward their port, from both ends, and then from port to port.
#pragma once
#include <algorithm>
#include <bit>

#include "../../../wsl.hpp"
#include "weight_format.hpp"

namespace wsl::ml::wires {

inline constexpr int most = 24;  ///< servers, and workers of a wafer
inline constexpr int most_wafers = 16, levels = 4;

/// Which server or worker a row has.
constexpr int number_in(int row) { return row / 2; }
inline int workers_of(const pe& me) { return me.height() / 2; }

/// The slabs of server y.
template <class Weight>
constexpr color<typename weight_format<Weight>::word> weight_tiles(int y) {
  return {y};
}
/// Sums that go south from even or odd workers, and those that go north.
constexpr color<f32> south_from(int worker) { return {most + worker % 2}; }
constexpr color<f32> north_from(int worker) { return {most + 2 + worker % 2}; }
/// From a worker to its server.
inline constexpr color<f32> home{most + 4};

/// From a node of a tree to the one 2^level to the west.
constexpr color<f32> up(int level) { return {most + 5 + level}; }

/// Of the node in column x > 0: how far to the west its sums go.
constexpr int level_of(int x) { return std::countr_zero(static_cast<unsigned>(x)); }
/// How many nodes send their sums to the port in column x of a cluster: on levels 0, 1, ...
constexpr int children(int x, int wafers) {
  int n = 0;
  while (n < levels && x % (2 << n) == 0 && x + (1 << n) < wafers) ++n;
  return n;
}
inline int children(const pe& me) { return children(me.x(), me.width()); }

/// The colors of all weight tiles.
template <class Weight>
inline constexpr color_range<typename weight_format<Weight>::word, most> all_weight_tiles{0};

/// The entries for what a port adds up: its wafer's gradients and the sums of so many nodes.
template <int count>
using reads_sums = reads<home, color_range<f32, count>{up(0).id}>;

/// The trees in the rows of ports.
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
  for (int y = 0; y < most; ++y) {
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
  l.path(home, rows(1, end_row, 2), ramp >> north).path(home, rows(0, end_row, 2), south >> ramp);
  wire_trees(l);
}

}  // namespace wsl::ml::wires
