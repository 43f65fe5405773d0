// SPDX-License-Identifier: MIT
// Reductions and a broadcast along a line of P PEs, B words each, whose times are known in closed form
// ("Near-Optimal Wafer-Scale Reduce", arXiv 2404.15888). Each function returns the cycles from the first
// instruction of the operations, which all PEs issue at the same time, until the last word is in place, and
// throws if it is not the right word.
#pragma once
#include <stdexcept>
#include <string>

#include <wsl/engine/timed.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/wsl.hpp>

namespace timing_table {

using namespace wsl;

inline constexpr int longest = 4096;
inline constexpr color<f32> even{0}, odd{1};

/// The common part of all programs on the line: it records the time at which their operation begins and the
/// time at which its last word is in place.
struct stop_watch {
  u64 begin = 0, end = 0;
  // the clock is read by a task, whose start is subtracted
  void stop(pe& me) { end = me.now() - static_cast<u64>(wse2.task_start); }
};

struct receiver : stop_watch {
  f32 x[longest]{};
  void start(pe& me, int n) {
    for (int i = 0; i < n; ++i) x[i] = me.west_edge() ? static_cast<f32>(i) : 0;
    if (me.west_edge()) me.async(mov(fabout(even), mem(x).part(0, n)), then<&receiver::done>());
    else me.async(mov(mem(x).part(0, n), fabin(even)), then<&receiver::done>());
    begin = me.now();
  }
  void done(pe& me) { stop(me); }
  using tasks = task_list<launch<&receiver::start>, local<&receiver::done>, sends<even>, reads<even>>;
};

/// A star: the words of all PEs go to the west end, which adds them up. They come mixed, so it keeps one sum.
struct star_member : stop_watch {
  f32 x[longest]{};
  f32 sum = 0;
  void start(pe& me, int n) {
    for (int i = 0; i < n; ++i) x[i] = 1;
    if (me.west_edge())
      me.async(add(&sum, 0.f, fabin(even, n * (me.width() - 1))), then<&star_member::done>());
    else me.async(mov(fabout(even), mem(x).part(0, n)));
    begin = me.now();
  }
  void done(pe& me) { stop(me); }
  using tasks = task_list<launch<&star_member::start>, local<&star_member::done>, sends<even>, reads<even>>;
};

/// A star without races: each router lets the words of its own PE pass first. A command behind them moves the
/// switch, which then lets the words from further east pass.
struct star_in_turn : stop_watch {
  f32 x[longest]{};
  f32 sum = 0;
  void start(pe& me, int n) {
    for (int i = 0; i < n; ++i) x[i] = 1;
    if (me.west_edge())
      me.async(add(&sum, 0.f, fabin(even, n * (me.width() - 1))), then<&star_in_turn::done>());
    else me.async(mov(fabout(even), mem(x).part(0, n)), then<&star_in_turn::hand_over>());
    begin = me.now();
  }
  void hand_over(pe& me) {
    if (!me.east_edge()) me.send_control(even, switch_adv);
  }
  void done(pe& me) { stop(me); }
  using tasks = task_list<launch<&star_in_turn::start>, local<&star_in_turn::hand_over>,
                          local<&star_in_turn::done>, sends<even>, reads<even>, steers<even, switch_adv>>;
};

/// A chain: each PE adds its own words to those from the east and passes the sums on as they come.
struct chain_member : stop_watch {
  f32 x[longest]{};
  void start(pe& me, int n) {
    const color<f32> in = me.x() % 2 ? even : odd, out = me.x() % 2 ? odd : even;
    for (int i = 0; i < n; ++i) x[i] = static_cast<f32>(i);
    const memory<f32> mine = mem(x).part(0, n);
    if (me.east_edge()) me.async(mov(fabout(out), mine));
    else if (me.west_edge()) me.async(add(mine, mine, fabin(in)), then<&chain_member::done>());
    else me.async(add(fabout(out), mine, fabin(in)));
    begin = me.now();
  }
  void done(pe& me) { stop(me); }
  using tasks =
      task_list<launch<&chain_member::start>, local<&chain_member::done>, sends<even, odd>, reads<even, odd>>;
};

inline void must_be(f32 value, f32 right, const char* what) {
  if (value != right)
    throw std::runtime_error(std::string(what) + " computes " + std::to_string(value) + ", not " +
                             std::to_string(right));
}

inline u64 broadcast_cycles(int p, int words) {
  layout line{wse2, p, 1};
  line.place<receiver>(all)
      .path(even, column(0), ramp >> east)
      .path(even, columns(1, edge - 1), west >> (ramp | east))
      .path(even, column(edge - 1), west >> ramp);
  fabric f{line, timed{}};
  f.launch<&receiver::start>(all, words);
  const receiver& last = f.program_at<receiver>({p - 1, 0});
  must_be(last.x[words - 1], static_cast<f32>(words - 1), "broadcast");
  return last.end - last.begin;
}

inline u64 star_cycles(int p, int words) {
  layout line{wse2, p, 1};
  line.place<star_member>(all)
      .path(even, column(0), east >> ramp)
      .path(even, columns(1, edge - 1), (ramp | east) >> west, merges)
      .path(even, column(edge - 1), ramp >> west);
  fabric f{line, timed{}};
  f.launch<&star_member::start>(all, words);
  const star_member& root = f.program_at<star_member>({0, 0});
  must_be(root.sum, static_cast<f32>(words) * static_cast<f32>(p - 1), "star");
  return root.end - root.begin;
}

inline u64 switched_star_cycles(int p, int words) {
  layout line{wse2, p, 1};
  line.place<star_in_turn>(all)
      .path(even, column(0), east >> ramp)
      .path(even, columns(1, edge - 1), ramp >> west,
            switches{.pos1 = {.from = east}, .pop = pop::on_advance})
      .path(even, column(edge - 1), ramp >> west);
  fabric f{line, timed{}};
  f.launch<&star_in_turn::start>(all, words);
  const star_in_turn& root = f.program_at<star_in_turn>({0, 0});
  must_be(root.sum, static_cast<f32>(words) * static_cast<f32>(p - 1), "star by switches");
  return root.end - root.begin;
}

inline u64 chain_cycles(int p, int words) {
  layout line{wse2, p, 1};
  line.place<chain_member>(all)
      .path(even, columns(2, edge, 2), ramp >> west)
      .path(even, columns(1, edge - 1, 2), east >> ramp)
      .path(odd, columns(1, edge, 2), ramp >> west)
      .path(odd, columns(0, edge - 1, 2), east >> ramp);
  fabric f{line, timed{}};
  f.launch<&chain_member::start>(all, words);
  const chain_member& root = f.program_at<chain_member>({0, 0});
  must_be(root.x[words - 1], static_cast<f32>(words - 1) * static_cast<f32>(p), "chain");
  return root.end - root.begin;
}

}  // namespace timing_table
