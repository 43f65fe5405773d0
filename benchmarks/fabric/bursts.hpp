// SPDX-License-Identifier: MIT
// Programs that send and take whole arrays with descriptors, burst after burst: the completion of one starts
// the next.
#pragma once
#include <cstddef>
#include <wsl/wsl.hpp>

namespace bench {

inline constexpr wsl::color<wsl::f32> stream{0};

/// What burst number k, counted down, carries in its first and last word; the words between are 1.
constexpr wsl::f32 mark(int k) { return static_cast<wsl::f32>(k % 128); }
constexpr wsl::f64 sum_of_marks(int bursts) {
  wsl::f64 sum = 0;
  for (int k = 1; k <= bursts; ++k) sum += mark(k);
  return sum;
}

template <std::size_t words>
struct burst_sender {
  wsl::f32 data[words]{};
  int left = 0;

  void start(wsl::pe& me, int bursts) {
    wsl::mov(wsl::mem(data), 1);
    left = bursts;
    next(me);
  }
  void next(wsl::pe& me) {
    if (left == 0) return;
    data[0] = data[words - 1] = mark(left--);
    me.async(wsl::mov(wsl::fabout(stream), wsl::mem(data)), wsl::then<&burst_sender::next>());
  }

  using tasks =
      wsl::task_list<wsl::launch<&burst_sender::start>, wsl::local<&burst_sender::next>, wsl::sends<stream>>;
};

/// Moves each burst into its memory.
template <std::size_t words>
struct burst_receiver {
  wsl::f32 data[words]{};
  int left = 0;
  wsl::f64 first = 0, last = 0;

  void start(wsl::pe& me, int bursts) {
    left = bursts;
    listen(me);
  }
  void listen(wsl::pe& me) {
    me.async(wsl::mov(wsl::mem(data), wsl::fabin(stream)), wsl::then<&burst_receiver::take>());
  }
  void take(wsl::pe& me) {
    first += data[0];
    last += data[words - 1];
    if (--left) listen(me);
  }
  bool has(wsl::f64 sum, int) const { return first == sum && last == sum && data[words / 2] == 1; }

  using tasks = wsl::task_list<wsl::launch<&burst_receiver::start>, wsl::local<&burst_receiver::take>,
                               wsl::reads<stream>>;
};

/// Adds half of each burst to its memory.
template <std::size_t words>
struct burst_adder {
  wsl::f32 data[words]{};
  int left = 0;

  void start(wsl::pe& me, int bursts) {
    left = bursts;
    listen(me);
  }
  void listen(wsl::pe& me) {
    me.async(wsl::fmac(wsl::mem(data), wsl::mem(data), wsl::fabin(stream), 0.5f),
             wsl::then<&burst_adder::take>());
  }
  void take(wsl::pe& me) {
    if (--left) listen(me);
  }
  bool has(wsl::f64 sum, int bursts) const {
    return data[0] == sum / 2 && data[words - 1] == sum / 2 &&
           data[words / 2] == static_cast<wsl::f32>(bursts) / 2;
  }

  using tasks =
      wsl::task_list<wsl::launch<&burst_adder::start>, wsl::local<&burst_adder::take>, wsl::reads<stream>>;
};

}  // namespace bench
