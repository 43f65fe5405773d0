// SPDX-License-Identifier: MIT
// The time that threads spend to meet at the barrier between two supersteps, as a model with few constants,
// so that it can be measured on few cores and used for many threads. A thread that arrives adds to one
// counter and then reads what every other thread has voted; both take each thread in turn through a cache
// line of its own or of all, so the time grows linearly with the number of threads. A tree of counters would
// grow with the logarithm; this barrier has none. A thread that has waited long sleeps, and must be woken by
// the last one.
#pragma once
#include "../../core/scalar.hpp"
#include "../../support/min_max.hpp"
#include "clocks.hpp"
#include "vote.hpp"

namespace wsl {

/// Times in nanoseconds. The default values are typical of a server's processor; `measured` has this
/// computer's.
struct barrier_cost {
  f64 alone = 20;         ///< of a barrier of one thread
  f64 a_thread = 120;     ///< of each further thread
  f64 spin = 100'000;     ///< after which a thread that waits sleeps
  f64 wake = 20'000;      ///< from the last arrival until a sleeping thread runs
  f64 wake_each = 3'000;  ///< in which the last thread wakes one sleeper

  f64 of(int threads) const { return alone + a_thread * (threads - 1); }

  /// With the default for each value above three times its default: other programs have disturbed its
  /// measurement.
  barrier_cost where_undisturbed() const {
    const barrier_cost usual;
    const auto either = [](f64 value, f64 typical) { return value > 3 * typical ? typical : value; };
    return {either(alone, usual.alone), either(a_thread, usual.a_thread), either(spin, usual.spin),
            either(wake, usual.wake), either(wake_each, usual.wake_each)};
  }

  /// The constants of this computer, measured once in a process with one thread and with two, or with one a
  /// core where there are more, in about 20 ms, or in about 60 on a busy one. On a computer with one core
  /// they are the default values.
  static const barrier_cost& measured();
};

namespace engines {

/// No measurement goes on longer, however busy the computer is.
inline constexpr u64 longest_measurement = 20'000'000;

/// The time of one barrier and one vote, on that many threads: the best of some rounds, because another
/// program may hold up any of them.
inline f64 measured_barrier(int threads) {
  constexpr int rounds = 200;
  constexpr u64 barriers = 20;
  thread_pool pool(threads);
  vote_table votes(threads);
  f64 best = 1e30;
  auto job = [&](int thread) {
    termination_vote all = termination_vote::messages;
    const u64 began = monotonic_time();
    u64 now = began, superstep = 0;
    for (int r = 0; r < rounds && goes_on(all); ++r) {
      const u64 from = now;
      const bool is_last = thread == 0 && from - began > longest_measurement;
      for (u64 k = 0; k < barriers; ++k)
        all = votes.agree(pool.barrier, thread, superstep++,
                          is_last ? termination_vote::failure : termination_vote::messages);
      now = monotonic_time();
      if (thread == 0) best = support::min(best, static_cast<f64>(now - from) / static_cast<f64>(barriers));
    }
  };
  if (threads == 1) job(0);
  else pool.run(job);
  return best;
}

/// The time in which a thread gives up spinning.
inline f64 measured_spin() {
  f64 best = 1e30;
  for (int r = 0; r < 5; ++r) {
    const u64 from = monotonic_time();
    spin_barrier never(2);
    never.spin(0);
    best = support::min(best, static_cast<f64>(monotonic_time() - from));
  }
  return best;
}

/// Measures how long it takes to wake a sleeping thread, for the sleeper and for the thread that wakes it.
inline void measure_wake(barrier_cost& cost) {
  constexpr int rounds = 20;
  thread_pool pool(2);
  u64 arrived = 0, woken = 0;
  const u64 began = monotonic_time();
  bool has_time = true;  // written before a barrier and read behind it
  cost.wake = cost.wake_each = 1e30;
  auto job = [&](int thread) {
    for (int r = 0; r < rounds && has_time; ++r) {
      if (thread == 0) {
        const u64 from = monotonic_time();
        while (static_cast<f64>(monotonic_time() - from) < 3 * cost.spin) {}
        arrived = monotonic_time();
      }
      pool.barrier.wait();
      if (thread == 0)
        cost.wake_each = support::min(cost.wake_each, static_cast<f64>(monotonic_time() - arrived));
      else woken = monotonic_time();
      pool.barrier.wait();
      if (thread == 0) {
        cost.wake = support::min(cost.wake, static_cast<f64>(woken - arrived));
        has_time = monotonic_time() - began < longest_measurement;
      }
      pool.barrier.wait();
    }
  };
  pool.run(job);
}

}  // namespace engines

inline const barrier_cost& barrier_cost::measured() {
  static const barrier_cost here = [] {
    barrier_cost cost;
    const int cores = support::min(engines::available_cores(), 64);
    if (cores == 1) return cost;
    cost.alone = engines::measured_barrier(1);
    cost.a_thread = support::max(0., engines::measured_barrier(cores) - cost.alone) / (cores - 1);
    cost.spin = engines::measured_spin();
    engines::measure_wake(cost);
    return cost.where_undisturbed();
  }();
  return here;
}

}  // namespace wsl
