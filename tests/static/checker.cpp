// SPDX-License-Identifier: MIT
// Compiling is passing: constant layouts of the size of a wafer are checked within the default limits of the compilers, at a cost
// that does not depend on the number of PEs.
#include <wsl/layout/check.hpp>

using namespace wsl;

namespace {

// ---- a halo exchange and an all-reduce on the whole wafer ----

constexpr int halo_colors = 8, reduce_x = 8, reduce_y = 9, result = 10;

struct cell_table {
  binding entries[32]{};
  int size = 0;
  constexpr void add(role what, int color) { entries[size++] = {.what = what, .id = color, .type = &payload_type_of<f32>}; }
};

constexpr cell_table cell_entries = [] {
  cell_table t;
  t.entries[t.size++] = {.what = role::launch, .id = 0, .name = "start"};
  for (int c = 0; c < halo_colors; ++c) t.add(role::read, c), t.add(role::send, c);
  for (int c : {reduce_x, reduce_y}) t.add(role::data, c), t.add(role::send, c);
  t.add(role::data, result), t.add(role::send, result);
  return t;
}();
constexpr program cell{.name = "cell", .bytes = 4096, .table = cell_entries.entries, .entries = cell_entries.size};

/// Even columns (rows) talk to odd ones in one color and odd ones to even ones in the next.
constexpr void wire_halo(layout& l) {
  for (int parity : {0, 1}) {
    l.path(color<f32>{0 + parity}, columns(parity, end - 1, 2), ramp >> east)
        .path(color<f32>{0 + parity}, columns(parity + 1, end, 2), west >> ramp)
        .path(color<f32>{2 + parity}, columns(parity + 1, end, 2), ramp >> west)
        .path(color<f32>{2 + parity}, columns(parity, end - 1, 2), east >> ramp)
        .path(color<f32>{4 + parity}, rows(parity, end - 1, 2), ramp >> south)
        .path(color<f32>{4 + parity}, rows(parity + 1, end, 2), north >> ramp)
        .path(color<f32>{6 + parity}, rows(parity + 1, end, 2), ramp >> north)
        .path(color<f32>{6 + parity}, rows(parity, end - 1, 2), south >> ramp);
  }
}

/// Rows gather at column 0, column 0 gathers at the corner, and the corner tells everybody.
constexpr void wire_all_reduce(layout& l) {
  const color<f32> x{reduce_x}, y{reduce_y}, out{result};
  l.path(x, column(end - 1), ramp >> west)
      .path(x, columns(1, end - 1), (east | ramp) >> west, merge)
      .path(x, column(0), east >> ramp)
      .path(y, at(0, end - 1), ramp >> north)
      .path(y, column(0).rows(1, end - 1), (south | ramp) >> north, merge)
      .path(y, at(0, 0), south >> ramp)
      .path(out, at(0, 0), ramp >> (east | south | ramp))
      .path(out, column(0).rows(1, end - 1), north >> (east | south | ramp))
      .path(out, at(0, end - 1), north >> (east | ramp))
      .path(out, columns(1, end - 1), west >> (east | ramp))
      .path(out, column(end - 1), west >> ramp);
}

constexpr layout plate(int width, int height) {
  layout l{wse2, width, height};
  l.place(all, cell);
  wire_halo(l);
  wire_all_reduce(l);
  return l;
}

#ifndef WSL_PLATE_WIDTH
constexpr int width = 750, height = 994;
#else
constexpr int width = WSL_PLATE_WIDTH, height = WSL_PLATE_HEIGHT;
#endif

constexpr layout halo_and_all_reduce = plate(width, height);
static_assert(routed<halo_and_all_reduce>());
static_assert(live<halo_and_all_reduce>());

}  // namespace
