// SPDX-License-Identifier: MIT
// Threads of the host that divide numbered pieces of work among them. What is thrown is the exception of the
// piece with the smallest number, so that a message does not depend on which thread was faster.
//   team all;
//   all.each(documents.size(), [&](std::size_t i) { lengths[i] = length_of(documents[i]); });
#pragma once
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

class team {
 public:
  /// The number of threads; 0: one for each processor that this process may use.
  explicit team(int threads = 0) : threads_(threads > 0 ? threads : processors()) {}
  int threads() const { return threads_; }

  /// Calls f(i) for i from 0 to count - 1, each once, on any thread and in any order. Once a call has thrown,
  /// pieces with larger numbers may be left out; those with smaller ones are not.
  template <class F>
  void each(std::size_t count, F f) const {
    std::atomic<std::size_t> next = 0, first_bad = count;
    std::exception_ptr why;
    std::mutex writing;
    const auto work = [&] {
      for (std::size_t i; (i = next.fetch_add(1)) < first_bad.load();) {
        try {
          f(i);
        } catch (...) {
          const std::scoped_lock lock(writing);
          if (i < first_bad.load()) first_bad = i, why = std::current_exception();
        }
      }
    };
    std::vector<std::thread> others;
    const std::size_t wanted = std::min(count, static_cast<std::size_t>(threads_));
    for (std::size_t t = 1; t < wanted; ++t) others.emplace_back(work);
    work();
    for (std::thread& t : others) t.join();
    if (why) std::rethrow_exception(why);
  }

 private:
  static int processors() {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? std::max(1, CPU_COUNT(&mine)) : 1;
  }

  int threads_;
};

}  // namespace wsl::ml
