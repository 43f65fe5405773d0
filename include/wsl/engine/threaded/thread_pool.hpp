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

namespace wsl::engines {

/// A barrier for the threads of a run. A thread that waits long sleeps, because there may be more threads
/// than cores, or other programs on them.
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
  bool spin(unsigned round) const {
    for (int n = 0; n < spins; ++n) {
      if (round_.load(std::memory_order_acquire) != round) return true;
      pause();
    }
    return false;
  }

 private:
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
};

inline int available_cores();

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
    if (workers_.empty()) start();
    job_ = [](void* what, int k) { (*static_cast<Job*>(what))(k); }, argument_ = &job;
    barrier.wait();
    job(0);
    barrier.wait();
  }

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
    workers_ = support::flat_vector<worker>(static_cast<std::size_t>(threads_ - 1));
    for (worker& w : workers_) {
      w.owner = this;
      w.number = static_cast<int>(&w - workers_.data()) + 1;
      if (pthread_create(&w.thread, nullptr, work, &w) != 0) too_many_threads();
    }
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
    for (;;) {
      c.barrier.wait();
      if (!c.job_) return nullptr;
      c.job_(c.argument_, me.number);
      c.barrier.wait();
    }
  }

  const int threads_;
  support::flat_vector<worker> workers_;
  void (*job_)(void*, int) = nullptr;
  void* argument_ = nullptr;
};

/// The number of cores that this process may use. Of two logical processors of one core only the first
/// counts: they share its execution units, and the barrier spins.
inline int available_cores() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return 1;
  int cores = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu), &mine)) continue;
    char name[96];
    std::snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    int first = cpu;
    if (std::FILE* list = std::fopen(name, "r")) {
      if (std::fscanf(list, "%d", &first) != 1) first = cpu;
      std::fclose(list);
    }
    cores += first == cpu || !CPU_ISSET(static_cast<std::size_t>(first), &mine);
  }
  return cores ? cores : 1;
}

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
