// SPDX-License-Identifier: MIT
// A 25-point stencil with a column of cells on each PE (arXiv 2204.03775; the vendor's example
// 25-pt-stencil). In each of four directions every PE receives its own column and those of the four PEs
// before it, one after the other, and multiplies the words as they come; switches pass on the right to send.
// Then it adds up, and computes the part along z in its memory. The published times are those of a whole
// wafer; this is a part of one.
#pragma once
#include <cmath>
#include <vector>

#include <wsl/layout/switches.hpp>
#include <wsl/program/descriptor/box.hpp>

#include "line.hpp"

namespace timing_table {

inline constexpr int reach = 4, senders = reach + 1, side_length = 12;
inline constexpr f32 weights[senders]{-205 / 72.f, 8 / 5.f, -1 / 5.f, 8 / 315.f, -1 / 560.f};
inline constexpr port directions[]{east, west, south, north};
template <int d>
inline constexpr color<f32> heading{d};  // the color of the direction with this number
template <class Use>
void each_of_four(Use use) {
  [&]<int... d>(std::integer_sequence<int, d...>) {
    (use.template operator()<d>(), ...);
  }(std::make_integer_sequence<int, 4>{});
}

/// nz cells, in as many equal chunks as in the example. The program equals the example task by task and
/// operation by operation, except for the source of waves, which one PE adds to one cell.
template <int nz>
struct column_of_cells {
  static constexpr int chunks = 1 + nz / 401, chunk = (nz + chunks - 1) / chunks;
  static constexpr std::size_t height = nz, padded = chunks * chunk, all_heard = senders * chunk;
  // The members are in the order of the example, because the order decides the memory banks of arrays.
  f32 u[2][padded + 2 * reach]{};  // zero beyond both ends
  f32 speed[height]{};             // the square of velocity and time step
  f32 factors[4][senders]{};       // the factors of the senders, in the order of their turns
  f32 acc[padded]{};
  f32 heard[4 * all_heard]{};
  int now = 0, steps_left = 0, ways_sent = 0, ways_heard = 0, chunks_sent = 0, chunks_heard = 0;
  std::vector<u64> ends;

  void start(pe& me, int steps) {
    steps_left = steps;
    for (int d = 0; d < 4; ++d) set_factors(me, d);
    me.activate<&column_of_cells::exchange>();
  }
  void exchange(pe& me) {
    mov(mem(acc).part(0, nz), 0);
    chunks_sent = chunks_heard = 0;
    each_of_four([&]<int d>() { listen<d>(me); });
    each_of_four([&]<int d>() { send<d>(me); });
  }

  template <int d>
  void send(pe& me) {
    me.async(mov(fabout(heading<d>), mem(u[now]).part(reach + chunks_sent * chunk, chunk)),
             then<&column_of_cells::sent<d>>());
  }
  // The PE gives up the turn, then becomes the end of the next one's way. A command is a word in memory,
  // which an operation sends.
  template <int d>
  void sent(pe& me) {
    me.spend(static_cast<u64>(me.machine().operation_setup));
    me.send_control(heading<d>, {switch_adv, switch_adv, nop, nop, switch_adv});
    me.activate<&column_of_cells::gave_up<d>>();
  }
  template <int d>
  void gave_up(pe& me) {
    me.spend(static_cast<u64>(me.machine().operation_setup));
    me.send_control(heading<d>, switch_adv);
    me.activate<&column_of_cells::stood_back<d>>();
  }
  template <int d>
  void stood_back(pe& me) {
    if (++ways_sent < 4) return;
    ways_sent = 0;
    if (++chunks_sent < chunks) each_of_four([&]<int e>() { send<e>(me); });
    else if (chunks_heard == chunks) end_step(me);
  }

  template <int d>
  void listen(pe& me) {
    const int n = count(me, d);
    me.async(mul(mem(heard).part(d * senders * chunk, n * chunk), fabin(heading<d>, n * chunk),
                 box(mem(factors[d]), {n, chunk}, {1, 0})),
             then<&column_of_cells::took<d>>());
  }
  template <int d>
  void took(pe& me) {
    if (++ways_heard < 4) return;
    ways_heard = 0;
    const auto sum = box(mem(acc).part(chunks_heard * chunk, chunk), {4, senders, chunk}, {0, 0, 1});
    add(sum, sum, mem(heard));
    if (++chunks_heard < chunks) each_of_four([&]<int e>() { listen<e>(me); });
    else if (chunks_sent == chunks) end_step(me);
  }

  void end_step(pe& me) {
    along_z();
    ends.push_back(me.now());
    if (--steps_left > 0) me.activate<&column_of_cells::exchange>();
  }
  void along_z() {
    const auto moved = [&](int k) { return mem(u[now]).part(reach + k, nz); };
    const memory<f32> sum = mem(acc).part(0, nz), next = mem(u[1 - now]).part(reach, nz);
    for (int k = 1; k <= reach; ++k)
      fmac(sum, sum, moved(k), weights[k]), fmac(sum, sum, moved(-k), weights[k]);
    mul(sum, sum, mem(speed));
    fmac(sum, sum, moved(0), 2);
    sub(next, sum, next);
    now = 1 - now;
  }

  /// The distance from the edge from which the words of a direction come, and the number of PEs whose words
  /// arrive.
  static int place(const pe& me, int d) {
    return directions[d] == east    ? me.x()
           : directions[d] == west  ? me.width() - 1 - me.x()
           : directions[d] == south ? me.y()
                                    : me.height() - 1 - me.y();
  }
  static int count(const pe& me, int d) { return std::min(senders, place(me, d) + 1); }
  // Turns follow the remainder of a PE's place modulo the number of senders. A PE's own words count once, for
  // all three axes.
  void set_factors(const pe& me, int d) {
    const int mine = place(me, d);
    for (int rest = 0, turn = 0; rest < senders; ++rest)
      for (int from = std::max(0, mine - reach); from <= mine; ++from)
        if (from % senders == rest)
          factors[d][turn++] = from < mine ? weights[mine - from] : d == 0 ? 3 * weights[0] : 0;
  }

