// SPDX-License-Identifier: MIT
// Small programs whose cycles the vendor's simulator is reported to have counted (SPADA, arXiv 2511.09447 and
// the repository's issue 79), in the tasks and operations that its compiler makes of them: waiting for a
// transfer ends a task, also where the transfer is one within the PE, and the last task reads the clock. An
// assignment of scalars is an instruction.
#pragma once
#include <wsl/program/counted.hpp>

#include "line.hpp"

namespace timing_table {

/// The cycles between the moment whose time the vendor's get_timestamp returns and its end: it stores three
/// words. A constant of the measurements, which is fitted with those of the machine.
inline int clock_reading = 4;
inline u64 read_clock(pe& me) {
  const u64 now = me.now();
  me.spend(static_cast<u64>(clock_reading));
  return now;
}

/// An array of K numbers to another through a third; PEs do not talk.
struct copier {
  static constexpr int K = 4;
  f32 in[K]{1, 2, 3, 4}, local[K]{}, out[K]{};
  u64 begin = 0, end = 0;
  void receive(pe& me) {
    begin = read_clock(me);
    mov(mem(local), mem(in));
    me.activate<&copier::send>();
  }
  void send(pe& me) {
    mov(mem(out), mem(local));
    me.activate<&copier::exit>();
  }
  void exit(pe& me) { end = read_clock(me); }
  bool right() const { return out[K - 1] == in[K - 1]; }
  using tasks = task_list<launch<&copier::receive>, wsl::local<&copier::send>, wsl::local<&copier::exit>>;
};

/// x_k = x_k - x_(k-1) / 2, one after the other.
struct vertical {
  static constexpr int K = 4;
  f32 in[K]{8, 8, 8, 8}, x[K]{}, out[K]{};
  u64 begin = 0, end = 0;
  void receive(pe& me) {
    begin = read_clock(me);
    mov(mem(x), mem(in));
    me.activate<&vertical::solve>();
  }
  void solve(pe& me) {
    const counted<f32> first = x[0];
    counted<f32> through = first, before = through;  // the first element passes through a temporary
    for (int k = 1; k < K; ++k) {
      const counted<f32> half = before * 0.5f, next = counted<f32>(x[k]) - half;
      before = next;
      x[k] = before.value();
    }
    mov(mem(out), mem(x));
    me.activate<&vertical::exit>();
  }
  void exit(pe& me) { end = read_clock(me); }
  bool right() const { return out[1] == 4 && out[2] == 6 && out[3] == 5; }
  using tasks = task_list<launch<&vertical::receive>, local<&vertical::solve>, local<&vertical::exit>>;
};

struct forwarder {
  static constexpr int K = 128;
  f32 in[K]{}, mine[K]{}, heard[K]{}, out[K]{};
  u64 begin = 0, end = 0;
  void start(pe& me) {
    for (int i = 0; i < K; ++i) in[i] = static_cast<f32>(i);
    begin = read_clock(me);
    mov(mem(mine), mem(in));
    me.activate<&forwarder::listen>();
  }
  void listen(pe& me) {
    if (!me.east_edge()) return me.async(mov(mem(heard), fabin(in_of(me))), then<&forwarder::sum>());
    mov(mem(heard), mem(mine));
    me.async(mov(fabout(out_of(me)), mem(heard)));
  }
  void sum(pe& me) {
    add(mem(heard), mem(heard), mem(mine));
    if (!me.west_edge()) return me.async(mov(fabout(out_of(me)), mem(heard)));
    mov(mem(out), mem(heard));
    me.activate<&forwarder::exit>();
  }
  void exit(pe& me) { end = read_clock(me); }
  static color<f32> in_of(const pe& me) { return me.x() % 2 ? even : odd; }
  static color<f32> out_of(const pe& me) { return me.x() % 2 ? odd : even; }
  using tasks = task_list<launch<&forwarder::start>, local<&forwarder::listen>, local<&forwarder::sum>,
                          local<&forwarder::exit>, sends<even, odd>, reads<even, odd>>;
};

/// out = 2 x - (the x of the PE to the west), in columns of K numbers. The first PE of a row only sends.
struct difference {
  static constexpr int K = 4;
  f32 in[K]{1, 2, 3, 4}, x[K]{}, twice[K]{}, less[K]{}, result[K]{}, out[K]{};
  u64 begin = 0, end = 0;
  void receive(pe& me) {
    begin = read_clock(me);
    mov(mem(x), mem(in));
    me.activate<&difference::exchange>();
  }
  void exchange(pe& me) {
    if (!me.west_edge()) {
      mul(mem(twice), mem(x), 2.f);
      me.async(sub(mem(less), mem(twice), fabin(me.x() % 2 ? even : odd)), unblocks<&difference::heard>());
    }
    if (!me.east_edge()) me.async(mov(fabout(me.x() % 2 ? odd : even), mem(x)), then<&difference::sent>());
    else me.activate<&difference::heard>();
  }
  void sent(pe& me) {
    if (!me.west_edge()) me.activate<&difference::heard>();
  }
  void heard(pe& me) {
    mov(mem(result), mem(less));
    mov(mem(out), mem(result));
    me.activate<&difference::exit>();
  }
  void exit(pe& me) { end = read_clock(me); }
  using tasks = task_list<launch<&difference::receive>, local<&difference::exchange>,
                          local<&difference::sent>, local<&difference::heard, blocked>,
                          local<&difference::exit>, sends<even, odd>, reads<even, odd>>;
};

template <class Program>
u64 cycles_alone(const machine& m) {
  layout square{m, 4, 4};
  square.place<Program>(all);
  fabric f{square, timed{}};
  f.launch();
  const Program& p = f.program_at<Program>({3, 3});
  must_be(p.right(), 1, "a program alone");
  return p.end - p.begin;
}
inline u64 copy_cycles(const machine& m) { return cycles_alone<copier>(m); }
inline u64 vertical_cycles(const machine& m) { return cycles_alone<vertical>(m); }

inline u64 store_and_forward_cycles(const machine& m) {
  constexpr int n = 15;
  layout line{m, n, 1};
  line.place<forwarder>(all)
      .path(even, columns(2, edge, 2), ramp >> west)
      .path(even, columns(1, edge - 1, 2), east >> ramp)
      .path(odd, columns(1, edge, 2), ramp >> west)
      .path(odd, columns(0, edge - 1, 2), east >> ramp);
  fabric f{line, timed{}};
  f.launch();
  const forwarder& root = f.program_at<forwarder>({0, 0});
  must_be(root.out[forwarder::K - 1], n * static_cast<f32>(forwarder::K - 1), "store and forward");
  return root.end - root.begin;
}

/// The slowest PE of a row of four that compute.
inline u64 difference_cycles(const machine& m) {
  layout row_of{m, 5, 1};
  row_of.place<difference>(all)
      .path(even, columns(0, edge - 1, 2), ramp >> east)
      .path(even, columns(1, edge, 2), west >> ramp)
      .path(odd, columns(1, edge - 1, 2), ramp >> east)
      .path(odd, columns(2, edge, 2), west >> ramp);
  fabric f{row_of, timed{}};
  f.launch();
  u64 slowest = 0;
  for (int x = 1; x < 5; ++x) {
    const difference& p = f.program_at<difference>({x, 0});
    must_be(p.out[difference::K - 1], 4, "a difference");
    slowest = std::max(slowest, p.end - p.begin);
  }
  return slowest;
}

}  // namespace timing_table
