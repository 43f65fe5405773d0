// SPDX-License-Identifier: MIT
// The threads of an engine: started at the first run that needs them, asleep between runs. Inside a run, and
// before the next, they meet at a barrier that spins at first, because a superstep is often shorter than a
// system call. They are POSIX threads, because <thread> would cost every program that includes the library
// 0.1 s of compile time.
#pragma once
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../../core/fault.hpp"
#include "../../support/flat_vector.hpp"
#include "clocks.hpp"
#include "pinning.hpp"

namespace wsl::engines {

/// A barrier for the threads of a run. There may be more threads than cores, or other programs on them: a
/// thread that waits longer than most supersteps take lets any other run on its core, which may be the one
/// that it waits for, and one that waits long sleeps. Where others keep the core for long, threads sleep soon
/// for a while: the scheduler lets a thread that was woken run earlier than one that yields.
class spin_barrier {
 public:
  explicit spin_barrier(int threads) : threads_(threads) {}

  int spins = 4000;  ///< before a thread sleeps

  void wait() {
    const unsigned round = round_.load(std::memory_order_relaxed);
    std::atomic<unsigned>& asleep = asleep_[round & 1];
    if (arrived_.fetch_add(1) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.fetch_add(1);
      if (asleep.load() == round + 1) futex(FUTEX_WAKE_PRIVATE, static_cast<unsigned>(threads_));
      return;
    }
    if (spin(round)) return;
    asleep.store(round + 1);
    // returns at once if the round has changed
    while (round_.load() == round) futex(FUTEX_WAIT_PRIVATE, round);
  }

  /// Waits for the end of a round for a while; returns whether it has ended.
  bool spin(unsigned round) {
    for (int n = 0; n < spins; ++n) {
      if (round_.load(std::memory_order_acquire) != round) return true;
      pause();
      if (n < spins_alone || n % 20 != 0) continue;
      if (static_cast<int>(crowded_until_.load(std::memory_order_relaxed) - round) > 0) return false;
      // The call takes about as long as the spins between two of them where nothing else wants the core.
      const u64 before = monotonic_time();
      sched_yield();
      if (monotonic_time() - before > long_yield)
        crowded_until_.store(round + crowded_rounds, std::memory_order_relaxed);
    }
    return false;
  }

 private:
  static constexpr int spins_alone = 100;    // some microseconds
  static constexpr u64 long_yield = 200000;  // ns: a slice of another program, and no interrupt
  static constexpr unsigned crowded_rounds = 200;

  void futex(int what, unsigned value) {
    static_assert(sizeof round_ == sizeof(unsigned) && std::atomic<unsigned>::is_always_lock_free);
    syscall(SYS_futex, &round_, what, value, nullptr, nullptr, 0);
  }
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  const int threads_;
  alignas(128) std::atomic<int> arrived_ = 0;
  alignas(128) std::atomic<unsigned> round_ = 0;
  // The last round, counted from 1, in which a thread slept, by the round's parity. It is never reset, so a
  // thread that is late to open one round cannot hide a sleeper of the next; and no thread is two rounds
  // ahead.
  alignas(128) std::atomic<unsigned> asleep_[2] = {};
  alignas(128) std::atomic<unsigned> crowded_until_ = 0;  ///< the round up to which threads sleep soon
};

/// The number of cores that this process may use. Of two logical processors of one core only the first
/// counts: they share its execution units, and the barrier spins.
inline int available_cores() {
  const int cores = support::processors_of(usable_processors()).cores;
  return cores ? cores : 1;
}

class thread_pool {
 public:
  explicit thread_pool(int threads) : barrier(threads), threads_(threads) {}
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;
  ~thread_pool() {
    if (workers_.empty()) return;
    job_ = nullptr;
    barrier.wait();
    for (worker& w : workers_) pthread_join(w.thread, nullptr);
  }

  int size() const { return threads_; }

  /// Runs job(k) for every k below size(), job(0) on the calling thread. job must not throw.
  template <class Job>
  void run(Job& job) {
    run([](void* what, int k) { (*static_cast<Job*>(what))(k); }, &job);
  }
  void run(void (*job)(void* what, int k), void* what) {
    if (workers_.empty()) start();
    const pinned_here as_long(processors_, 0);
    job_ = job, argument_ = what;
    barrier.wait();
    job(what, 0);
    barrier.wait();
  }
  /// Whether each thread is pinned to a core, those that exist already and the caller of `run` meanwhile.
  bool pinned() const { return processors_.any(); }

  spin_barrier barrier;  ///< for the job's own use; every thread must come equally often

 private:
  struct worker {
    thread_pool* owner = nullptr;
    int number = 0;
    pthread_t thread{};
  };

  void start() {
    static const int cores = available_cores();
    if (threads_ > cores) barrier.spins = 0;
    processors_.take(threads_);
    workers_ = support::flat_vector<worker>(static_cast<std::size_t>(threads_ - 1));
    for (worker& w : workers_) {
      w.owner = this;
      w.number = static_cast<int>(&w - workers_.data()) + 1;
      if (!start_placed(w) && pthread_create(&w.thread, nullptr, work, &w) != 0) too_many_threads();
    }
  }
  /// Starts a worker on its processor, with its stack in the memory there. One that is not pinned does not
  /// inherit the place of a thread that is. Returns whether it has started.
  bool start_placed(worker& w) {
    if (!processors_.any() && !before_pinning) return false;
    const cpu_set_t where = processors_.any() ? processors_.of(w.number) : *before_pinning;
    pthread_attr_t how;
    if (pthread_attr_init(&how) != 0) return false;
    const bool started = pthread_attr_setaffinity_np(&how, sizeof where, &where) == 0 &&
                         pthread_create(&w.thread, &how, work, &w) == 0;
    pthread_attr_destroy(&how);
    return started;
  }
  [[noreturn]] void too_many_threads() const {
    std::fprintf(stderr,
                 "wsl: the system does not give this process %d threads; run it with a smaller WSL_THREADS\n",
                 threads_);
    std::abort();  // some threads exist and wait at a barrier that can never open
  }

  static void* work(void* what) {
    const worker& me = *static_cast<worker*>(what);
    thread_pool& c = *me.owner;
    if (c.processors_.any()) before_pinning = &c.processors_.usable();
    for (;;) {
      c.barrier.wait();
      if (!c.job_) return nullptr;
      c.job_(c.argument_, me.number);
      c.barrier.wait();
    }
  }

  const int threads_;
  pinned_processors processors_;
  support::flat_vector<worker> workers_;
  void (*job_)(void*, int) = nullptr;
  void* argument_ = nullptr;
};

/// The default number of an engine's threads: WSL_THREADS, or one for each core that the process may use.
inline int threads_by_default() {
  const char* request = std::getenv("WSL_THREADS");
  if (!request || !*request) return available_cores();
  char* rest = nullptr;
  const long n = std::strtol(request, &rest, 10);
  if (*rest || n < 1 || n > 1024)
    throw fault(std::string("wsl: WSL_THREADS is \"") + request +
                "\"; it must be a number of threads from 1 to 1024");
  return static_cast<int>(n);
}

}  // namespace wsl::engines
