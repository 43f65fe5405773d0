// SPDX-License-Identifier: MIT
// Layouts that are hard on the checker, for tests at compile time and at run time; benchmarks/compile
// measures some of them.
#pragma once
#include <wsl/layout/check.hpp>

namespace shapes {

using namespace wsl;
using namespace wsl::detail;

struct talker_table {
  binding entries[48]{};
  int size = 0;
};
template <int Colors>
constexpr talker_table talker_entries = [] {
  talker_table t;
  for (int c = 0; c < Colors; ++c) {
    t.entries[t.size++] = {.what = role::data, .id = c, .type = &payload_type_of<f32>};
    t.entries[t.size++] = {.what = role::send, .id = c, .type = &payload_type_of<f32>};
  }
  return t;
}();
template <int Colors>
constexpr program talker{.name = "talker",
                         .bytes = 64,
                         .table = talker_entries<Colors>.entries,
                         .entries = talker_entries<Colors>.size};

/// Pairs of paths, at most 512, spread over so many colors.
template <int Colors>
constexpr layout pairs(int n = 256) {
  layout l{wse2, 64, 64};
  l.place(all, talker<Colors>);
  for (int i = 0; i < n; ++i) {
    const color<f32> c{i % Colors};
    const int x = 2 * (i % 16), y = i / 16;
    l.path(c, at(x, y), ramp >> east).path(c, at(x + 1, y), west >> ramp);
  }
  return l;
}
/// A row of single PEs, each with a path of its own.
constexpr layout beads(int n) {
  layout l{wse2, n, 1};
  l.place(all, talker<1>);
  for (int i = 0; i < n; ++i) {
    const route r{i == 0 ? ports{ramp} : ports{west}, i == n - 1 ? ports{ramp} : ports{east}};
    l.path(color<f32>{0}, at(i, 0), r);
  }
  return l;
}
/// Full-size strided regions that all overlap in their bounding boxes: each residue class of columns is a
/// path of its own.
constexpr layout combs(int stride) {
  layout l{wse2, 750, 994};
  l.place(all, talker<1>);
  const color<f32> c{0};
  for (int i = 0; i + 1 < stride; i += 2) {
    l.path(c, columns(i, edge - 1, stride), ramp >> east);
    l.path(c, columns(i + 1, edge, stride), west >> ramp);
  }
  return l;
}
/// Receivers with strides that have no common measure with those of the senders: rows of stride 16 against
/// stride 15, 14, ...
constexpr layout mixed() {
  layout l{wse2, 750, 994};
  l.place(all, talker<1>);
  const color<f32> c{0};
  l.path(c, column(10).rows(0, edge), ramp >> east);
  for (int i = 0; i < 16; ++i) l.path(c, column(11).rows(i, edge, 16), west >> ramp);
  l.path(c, column(21).rows(0, edge), west >> ramp);
  for (int i = 0; i < 15; ++i) l.path(c, column(20).rows(i, edge, 15), ramp >> east);
  for (int i = 0; i < 7; ++i) l.path(c, column(30).rows(i, edge, 7), ramp >> east);
  for (int i = 0; i < 13; ++i) l.path(c, column(31).rows(i, edge, 13), west >> ramp);
  return l;
}
/// One color that snakes through the whole grid.
constexpr layout snake(int w, int h) {
  layout l{wse2, w, h};
  l.place(all, talker<1>);
  const color<f32> c{0};
  l.path(c, at(0, 0), ramp >> east);
  l.path(c, columns(1, edge - 1).rows(0, edge, 2), west >> east);
  l.path(c, columns(1, edge - 1).rows(1, edge, 2), east >> west);
  l.path(c, column(edge - 1).rows(0, edge, 2), west >> south);
  l.path(c, column(edge - 1).rows(1, edge, 2), north >> west);
  l.path(c, column(0).rows(1, edge - 1, 2), east >> south);
  l.path(c, column(0).rows(2, edge, 2), north >> east);
  l.path(c, at(0, edge - 1), east >> ramp);
  return l;
}

/// Blocks of four columns, each a snake; the even ones go south, the odd ones north, and the runs between the
/// turns are the same records. So the records go in circles although no wavelet does, and only a walk over
/// the PEs can tell. With `closed` the first two rows of the first block are a circle.
constexpr layout weave(int w, int h, bool closed = false) {
  layout l{wse2, w, h};
  l.place(all, talker<1>);
  const color<f32> c{0};
  for (int x : {1, 2}) {
    l.path(c, columns(x, edge, 4).rows(0, edge, 2), west >> east);
    l.path(c, columns(x, edge, 4).rows(1, edge, 2), east >> west);
  }
  const int turns = closed ? 8 : 0;
  if (closed)
    l.path(c, at(0, 0), (ramp | south) >> east, merges)
        .path(c, at(0, 1), east >> north)
        .path(c, at(0, 2), ramp >> east);
  if (closed)
    l.path(c, column(0).rows(4, edge, 2), north >> east)
        .path(c, column(0).rows(3, edge - 1, 2), east >> south);
  if (closed) l.path(c, at(0, edge - 1), east >> ramp);
  l.path(c, columns(turns, edge, 8).row(0), ramp >> east);
  l.path(c, columns(turns, edge, 8).rows(2, edge, 2), north >> east);
  l.path(c, columns(turns, edge, 8).rows(1, edge - 1, 2), east >> south);
  l.path(c, columns(turns, edge, 8).row(edge - 1), east >> ramp);
  l.path(c, columns(3, edge, 8).rows(0, edge, 2), west >> south);
  l.path(c, columns(3, edge, 8).rows(1, edge, 2), north >> west);
  l.path(c, columns(4, edge, 8).rows(1, edge, 2), east >> north);
  l.path(c, columns(4, edge, 8).rows(0, edge, 2), south >> east);
  l.path(c, columns(7, edge, 8).row(0), west >> ramp);
  l.path(c, columns(7, edge, 8).rows(2, edge, 2), west >> north);
  l.path(c, columns(7, edge, 8).rows(1, edge - 1, 2), south >> west);
  l.path(c, columns(7, edge, 8).row(edge - 1), ramp >> west);
  return l;
}

/// Senders and receivers cover the same links with strides that have nothing in common, so that every record
/// meets every other.
constexpr layout tangle(int send_every, int take_every) {
  layout l{wse2, 750, 994};
  l.place(all, talker<1>);
  const color<f32> c{0};
  for (int y = 0; y < send_every; ++y)
    for (int x = 0; x < send_every; x += 2)
      l.path(c, columns(x, edge - 1, send_every).rows(y, edge, send_every), ramp >> east);
  for (int y = 0; y < take_every; ++y)
    for (int x = 1; x < take_every + 1; x += 2)
      l.path(c, columns(x, edge, take_every).rows(y, edge, take_every), west >> ramp);
  return l;
}

/// Every second row: a fork whose branches end at two different merges of one record, so that only a walk can
/// tell.
constexpr layout shuttles(int h) {
  layout l{wse2, 9, h};
  l.place(all, talker<1>);
  const color<f32> c{0};
  l.path(c, column(0).rows(0, edge - 1, 2), ramp >> (east | south));
  l.path(c, columns(1, 5).rows(0, edge - 1, 2), west >> east);
  l.path(c, column(0).rows(1, edge - 1, 2), north >> east);
  l.path(c, columns(1, 8).rows(1, edge - 1, 2), west >> east);
  l.path(c, column(8).rows(1, edge - 1, 2), west >> south);
  l.path(c, column(8).rows(2, edge, 2), north >> west);
  l.path(c, columns(6, 8).rows(2, edge, 2), east >> west);
  l.path(c, column(5).rows(2, edge - 1, 2), (east | west) >> ramp, merges);
  l.path(c, at(5, 0), west >> ramp);
  l.path(c, at(5, edge - 1), east >> ramp);
  return l;
}

inline constexpr int halo_colors = 8, reduce_x = 8, reduce_y = 9, result = 10;

struct cell_table {
  binding entries[32]{};
  int size = 0;
  constexpr void add(role what, int color) {
    entries[size++] = {.what = what, .id = color, .type = &payload_type_of<f32>};
  }
};

inline constexpr cell_table cell_entries = [] {
  cell_table t;
  t.entries[t.size++] = {.what = role::launch, .id = 0, .name = "start"};
  for (int c = 0; c < halo_colors; ++c) t.add(role::read, c), t.add(role::send, c);
  for (int c : {reduce_x, reduce_y}) t.add(role::data, c), t.add(role::send, c);
  t.add(role::data, result), t.add(role::send, result);
  return t;
}();
inline constexpr program cell{
    .name = "cell", .bytes = 4096, .table = cell_entries.entries, .entries = cell_entries.size};

/// Even columns (rows) talk to odd ones in one color and odd ones to even ones in the next.
constexpr void wire_halo(layout& l) {
  for (int parity : {0, 1}) {
    l.path(color<f32>{0 + parity}, columns(parity, edge - 1, 2), ramp >> east)
        .path(color<f32>{0 + parity}, columns(parity + 1, edge, 2), west >> ramp)
        .path(color<f32>{2 + parity}, columns(parity + 1, edge, 2), ramp >> west)
        .path(color<f32>{2 + parity}, columns(parity, edge - 1, 2), east >> ramp)
        .path(color<f32>{4 + parity}, rows(parity, edge - 1, 2), ramp >> south)
        .path(color<f32>{4 + parity}, rows(parity + 1, edge, 2), north >> ramp)
        .path(color<f32>{6 + parity}, rows(parity + 1, edge, 2), ramp >> north)
        .path(color<f32>{6 + parity}, rows(parity, edge - 1, 2), south >> ramp);
  }
}

/// Rows gather at column 0, column 0 gathers at the corner, and the corner tells everybody.
constexpr void wire_all_reduce(layout& l) {
  const color<f32> x{reduce_x}, y{reduce_y}, out{result};
  l.path(x, column(edge - 1), ramp >> west)
      .path(x, columns(1, edge - 1), (east | ramp) >> west, merges)
      .path(x, column(0), east >> ramp)
      .path(y, at(0, edge - 1), ramp >> north)
      .path(y, column(0).rows(1, edge - 1), (south | ramp) >> north, merges)
      .path(y, at(0, 0), south >> ramp)
      .path(out, at(0, 0), ramp >> (east | south | ramp))
      .path(out, column(0).rows(1, edge - 1), north >> (east | south | ramp))
      .path(out, at(0, edge - 1), north >> (east | ramp))
      .path(out, columns(1, edge - 1), west >> (east | ramp))
      .path(out, column(edge - 1), west >> ramp);
}

/// A halo exchange and an all-reduce on the whole grid. A PE reads four of the eight colors of the halo: with
/// fewer than eight input queues, the checker has to look at the regions that the same colors reach.
constexpr layout plate(int width, int height, int input_queues = wse2.input_queues) {
  machine target = wse2;
  target.input_queues = input_queues;
  layout l{target, width, height};
  l.place(all, cell);
  wire_halo(l);
  wire_all_reduce(l);
  return l;
}

}  // namespace shapes
