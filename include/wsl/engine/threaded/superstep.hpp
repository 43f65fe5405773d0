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
#include "run_observer.hpp"
#include "vote.hpp"

namespace wsl::engines {

inline termination_vote vote_of(const partition& b) {
  if (b.failure) return termination_vote::failure;
  if (b.addressed || !b.work.empty()) return termination_vote::messages;
  return b.will_compute() ? termination_vote::computing : termination_vote::nothing;
}

/// The first of the partitions that a thread runs; it runs those before the next thread's first.
constexpr std::size_t first_partition_of(int thread, int threads, std::size_t partitions) {
  return static_cast<std::size_t>(thread) * partitions / static_cast<std::size_t>(threads);
}

/// Visits the partitions that are not in the set `busy`, if the observer wants to see them; returns their
/// number.
template <class RunPartition>
std::size_t visit_idle(support::flat_vector<partition>& partitions, u64 busy, u64 superstep,
                       RunPartition run_partition, const run_observer& observer) {
  if (!observer.needs_one_thread()) return 0;
  std::size_t idle = 0;
  for (std::size_t b = 0; b < partitions.size(); ++b)
    if (!(busy >> b & 1)) run_partition(partitions[b], superstep), ++idle;
  return idle;
}

/// Runs supersteps, beginning with `last` + 1, until no work is left or a partition has failed; returns the
/// number of the last one.
template <class RunPartition>
u64 run_supersteps_alone(support::flat_vector<partition>& partitions, u64 last, RunPartition run_partition,
                         run_observer* observer) {
  const auto those = [&](auto condition) {
    u64 set = 0;
    for (std::size_t b = 0; b < partitions.size(); ++b) set |= u64{condition(partitions[b])} << b;
    return set;
  };
  u64 next = those([](partition& b) { return !b.work.empty() || b.has_mail(); });
  for (bool failed = false; !failed;) {
    const u64 now = next ? next : those([](partition& b) { return b.computes = b.will_compute(); });
    if (!now) break;
    ++last, next = 0;
    if (observer) observer->begin_superstep(0);
    for (u64 left = now; left; left &= left - 1) {
      const auto number = static_cast<std::size_t>(std::countr_zero(left));
      partition& b = partitions[number];
      if (observer) observer->begin_partition(0, number);
      run_partition(b, last);
      next |= b.addressed | u64{!b.work.empty()} << number;
      failed |= b.failure != nullptr;
      if (observer) observer->end_partition(0, number);
    }
    if (observer) observer->end_superstep(0, visit_idle(partitions, now, last, run_partition, *observer));
  }
  return last;
}

template <class RunPartition>
u64 run_supersteps_together(thread_pool& threads, support::flat_vector<partition>& partitions, u64 last,
                            RunPartition run_partition, run_observer* observer) {
  vote_table votes(threads.size());
  u64 end = 0;  // the last superstep
  auto job = [&](int thread) {
    if (observer) observer->begin_thread(thread);
    termination_vote all = termination_vote::messages;
    for (u64 superstep = last + 1; goes_on(all); ++superstep) {
      if (observer) observer->begin_superstep(thread);
      termination_vote vote = termination_vote::nothing;
      const std::size_t after = first_partition_of(thread + 1, threads.size(), partitions.size());
      for (std::size_t b = first_partition_of(thread, threads.size(), partitions.size()); b < after; ++b) {
        partitions[b].computes = all == termination_vote::computing;
        if (observer) observer->begin_partition(thread, b);
        run_partition(partitions[b], superstep);
        if (observer) observer->end_partition(thread, b);
        vote = larger(vote, vote_of(partitions[b]));
      }
      if (observer) observer->end_superstep(thread, 0);
      all = votes.agree(threads.barrier, thread, superstep, vote);
      if (thread == 0) end = superstep;  // read when the threads have met
    }
    if (observer) observer->end_thread(thread);
  };
  threads.run(job);
  return end;
}

template <class RunPartition>
u64 run_supersteps(thread_pool& threads, support::flat_vector<partition>& partitions, u64 last,
                   RunPartition run_partition, run_observer* observer) {
  if (observer) observer->begin_run(threads.size(), partitions.size());
  if (threads.size() > 1) last = run_supersteps_together(threads, partitions, last, run_partition, observer);
  else {
    if (observer) observer->begin_thread(0);
    last = run_supersteps_alone(partitions, last, run_partition, observer);
    if (observer) observer->end_thread(0);
  }
  if (observer) observer->end_run();
  return last;
}

}  // namespace wsl::engines
