// SPDX-License-Identifier: MIT
// The wires of a wafer that trains: in column 0 the servers of the memory (on a real machine they stand beside the wafer), in column
// 1 a worker in each row. A server's slabs are broadcast to all workers; gradients are added up along the column toward the row of
// their server, from both ends, and go home there.
#pragma once
#include "../../wsl.hpp"

namespace wsl::ml::wires {

inline constexpr int most_rows = 24;

/// The slabs of the server in row y.
constexpr color<f32> slabs(int y) { return {y}; }
/// Sums that go south from even or odd rows, and those that go north.
constexpr color<f32> south_from(int row) { return {most_rows + row % 2}; }
constexpr color<f32> north_from(int row) { return {most_rows + 2 + row % 2}; }
/// From a worker to the server of its row.
inline constexpr color<f32> home{most_rows + 4};

/// The entries for all slabs in the servers' table and in the workers'.
consteval auto sends_slabs() {
  return []<int... y>(std::integer_sequence<int, y...>) { return table(sends<slabs(y)>()...); }(std::make_integer_sequence<int, most_rows>{});
}
consteval auto reads_slabs() {
  return []<int... y>(std::integer_sequence<int, y...>) { return table(reads<slabs(y)>()...); }(std::make_integer_sequence<int, most_rows>{});
}

inline void wire(layout& l) {
  const int rows = l.height(), last = rows - 1;
  const auto worker = [](int from, int to, int every = 1) { return wsl::rows(from, to, every).column(1); };
  for (int y = 0; y < most_rows; ++y) {
    if (y >= rows) {
      l.path(slabs(y), columns(0, 0), ramp >> east);
      continue;
    }
    l.path(slabs(y), at(0, y), ramp >> east);
    l.path(slabs(y), at(1, y), west >> (ramp | (y > 0 ? ports{north} : ports{}) | (y < last ? ports{south} : ports{})));
    l.path(slabs(y), worker(1, y), south >> (ramp | north)).path(slabs(y), worker(y + 1, last), north >> (ramp | south));
    if (y > 0) l.path(slabs(y), at(1, 0), south >> ramp);
    if (y < last) l.path(slabs(y), at(1, last), north >> ramp);
  }
  for (int p : {0, 1}) {
    l.path(south_from(p), worker(p, last, 2), ramp >> south).path(south_from(p), worker(p + 1, rows, 2), north >> ramp);
    l.path(north_from(p), worker(p ? 1 : 2, rows, 2), ramp >> north).path(north_from(p), worker(p ? 0 : 1, last, 2), south >> ramp);
  }
  l.path(home, column(1), ramp >> west).path(home, column(0), east >> ramp);
}

}  // namespace wsl::ml::wires
