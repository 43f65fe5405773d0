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
#include "scaling_profile.hpp"
#include "thread_times.hpp"
#include "vote.hpp"

namespace wsl::engines {

inline termination_vote vote_of(const partition& b) {
  if (b.failure) return termination_vote::failure;
  if (b.addressed || !b.work.empty()) return termination_vote::messages;
  return b.will_compute() ? termination_vote::computing : termination_vote::nothing;
}

/// The observer of a run that nobody measures.
struct unobserved {
  void begin_superstep() {}
  void end_partition(std::size_t) {}
  template <class Visit>
  void end_superstep(Visit) {}
};

/// Runs supersteps, beginning with `last` + 1, until no work is left or a partition has failed; returns the
/// number of the last one. The observer may visit the partitions without work at the end of a superstep, as
/// several threads do.
template <class RunPartition, class Observer>
u64 run_supersteps_alone(support::flat_vector<partition>& partitions, u64 last, RunPartition run_partition,
                         thread_times* times, Observer&& observer) {
  thread_times::run mine(times, 0);
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
    observer.begin_superstep();
    for (next = 0; now; now &= now - 1) {
      partition& b = partitions[static_cast<std::size_t>(std::countr_zero(now))];
      mine.begin_partition(static_cast<std::size_t>(&b - partitions.data()));
      run_partition(b, last);
      next |= b.addressed | u64{!b.work.empty()} << (&b - partitions.data());
      failed |= b.failure != nullptr;
      observer.end_partition(static_cast<std::size_t>(&b - partitions.data()));
    }
    observer.end_superstep([&](std::size_t b) { run_partition(partitions[b], last); });
  }
  return last;
}

template <class RunPartition>
u64 run_supersteps_together(thread_pool& threads, support::flat_vector<partition>& partitions, u64 last,
                            RunPartition run_partition, thread_times* times) {
  vote_table votes(threads.size());
  u64 end = 0;  // the last superstep
  auto job = [&](int thread) {
    thread_times::run mine(times, thread);
    termination_vote all = termination_vote::messages;
    for (u64 superstep = last + 1;; ++superstep) {
      termination_vote vote = termination_vote::nothing;
      const std::size_t after = first_partition_of(thread + 1, threads.size(), partitions.size());
      for (std::size_t b = first_partition_of(thread, threads.size(), partitions.size()); b < after; ++b) {
        partitions[b].computes = all == termination_vote::computing;
        mine.begin_partition(b);
        run_partition(partitions[b], superstep);
        vote = larger(vote, vote_of(partitions[b]));
      }
      mine.begin_wait();
      all = votes.agree(threads.barrier, thread, superstep, vote);
      if (goes_on(all)) continue;
      if (thread == 0) end = superstep;  // read when the threads have met
      return;
    }
  };
  threads.run(job);
  return end;
}

/// With a profile, which measures one thread, the times of all partitions are added to it; the times of the
/// threads are not taken then.
template <class RunPartition>
u64 run_supersteps(thread_pool& threads, support::flat_vector<partition>& partitions, u64 last,
                   RunPartition run_partition, scaling_profile* profile, thread_times* times) {
  if (profile) {
    const scaling_profile::run now(*profile, partitions.size());
    return run_supersteps_alone(partitions, last, run_partition, nullptr, *profile);
  }
  if (times) times->begin_run(threads.size(), partitions.size());
  return threads.size() == 1 ? run_supersteps_alone(partitions, last, run_partition, times, unobserved{})
                             : run_supersteps_together(threads, partitions, last, run_partition, times);
}

}  // namespace wsl::engines
