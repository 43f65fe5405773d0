// SPDX-License-Identifier: MIT
// The inner step of a distributed matrix product (MeshGEMM, github MeshInfra/WaferLLM): P x P PEs, tiles of
// 12 x 12 halves. While a PE multiplies its tiles, the next ones travel along the rings of rows and columns.
// A ring is folded onto the line, 0, 2, 4, ... 5, 3, 1, so that no hop is longer than two. The published time
// is that of P = 360; a step does not depend on P. The constant operation_setup is derived from this
// measurement, so the row is calibration.
#pragma once
#include "line.hpp"

namespace timing_table {

inline constexpr int tile = 12, ring = 12;  // P here
using pair = halves<f16, f16>;

/// Three colors carry a ring: even PEs send away from the origin, odd ones back, and those between pass on.
struct folded_ring {
  int first;
  port away, back;

  constexpr color<pair> nth(int i) const { return {first + (i + 3) % 3}; }
  constexpr color<pair> out(int at) const { return nth(at % 2 ? at - 1 : at + 1); }
  constexpr color<pair> in(int at) const {
    if (at == 0) return nth(0);
    if (at == ring - 1) return nth(at);
    return nth(at % 2 ? at + 1 : at - 1);
  }
  /// The routes of one place on the ring.
  void wire(layout& l, const area& where, int at) const {
    const port on = at % 2 ? back : away;
    l.path(out(at), where, ramp >> (at == 0 ? away : at == ring - 1 ? back : on));
    l.path(in(at), where, (at == 0 ? away : at == ring - 1 ? back : at % 2 ? away : back) >> ramp);
    if (at > 0 && at < ring - 1) l.path(nth(at), where, at % 2 ? back >> away : away >> back);
  }
};

inline constexpr folded_ring rows_ring{0, east, west}, columns_ring{3, south, north};

struct multiplier {
  f16 x[2][tile * tile]{}, w[2][tile * tile]{}, c[tile * tile]{};
  int now = 0, steps_left = 0;
  u64 begin = 0, end = 0;

  void start(pe& me, int steps) {
    for (int k = 0; k < tile * tile; ++k) x[0][k] = f16(0.25f), w[0][k] = f16(0.5f);
    steps_left = steps;
    begin = me.now();
    me.activate<&multiplier::step>();
  }
  void step(pe& me) {
    const int next = 1 - now;
    me.async(mov(fabout(rows_ring.out(me.x())), words(x[now])), unblocks<&multiplier::x_sent>());
    me.async(mov(words(x[next]), fabin(rows_ring.in(me.x()))), unblocks<&multiplier::x_here>());
    me.async(mov(fabout(columns_ring.out(me.y())), words(w[now])), unblocks<&multiplier::w_sent>());
    me.async(mov(words(w[next]), fabin(columns_ring.in(me.y()))), unblocks<&multiplier::w_here>());
    for (int i = 0; i < tile; ++i)
      for (int k = 0; k < tile; ++k) {
        const memory<f16> row = mem(c).part(i * tile, tile);
        fmac(row, row, mem(w[now]).part(k * tile, tile), x[now][i * tile + k]);
      }
    me.activate<&multiplier::x_sent>();
  }
  // The barrier: each task waits for one of the four transfers.
  void x_sent(pe& me) { me.block<&multiplier::x_sent>(), me.activate<&multiplier::x_here>(); }
  void x_here(pe& me) { me.block<&multiplier::x_here>(), me.activate<&multiplier::w_sent>(); }
  void w_sent(pe& me) { me.block<&multiplier::w_sent>(), me.activate<&multiplier::w_here>(); }
  void w_here(pe& me) {
    me.block<&multiplier::w_here>();
    now = 1 - now;
    if (--steps_left > 0) me.activate<&multiplier::step>();
    else end = me.now();
  }

  // Two halves travel in one wavelet.
  static memory<pair> words(f16 (&numbers)[tile * tile]) {
    return {reinterpret_cast<pair*>(numbers), tile * tile / 2};
  }

  using tasks = task_list<launch<&multiplier::start>, local<&multiplier::step>,
                          local<&multiplier::x_sent, blocked>, local<&multiplier::x_here, blocked>,
                          local<&multiplier::w_sent, blocked>, local<&multiplier::w_here, blocked>,
                          sends<color_range<pair, 6>{0}>, reads<color_range<pair, 6>{0}>>;
};

/// The cycles of one step: the mean over one turn of the rings.
inline f64 mesh_gemm_step_cycles(const machine& m) {
  layout mesh{m, ring, ring};
  mesh.place<multiplier>(all);
  for (int at = 0; at < ring; ++at)
    rows_ring.wire(mesh, column(at), at), columns_ring.wire(mesh, row(at), at);
  fabric f{mesh, timed{}};
  f.launch<&multiplier::start>(all, ring);
  u64 begin = ~u64{0}, end = 0;
  for (int i = 0; i < ring * ring; ++i) {
    const multiplier& p = f.program_at<multiplier>({i % ring, i / ring});
    must_be(p.c[i % (tile * tile)], 0.25f * 0.5f * tile * ring, "MeshGEMM");
    begin = std::min(begin, p.begin), end = std::max(end, p.end);
  }
  return static_cast<f64>(end - begin) / ring;
}

}  // namespace timing_table