  template <int d>
  using sent_to = local<&column_of_cells::sent<d>>;
  template <int d>
  using gave_up_to = local<&column_of_cells::gave_up<d>>;
  template <int d>
  using stood_back_from = local<&column_of_cells::stood_back<d>>;
  template <int d>
  using took_from = local<&column_of_cells::took<d>>;
  template <int d>
  using on_way = task_list<sends<heading<d>>, reads<heading<d>>, steers<heading<d>, switch_adv>>;
  using tasks = task_list<launch<&column_of_cells::start>, local<&column_of_cells::exchange>,
                          numbered<4, sent_to>, numbered<4, gave_up_to>, numbered<4, stood_back_from>,
                          numbered<4, took_from>, numbered<4, on_way>>;
};

/// The positions of the switch: 0 passes words on and receives them, 1 sends, 2 sends to its own PE, 3 is the
/// end of the way and only receives.
inline void wire_localized_broadcast(layout& l, color<f32> c, port to, const area& where, int place) {
  const bool last = place == side_length - 1;
  const ports on = last ? ports{ramp} : to | ramp;
  if (place == 0)
    return void(
        l.path(c, where, ramp >> on, switches{.pos1 = {.to = ramp}, .ring = true, .pop = pop::always}));
  switches s{.pos1 = {.from = ramp}, .pos2 = {.to = ramp}, .ring = true, .pop = pop::always};
  if (place >= reach) s.pos3 = {.from = opposite(to)};
  s.start = place % senders == 0 ? 1 : place % senders == reach ? 3 : 0;
  l.path(c, where, opposite(to) >> on, s);
}
/// The routes of all PEs from one edge to the other; from `reach` on every fifth is alike, except for the
/// last.
inline void wire_localized_broadcast(layout& l, color<f32> c, port to) {
  const bool forward = to == east || to == south, along_x = to == east || to == west;
  const auto places = [&](int first, int last) {
    const int from = forward ? first : side_length - 1 - last,
              until = forward ? last + 1 : side_length - first;
    return along_x ? columns(from, until, senders) : rows(from, until, senders);
  };
  for (int first = 0; first < reach + senders && first < side_length - 1; ++first)
    wire_localized_broadcast(
        l, c, to,
        places(first, first < reach ? first : side_length - 2 - (side_length - 2 - first) % senders), first);
  wire_localized_broadcast(l, c, to, places(side_length - 1, side_length - 1), side_length - 1);
}

/// The same in f64, one cell after the other.
inline std::vector<f64> serial_stencil(std::vector<f64> u, int nz, int steps, f64 speed) {
  constexpr int n = side_length;
  std::vector<f64> before(u.size()), next(u.size());
  const auto cell = [&](int x, int y, int z) {
    return x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= nz
               ? 0
               : u[static_cast<std::size_t>((y * n + x) * nz + z)];
  };
  for (; steps > 0; --steps) {
    for (int i = 0; i < n * n * nz; ++i) {
      const int x = i / nz % n, y = i / nz / n, z = i % nz;
      f64 sum = 3 * f64{weights[0]} * cell(x, y, z);
      for (int k = 1; k <= reach; ++k)
        sum += f64{weights[k]} * (cell(x - k, y, z) + cell(x + k, y, z) + cell(x, y - k, z) +
                                  cell(x, y + k, z) + cell(x, y, z - k) + cell(x, y, z + k));
      const auto k = static_cast<std::size_t>(i);
      next[k] = 2 * u[k] - before[k] + speed * sum;
    }
    before.swap(u), u.swap(next);
  }
  return u;
}

/// Cycles that the slowest PE takes for a step, for each of its cells.
template <int nz>
f64 stencil_cycles_a_cell(const machine& m) {
  using cells = column_of_cells<nz>;
  constexpr int n = side_length, steps = 4;
  constexpr f32 speed = 0.05f;
  layout plate{m, n, n};
  plate.place<cells>(all);
  each_of_four([&]<int d>() { wire_localized_broadcast(plate, heading<d>, directions[d]); });
  fabric f{plate, timed{}};
  std::vector<f64> u(static_cast<std::size_t>(n * n * nz));
  for (int i = 0; i < n * n; ++i) {
    cells& p = f.program_at<cells>({i % n, i / n});
    for (int z = 0; z < nz; ++z)
      p.speed[z] = speed, u[static_cast<std::size_t>(i * nz + z)] = p.u[0][reach + z] =
                              static_cast<f32>(std::sin(0.7 * i + 0.3 * z));
  }
  f.template launch<&cells::start>(all, steps);
  u = serial_stencil(u, nz, steps, speed);
  u64 slowest = 0;
  for (int i = 0; i < n * n; ++i) {
    const cells& p = f.program_at<cells>({i % n, i / n});
    for (int z = 0; z < nz; ++z)
      if (const f64 right = u[static_cast<std::size_t>(i * nz + z)];
          std::abs(p.u[p.now][reach + z] - right) > 2e-5)
        must_be(p.u[p.now][reach + z], static_cast<f32>(right), "the stencil");
    slowest = std::max(slowest, p.ends[steps - 1] - p.ends[0]);
  }
  return static_cast<f64>(slowest) / ((steps - 1) * nz);
}

}  // namespace timing_table
