// SPDX-License-Identifier: MIT
// A distributed matrix product (MeshGEMM, github MeshInfra/WaferLLM), task by task and operation by
// operation: P x P PEs, tiles of n x n halves. In P / 2 rounds the rows are skewed; in P steps a PE
// multiplies its tiles while the next ones travel along the rings of rows and columns. A ring is folded onto
// the line, 0, 2, 4, ... 5, 3, 1, so that no hop is longer than two. Rounds and steps do not depend on P, so
// two turns of a ring of 6 stand for the published ones.
#pragma once
#include <wsl/program/counted.hpp>
#include <wsl/program/descriptor/window.hpp>

#include "line.hpp"

namespace timing_table {

inline constexpr int ring = 6, ring_steps = 2 * ring;
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

template <int tile>
struct multiplier {
  static constexpr std::size_t cells = tile * tile;
  f16 x[2][cells]{}, w[2][cells]{}, c[cells]{}, echo[static_cast<std::size_t>(tile)]{};
  int now = 0, rounds_left = 0, steps_left = 0;
  window<f16> out{mem(c)};
  u64 begin = 0, end = 0;

  void start(pe& me, int times) {
    for (int k = 0; k < tile * tile; ++k) x[0][k] = x[1][k] = f16(0.25f), w[0][k] = w[1][k] = f16(0.5f);
    rounds_left = times / 2, steps_left = times;
    begin = me.now();
    skew(me);
  }

  // These charge what the original does besides operations: set_base is @set_dsd_base_addr or
  // @increment_dsd_offset, load is @load_to_dsr.
  static void set_base(pe& me, u64 times) { me.spend(2 * times); }
  static void load(pe& me, u64 times) { me.spend(times * static_cast<u64>(me.machine().descriptor_load)); }
  static void swap(pe& me) { me.spend(3); }

  void skew(pe& me) {
    if (rounds_left == 0) {
      mov(mem(c), f16(0));
      return step(me);
    }
    --rounds_left;
    me.spend(8), swap(me);  // the two counters of rounds are compared and counted
    set_base(me, 2), load(me, 2);
    me.async(mov(fabout(rows_ring.out(me.x())), words(x[now])), unblocks<&multiplier::skewed>());
    me.async(mov(words(x[1 - now]), fabin(rows_ring.in(me.x()))), then<&multiplier::skewed>());
    now = 1 - now;
  }
  void skewed(pe& me) {
    me.block<&multiplier::skewed>();
    skew(me);
  }

  void step(pe& me) {
    const int next = 1 - now;
    swap(me), swap(me);
    if (steps_left-- == 0) return void(end = me.now());
    me.spend(2);
    set_base(me, 4), load(me, 4);
    me.async(mov(fabout(rows_ring.out(me.x())), words(x[now])), unblocks<&multiplier::x_finished>());
    me.async(mov(words(x[next]), fabin(rows_ring.in(me.x()))), then<&multiplier::x_finished>());
    me.async(mov(fabout(columns_ring.out(me.y())), words(w[now])), unblocks<&multiplier::w_finished>());
    me.async(mov(words(w[next]), fabin(columns_ring.in(me.y()))), then<&multiplier::w_finished>());
    multiply(me);
    now = next;
    me.activate<&multiplier::next_step>();
  }
  // c += a column of x times a row of w, for each of them.
  void multiply(pe& me) {
    set_base(me, 2), me.spend(2);  // and their lengths
    for (counted<i16> k = i16{0}; k < i16{tile}; ++k) {
      set_base(me, 3), load(me, 1);
      out.set_offset(0).set_length(tile);
      const memory<f16> column = mem(x[now]).part(k.value() * tile, tile);
      map_each(
          [this, &column](f16 factor) {
            const memory<f16> row = out.next(tile);
            fmac(row, row, column, factor);
            return factor;
          },
          mem(echo), mem(w[now]).part(k.value() * tile, tile));
    }
  }
  // The barrier: x_finished when x is sent and received, w_finished likewise, then both and the product.
  void x_finished(pe& me) { me.block<&multiplier::x_finished>(), me.unblock<&multiplier::both_finished>(); }
  void w_finished(pe& me) { me.block<&multiplier::w_finished>(), me.activate<&multiplier::both_finished>(); }
  void both_finished(pe& me) { me.block<&multiplier::both_finished>(), me.unblock<&multiplier::next_step>(); }
  void next_step(pe& me) {
    me.block<&multiplier::next_step>();
    step(me);
  }

  // Two halves travel in one wavelet.
  static memory<pair> words(f16 (&numbers)[cells]) {
    return {reinterpret_cast<pair*>(numbers), tile * tile / 2};
  }

  using tasks = task_list<launch<&multiplier::start>, local<&multiplier::skewed, blocked>,
                          local<&multiplier::x_finished, blocked>, local<&multiplier::w_finished, blocked>,
                          local<&multiplier::both_finished, blocked>, local<&multiplier::next_step, blocked>,
                          sends<color_range<pair, 6>{0}>, reads<color_range<pair, 6>{0}>>;
};

/// The cycles of the product on P x P PEs.
template <int tile>
f64 mesh_gemm_cycles(const machine& m, int P) {
  using worker = multiplier<tile>;
  layout mesh{m, ring, ring};
  mesh.place<worker>(all);
  for (int at = 0; at < ring; ++at)
    rows_ring.wire(mesh, column(at), at), columns_ring.wire(mesh, row(at), at);
  fabric f{mesh, timed{}};
  f.launch<&worker::start>(all, ring_steps);
  u64 begin = ~u64{0}, end = 0;
  for (int i = 0; i < ring * ring; ++i) {
    const worker& p = f.program_at<worker>({i % ring, i / ring});
    must_be(p.c[i % (tile * tile)], 0.25f * 0.5f * tile * ring_steps, "MeshGEMM");
    begin = std::min(begin, p.begin), end = std::max(end, p.end);
  }
  return static_cast<f64>(end - begin) * P / ring_steps;
}

}  // namespace timing_table
