// SPDX-License-Identifier: MIT
// The wires of a wafer that trains: one column in which the memory's servers (on a real machine they stand beside the wafer) and the
// workers alternate, server y in row 2 y and worker y below it. A server's slabs are broadcast to all workers; gradients are added up
// from worker to worker toward their server, from both ends.
#pragma once
#include "../../wsl.hpp"

namespace wsl::ml::wires {

inline constexpr int most = 24;

/// Which server or worker a row has.
constexpr int number_in(int row) { return row / 2; }
inline int workers_of(const pe& me) { return me.height() / 2; }

/// The slabs of server y.
constexpr color<f32> slabs(int y) { return {y}; }
/// Sums that go south from even or odd workers, and those that go north.
constexpr color<f32> south_from(int worker) { return {most + worker % 2}; }
constexpr color<f32> north_from(int worker) { return {most + 2 + worker % 2}; }
/// From a worker to its server.
inline constexpr color<f32> home{most + 4};

/// The entries for all slabs in the servers' table and in the workers'.
consteval auto sends_slabs() {
  return []<int... y>(std::integer_sequence<int, y...>) { return table(sends<slabs(y)>()...); }(std::make_integer_sequence<int, most>{});
}
consteval auto reads_slabs() {
  return []<int... y>(std::integer_sequence<int, y...>) { return table(reads<slabs(y)>()...); }(std::make_integer_sequence<int, most>{});
}

inline void wire(layout& l) {
  const int end_row = l.height();  // even
  for (int y = 0; y < most; ++y) {
    const int at = 2 * y;
    if (at >= end_row) {
      l.path(slabs(y), columns(0, 0), ramp >> south);
      continue;
    }
    l.path(slabs(y), row(at), ramp >> (y > 0 ? north | south : ports{south}));
    l.path(slabs(y), rows(2, at, 2), south >> north).path(slabs(y), rows(at + 2, end_row, 2), north >> south);
    l.path(slabs(y), rows(3, at, 2), south >> (ramp | north)).path(slabs(y), rows(at + 1, end_row - 1, 2), north >> (ramp | south));
    if (y > 0) l.path(slabs(y), row(1), south >> ramp);
    l.path(slabs(y), row(end_row - 1), north >> ramp);
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
}

}  // namespace wsl::ml::wires
