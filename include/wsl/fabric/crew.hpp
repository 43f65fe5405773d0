// SPDX-License-Identifier: MIT
// The threads of an engine: made at the first run that needs them, asleep between runs. Inside a run they meet at a barrier that
// spins, because an epoch is often shorter than a system call.
#pragma once
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "../core/fault_error.hpp"
#include "../core/flat_vector.hpp"

namespace wsl::engines {

/// Lets every thread of a run through when the last one has come.
class spin_barrier {
 public:
  explicit spin_barrier(int threads) : threads_(threads) {}

  void wait() {
    const unsigned round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins) {
      if (spins < 4000) pause();
      else std::this_thread::yield();  // there are more threads than cores
    }
  }

 private:
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  const int threads_;
  alignas(128) std::atomic<int> arrived_{0};
  alignas(128) std::atomic<unsigned> round_{0};
};

class crew {
 public:
  explicit crew(int threads) : barrier(threads), threads_(threads) {}
  ~crew() {
    if (workers_.empty()) return;
    job_ = nullptr;
    begin();
    for (std::thread& t : workers_) t.join();
  }

  int size() const { return threads_; }

  /// Runs job(k) for every k below size(), job(0) on the calling thread. job must not throw.
  template <class Job>
  void run(Job& job) {
    if (workers_.empty())
      for (int k = 1; k < threads_; ++k) workers_.push_back(std::thread([this, k] { work(k); }));
    job_ = [](void* what, int k) { (*static_cast<Job*>(what))(k); };
    argument_ = &job;
    begin();
    job(0);
    barrier.wait();
  }

  spin_barrier barrier;  ///< for the job's own use; every thread must come equally often

 private:
  void begin() {
    start_.fetch_add(1, std::memory_order_release);
    start_.notify_all();
  }
  void work(int k) {
    for (unsigned seen = 0;;) {
      start_.wait(seen, std::memory_order_acquire);
      ++seen;
      if (!job_) return;
      job_(argument_, k);
      barrier.wait();
    }
  }

  const int threads_;
  flat_vector<std::thread> workers_;
  std::atomic<unsigned> start_{0};
  void (*job_)(void*, int) = nullptr;
  void* argument_ = nullptr;
};

inline int hardware_threads() {
  const unsigned n = std::thread::hardware_concurrency();  // 0 where it is not known
  return n ? static_cast<int>(n) : 1;
}

/// How many threads an engine uses when the program does not say: WSL_THREADS, or one a core.
inline int default_threads() {
  const char* wish = std::getenv("WSL_THREADS");
  if (!wish || !*wish) return hardware_threads();
  char* rest = nullptr;
  const long n = std::strtol(wish, &rest, 10);
  if (*rest || n < 1 || n > 1024)
    throw fault_error(std::string("wsl: WSL_THREADS is \"") + wish + "\"; it must be a number of threads from 1 to 1024");
  return static_cast<int>(n);
}

}  // namespace wsl::engines
