// SPDX-License-Identifier: MIT
// Small programs whose cycles the vendor's simulator is reported to have counted (SPADA, arXiv 2511.09447 and
// the repository's issue 79): a copy, a vertical recurrence, and a reduction that stores all of a vector
// before it forwards it. Each `await` of the original ends a task here. Where the original computes with
// scalars, a statement is charged as one cycle.
#pragma once
#include "line.hpp"

namespace timing_table {

/// An array of K numbers to another through a third; PEs do not talk.
struct copier {
  static constexpr int K = 4;
  f32 in[K]{1, 2, 3, 4}, local[K]{}, out[K]{};
  u64 begin = 0, end = 0;
  void receive(pe& me) {
    begin = me.now();
    mov(mem(local), mem(in));
    me.activate<&copier::send>();
  }
  void send(pe& me) {
    mov(mem(out), mem(local));
    end = me.now();
  }
  using tasks = task_list<launch<&copier::receive>, wsl::local<&copier::send>>;
};

/// x_k = x_k - x_(k-1) / 2, one after the other.
struct vertical {
  static constexpr int K = 4;
  f32 in[K]{8, 8, 8, 8}, x[K]{}, out[K]{};
  u64 begin = 0, end = 0;
  void receive(pe& me) {
    begin = me.now();
    mov(mem(x), mem(in));
    me.activate<&vertical::solve>();
  }
  void solve(pe& me) {
    me.spend(2);  // the first element passes through a temporary
    for (int k = 1; k < K; ++k) {
      const f32 half = 0.5f * x[k - 1];
      x[k] = x[k] - half;
      me.spend(3);  // product, difference, copy back
    }
    mov(mem(out), mem(x));
    end = me.now();
  }
  using tasks = task_list<launch<&vertical::receive>, local<&vertical::solve>>;
};

struct forwarder {
  static constexpr int K = 128;
  f32 mine[K]{}, heard[K]{}, out[K]{};
  u64 begin = 0, end = 0;
  void start(pe& me) {
    begin = me.now();
    for (int i = 0; i < K; ++i) mine[i] = static_cast<f32>(i);
    if (!me.east_edge()) return me.async(mov(mem(heard), fabin(in(me))), then<&forwarder::sum>());
    mov(mem(heard), mem(mine));
    me.async(mov(fabout(out_of(me)), mem(heard)));
  }
  void sum(pe& me) {
    add(mem(heard), mem(heard), mem(mine));
    if (me.west_edge()) me.activate<&forwarder::deliver>();
    else me.async(mov(fabout(out_of(me)), mem(heard)));
  }
  void deliver(pe& me) {
    mov(mem(out), mem(heard));
    end = me.now();
  }
  static color<f32> in(const pe& me) { return me.x() % 2 ? even : odd; }
  static color<f32> out_of(const pe& me) { return me.x() % 2 ? odd : even; }
  using tasks = task_list<launch<&forwarder::start>, local<&forwarder::sum>, local<&forwarder::deliver>,
                          sends<even, odd>, reads<even, odd>>;
};

template <class Program>
u64 cycles_alone(const machine& m) {
  layout square{m, 4, 4};
  square.place<Program>(all);
  fabric f{square, timed{}};
  f.launch();
  const Program& p = f.program_at<Program>({3, 3});
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

}  // namespace timing_table
