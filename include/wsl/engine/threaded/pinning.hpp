// SPDX-License-Identifier: MIT
// Threads that run partitions of neighbours stay on cores that are neighbours, each on one, so that what a PE
// has stays in that core's cache and in the memory of its node. A processor is pinned to once in a process.
// Pinned threads cannot make room for other programs, so by default they are pinned only where it matters how
// far memory is, and where nobody else is known to compete for their cores:
//   WSL_PIN not set  threads that have all cores which the process may use, one each, if these are near to
//                    several nodes of memory, unless other ranks of this computer may use them too
//   WSL_PIN=1        also fewer threads, those of ranks that share cores, which then divide them, and second
//                    processors of cores
//   WSL_PIN=0        none
// More threads than processors are never pinned, and neither is the only thread of an engine.
#pragma once
#include <pthread.h>

#include <cstdlib>

#include "../../core/fault.hpp"
#include "../../support/processors.hpp"
#include "../../support/text.hpp"

namespace wsl::engines {

/// Whether a launcher of MPI programs has started this process, perhaps beside others.
inline bool started_by_launcher() {
  return std::getenv("PMIX_RANK") || std::getenv("PMI_RANK") || std::getenv("OMPI_COMM_WORLD_RANK");
}

/// The processes of this computer that may use the same processors as this one, if they are known.
struct process_share {
  int number = 0;     ///< of this process among them
  int processes = 1;  ///< 0: some may use a part of the same, and which is not known
};
/// The share of process `number` of `count` on a computer, from the sets that each of them may use. Those
/// with one set share it; where sets overlap and are not the same, nobody can tell who has what.
inline process_share share_of(const cpu_set_t* sets, int count, int number) {
  process_share mine;
  for (int other = 0; other < count; ++other) {
    cpu_set_t common;
    CPU_AND(&common, &sets[number], &sets[other]);
    if (other == number || CPU_COUNT(&common) == 0) continue;
    if (!CPU_EQUAL(&sets[number], &sets[other])) return {0, 0};
    ++mine.processes, mine.number += other < number;
  }
  return mine;
}
/// Set when ranks know of each other.
inline process_share share_of_process = {0, started_by_launcher() ? 0 : 1};

enum class pinning : unsigned char { where_alone, wanted, off };

/// WSL_PIN. Throws fault if it is not 0 or 1.
inline pinning pinning_by_request() {
  const char* request = std::getenv("WSL_PIN");
  if (!request || !*request) return pinning::where_alone;
  if ((*request != '0' && *request != '1') || request[1])
    throw fault(support::joined({"wsl: WSL_PIN is \"", request,
                                 "\"; it must be 1, to pin threads to cores, or 0, to leave them to the "
                                 "system"}));
  return *request == '1' ? pinning::wanted : pinning::off;
}

/// Processors from .. to - 1 of an order.
struct processor_range {
  int from = 0, to = 0;
  int size() const { return to - from; }
};

/// Those to which a process may pin the threads of an engine; none if it must not.
inline processor_range pinnable(const support::processor_order& order, int threads, process_share mine,
                                pinning how) {
  if (how == pinning::off || threads < 2) return {};
  if (how == pinning::where_alone)
    return order.nodes > 1 && mine.processes == 1 && threads == order.cores ? processor_range{0, order.cores}
                                                                            : processor_range{};
  if (mine.processes == 0) return {};
  // of several processes each has whole cores
  processor_range r{0, order.count};
  if (mine.processes > 1)
    r = {order.cores * mine.number / mine.processes, order.cores * (mine.number + 1) / mine.processes};
  return threads <= r.size() ? r : processor_range{};
}

/// The processors that the calling thread could use before it was pinned; null if it is not.
inline thread_local const cpu_set_t* before_pinning = nullptr;
inline cpu_set_t usable_processors() {
  return before_pinning ? *before_pinning : support::allowed_processors();
}

/// The processors of the threads of an engine, which no other engine of the process has meanwhile.
class pinned_processors {
 public:
  pinned_processors() = default;
  pinned_processors(const pinned_processors&) = delete;
  pinned_processors& operator=(const pinned_processors&) = delete;
  ~pinned_processors() { release(); }

  /// Takes one for each thread, or none if the threads must not be pinned.
  void take(int threads) {
    const pinning how = pinning_by_request();
    if (how == pinning::off || threads < 2) return;
    usable_ = usable_processors();
    const support::processor_order order = support::processors_of(usable_);
    const processor_range from = pinnable(order, threads, share_of_process, how);
    pthread_mutex_lock(&mutex_);
    for (int i = from.from; i < from.to && mine_.count < threads; ++i)
      if (!CPU_ISSET(static_cast<std::size_t>(order.of[i]), &taken_)) mine_.add(order.of[i]);
    if (mine_.count < threads) mine_.count = 0;
    for (int i = 0; i < mine_.count; ++i) CPU_SET(static_cast<std::size_t>(mine_.of[i]), &taken_);
    pthread_mutex_unlock(&mutex_);
  }
  bool any() const { return mine_.count > 0; }
  /// Those that the threads could use otherwise.
  const cpu_set_t& usable() const { return usable_; }
  /// That of a thread, as the only one of a set.
  cpu_set_t of(int thread) const {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(mine_.of[thread]), &one);
    return one;
  }

 private:
  void release() {
    if (!any()) return;
    pthread_mutex_lock(&mutex_);
    for (int i = 0; i < mine_.count; ++i) CPU_CLR(static_cast<std::size_t>(mine_.of[i]), &taken_);
    pthread_mutex_unlock(&mutex_);
  }

  static inline pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  static inline cpu_set_t taken_ = {};
  cpu_set_t usable_ = {};
  support::processor_order mine_;
};

/// Pins the calling thread while it lives. Afterwards the thread may use all processors again that it could
/// use before, because threads that it starts then, of other libraries for instance, inherit them.
class pinned_here {
 public:
  pinned_here(const pinned_processors& of, int thread) : pins_(of.any()) {
    if (!pins_) return;
    before_ = support::allowed_processors();
    const cpu_set_t one = of.of(thread);
    pins_ = sched_setaffinity(0, sizeof one, &one) == 0;
    if (pins_ && !before_pinning) before_pinning = &before_;
  }
  pinned_here(const pinned_here&) = delete;
  pinned_here& operator=(const pinned_here&) = delete;
  ~pinned_here() {
    if (!pins_) return;
    sched_setaffinity(0, sizeof before_, &before_);
    if (before_pinning == &before_) before_pinning = nullptr;
  }

 private:
  bool pins_;
  cpu_set_t before_ = {};
};

}  // namespace wsl::engines
