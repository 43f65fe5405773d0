// SPDX-License-Identifier: MIT
// A 25-point stencil with a column of cells on each PE (arXiv 2204.03775; the vendor's example 25-pt-stencil): in each of four directions
// every PE hears itself and the four before it, one after the other, and multiplies what it hears at once; switches hand the right to send
// on. Then it adds up, and does the rest along z in its memory. The published times are those of a whole wafer; here a part of it.
#pragma once
#include <cmath>
#include <vector>

#include <wsl/fabric/switches.hpp>

#include "line.hpp"

namespace timing_table {

inline constexpr int reach = 4, senders = reach + 1, side_length = 12;
inline constexpr f32 weights[senders]{-205 / 72.f, 8 / 5.f, -1 / 5.f, 8 / 315.f, -1 / 560.f};
inline constexpr port directions[]{east, west, south, north};
template <int d>
inline constexpr color<f32> heading{d};  // of the direction with this number

/// nz cells, of which the four directions exchange `chunk` at a time.
template <int nz, int chunk>
struct column_of_cells {
  static constexpr std::size_t height = nz, padded = nz + 2 * reach, most = chunk;
  // In the order of the example, which decides what lies in which bank.
  f32 u[2][padded]{};              // zero beyond both ends
  f32 speed[height]{};             // the square of velocity and time step
  f32 acc[height]{};
  f32 heard[4][senders][most]{};
  int now = 0, steps_left = 0, at = 0, open = 0, blocks[4]{};
  std::vector<u64> ends;

  void start(pe& me, int steps) {
    steps_left = steps;
    exchange(me);
  }
  void exchange(pe& me) {
    open = 8;
    begin<0>(me), begin<1>(me), begin<2>(me), begin<3>(me);
  }
  template <int d>
  void begin(pe& me) {
    blocks[d] = 0;
    me.async(mov(fabout(heading<d>), mem(u[now]).part(reach + at, length())), then<&column_of_cells::sent<d>>());
    listen<d>(me);
  }
  // The PE gives up the turn, and becomes the end of the next one's way.
  template <int d>
  void sent(pe& me) {
    me.send_control(heading<d>, {advance, advance, nop, nop, advance});
    me.send_control(heading<d>, advance);
    done(me);
  }
  template <int d>
  void listen(pe& me) {
    me.async(mul(mem(heard[d][blocks[d]]).part(0, length()), fabin(heading<d>), factor(me, d)), then<&column_of_cells::took<d>>());
  }
  template <int d>
  void took(pe& me) {
    if (++blocks[d] < std::min(senders, place(me, d) + 1)) listen<d>(me);
    else done(me);
  }
  void done(pe& me) {
    if (--open == 0) me.activate<&column_of_cells::reduce>();
  }

  void reduce(pe& me) {
    const memory<f32> sum = mem(acc).part(at, length());
    mov(sum, 0);
    for (int d = 0; d < 4; ++d)
      for (int k = 0; k < blocks[d]; ++k) add(sum, sum, mem(heard[d][k]).part(0, length()));
    at += length();
    if (at < nz) return exchange(me);
    at = 0;
    along_z();
    ends.push_back(me.now());
    if (--steps_left > 0) exchange(me);
  }
  void along_z() {
    const auto moved = [&](int k) { return mem(u[now]).part(reach + k, nz); };
    const memory<f32> sum = mem(acc), next = mem(u[1 - now]).part(reach, nz);
    for (int k = 1; k <= reach; ++k) fmac(sum, sum, moved(k), weights[k]), fmac(sum, sum, moved(-k), weights[k]);
    mul(sum, sum, mem(speed));
    fmac(sum, sum, moved(0), 2);
    sub(next, sum, next);
    now = 1 - now;
  }

  int length() const { return std::min(chunk, nz - at); }
  /// From where the words of a direction come.
  static int place(const pe& me, int d) {
    return directions[d] == east ? me.x() : directions[d] == west ? me.width() - 1 - me.x() : directions[d] == south ? me.y() : me.height() - 1 - me.y();
  }
  // Who is heard now: the turn goes by the place's rest. Its own words count once, for all three axes.
  f32 factor(const pe& me, int d) const {
    const int mine = place(me, d), first = std::max(0, mine - reach);
    int heard_before = blocks[d];
    for (int rest = 0; rest < senders; ++rest)
      for (int from = first; from <= mine; ++from)
        if (from % senders == rest && heard_before-- == 0) return from < mine ? weights[mine - from] : d == 0 ? 3 * weights[0] : 0;
    return 0;
  }

