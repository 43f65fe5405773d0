// SPDX-License-Identifier: MIT
// The run of an engine is a sequence of supersteps, as in bulk-synchronous parallel programs: every partition
// runs once with the messages that the others wrote for it before, then all threads meet at a barrier and
// vote on what follows. When no partition has written for another or has work left, a computing superstep
// follows, in which long-running tasks run and offloaded jobs complete; the run ends if there are none. A
// single thread visits only the partitions that have work; several threads divide all of them among
// themselves.
#pragma once
#include <bit>

#include "partition.hpp"
#include "thread_pool.hpp"

namespace wsl::engines {

/// A partition's remaining work after a superstep. The largest vote of all decides what follows: a run ends
/// when no partition has work left, or when a task has failed.
enum class termination_vote : u8 { nothing, computing, messages, failure };

inline termination_vote vote_of(const partition& b) {
  if (b.failure) return termination_vote::failure;
  if (b.addressed || !b.work.empty()) return termination_vote::messages;
  return b.will_compute() ? termination_vote::computing : termination_vote::nothing;
}
inline termination_vote larger(termination_vote a, termination_vote b) { return a < b ? b : a; }
inline bool goes_on(termination_vote what) {
  return what == termination_vote::computing || what == termination_vote::messages;
}

/// Runs supersteps, beginning with `last` + 1, until no work is left or a partition has failed; returns the
/// number of the last one.
template <class RunPartition>
u64 run_supersteps_alone(support::flat_vector<partition>& partitions, u64 last, RunPartition run_partition) {
  const auto those = [&](auto condition) {
    u64 set = 0;
    for (std::size_t b = 0; b < partitions.size(); ++b) set |= u64{condition(partitions[b])} << b;
    return set;
  };
  u64 next = those([](partition& b) { return !b.work.empty() || b.has_mail(); });
  for (bool failed = false; !failed;) {
    u64 now = next ? next : those([](partition& b) { return b.computes = b.will_compute(); });
    if (!now) break;
    ++last;
    for (next = 0; now; now &= now - 1) {
      partition& b = partitions[static_cast<std::size_t>(std::countr_zero(now))];
      run_partition(b, last);
      next |= b.addressed | u64{!b.work.empty()} << (&b - partitions.data());
      failed |= b.failure != nullptr;
    }
  }
  return last;
}

template <class RunPartition>
u64 run_supersteps_together(thread_pool& threads, support::flat_vector<partition>& partitions, u64 last,
                            RunPartition run_partition) {
  struct alignas(128) saying {
    // by the superstep's parity: a fast thread may be one superstep ahead of a thread that still reads
    termination_vote what[2];
  };
  support::flat_vector<saying> said(static_cast<std::size_t>(threads.size()));
  u64 end = 0;  // the last superstep
  auto job = [&](int thread) {
    const auto share = [&](int k) { return static_cast<std::size_t>(k) * partitions.size() / said.size(); };
    termination_vote all = termination_vote::messages;
    for (u64 superstep = last + 1;; ++superstep) {
      termination_vote mine = termination_vote::nothing;
      for (std::size_t b = share(thread); b < share(thread + 1); ++b) {
        partitions[b].computes = all == termination_vote::computing;
        run_partition(partitions[b], superstep);
        mine = larger(mine, vote_of(partitions[b]));
      }
      said[static_cast<std::size_t>(thread)].what[superstep & 1] = mine;
      threads.barrier.wait();
      all = termination_vote::nothing;
      for (const saying& s : said) all = larger(all, s.what[superstep & 1]);
      if (goes_on(all)) continue;
      if (thread == 0) end = superstep;  // read when the threads have met
      return;
    }
  };
  threads.run(job);
  return end;
}

template <class RunPartition>
u64 run_supersteps(thread_pool& threads, support::flat_vector<partition>& partitions, u64 last,
                   RunPartition run_partition) {
  return threads.size() == 1 ? run_supersteps_alone(partitions, last, run_partition)
                             : run_supersteps_together(threads, partitions, last, run_partition);
}

}  // namespace wsl::engines