  static consteval auto tasks() {
    return []<int... d>(std::integer_sequence<int, d...>) {
      return table(launch<&column_of_cells::start>(), local<&column_of_cells::reduce>(), local<&column_of_cells::sent<d>>()...,
                   local<&column_of_cells::took<d>>()..., sends<heading<d>>()..., reads<heading<d>>()..., steers<heading<d>>(advance)...);
    }(std::make_integer_sequence<int, 4>{});
  }
};

/// Position 0 passes on and hears, 1 sends, 2 talks to itself, 3 hears the end.
inline void wire_localized_broadcast(layout& l, color<f32> c, port to, const area& where, int place) {
  const bool last = place == side_length - 1;
  const ports on = last ? ports{ramp} : to | ramp;
  if (place == 0) return void(l.path(c, where, ramp >> on, switches{.pos1 = {.to = ramp}, .ring = true, .pop = pop::always}));
  switches s{.pos1 = {.from = ramp}, .pos2 = {.to = ramp}, .ring = true, .pop = pop::always};
  if (place >= reach) s.pos3 = {.from = opposite(to)};
  s.start = place % senders == 0 ? 1 : place % senders == reach ? 3 : 0;
  l.path(c, where, opposite(to) >> on, s);
}

/// The same in f64, one cell after the other.
inline std::vector<f64> serial_stencil(std::vector<f64> u, int nz, int steps, f64 speed) {
  constexpr int n = side_length;
  std::vector<f64> before(u.size()), next(u.size());
  const auto cell = [&](int x, int y, int z) {
    return x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= nz ? 0 : u[static_cast<std::size_t>((y * n + x) * nz + z)];
  };
  for (; steps > 0; --steps) {
    for (int i = 0; i < n * n * nz; ++i) {
      const int x = i / nz % n, y = i / nz / n, z = i % nz;
      f64 sum = 3 * f64{weights[0]} * cell(x, y, z);
      for (int k = 1; k <= reach; ++k)
        sum += f64{weights[k]} * (cell(x - k, y, z) + cell(x + k, y, z) + cell(x, y - k, z) + cell(x, y + k, z) + cell(x, y, z - k) + cell(x, y, z + k));
      const auto k = static_cast<std::size_t>(i);
      next[k] = 2 * u[k] - before[k] + speed * sum;
    }
    before.swap(u), u.swap(next);
  }
  return u;
}

/// Cycles that the slowest PE takes for a step, for each of its cells.
template <int nz, int chunk>
f64 stencil_cycles_a_cell() {
  using cells = column_of_cells<nz, chunk>;
  constexpr int n = side_length, steps = 4;
  constexpr f32 speed = 0.05f;
  layout plate{wse2, n, n};
  plate.place(all, program_v<cells>);
  for (int i = 0; i < n; ++i) {
    wire_localized_broadcast(plate, heading<0>, east, column(i), i);
    wire_localized_broadcast(plate, heading<1>, west, column(i), n - 1 - i);
    wire_localized_broadcast(plate, heading<2>, south, row(i), i);
    wire_localized_broadcast(plate, heading<3>, north, row(i), n - 1 - i);
  }
  fabric f{plate, timed{}};
  std::vector<f64> u(static_cast<std::size_t>(n * n * nz));
  for (int i = 0; i < n * n; ++i) {
    cells& p = f.program_at<cells>({i % n, i / n});
    for (int z = 0; z < nz; ++z)
      p.speed[z] = speed, u[static_cast<std::size_t>(i * nz + z)] = p.u[0][reach + z] = static_cast<f32>(std::sin(0.7 * i + 0.3 * z));
  }
  f.template launch<&cells::start>(all, steps);
  u = serial_stencil(u, nz, steps, speed);
  u64 slowest = 0;
  for (int i = 0; i < n * n; ++i) {
    const cells& p = f.program_at<cells>({i % n, i / n});
    for (int z = 0; z < nz; ++z)
      if (const f64 right = u[static_cast<std::size_t>(i * nz + z)]; std::abs(p.u[p.now][reach + z] - right) > 2e-5)
        must_be(p.u[p.now][reach + z], static_cast<f32>(right), "the stencil");
    slowest = std::max(slowest, p.ends[steps - 1] - p.ends[0]);
  }
  return static_cast<f64>(slowest) / ((steps - 1) * nz);
}

}  // namespace timing_table
