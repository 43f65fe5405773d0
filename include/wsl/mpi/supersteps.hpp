// SPDX-License-Identifier: MIT
// Supersteps of partitions that several ranks share. A rank first runs those of its partitions that border on
// another rank's, and sends their messages, which are on their way while the other partitions run. The order
// in which partitions run does not matter, because the others see the words of a partition only in the next
// superstep. While PEs of this rank have offloaded jobs, one thread runs the supersteps and the others
// compute. A single thread computes when no messages are left, because other ranks would wait for it.
#pragma once
#include <atomic>
#include <optional>
#include <span>

#include "../engine/threaded/superstep.hpp"
#include "exchange.hpp"

namespace wsl::mpi {

/// Threads beside the one that runs the supersteps, at most as many as there are jobs when they are first
/// needed.
struct compute_helpers {
  int most;  ///< the largest number of threads, with that one
  std::optional<engines::thread_pool> thread_pool = {};

  engines::thread_pool& all(std::size_t offloaded_jobs) {
    if (!thread_pool)
      thread_pool.emplace(
          static_cast<int>(support::min<std::size_t>(static_cast<std::size_t>(most), offloaded_jobs + 1)));
    return *thread_pool;
  }
};

/// Those of the partitions of a rank that one of its threads runs.
inline std::span<const u32> share_of_thread(std::span<const u32> mine, int thread, int threads) {
  const std::size_t first = engines::first_partition_of(thread, threads, mine.size());
  return mine.subspan(first, engines::first_partition_of(thread + 1, threads, mine.size()) - first);
}

/// Runs the partitions `mine` in supersteps, beginning with `last` + 1, until no rank has work left or a
/// partition has failed; returns the number of the last superstep. Collective. Only the calling thread
/// calls MPI. If one thread is enough for the partitions, `helpers` compute beside it.
template <class RunPartition>
u64 run_supersteps(engines::thread_pool& threads, compute_helpers& helpers,
                   support::flat_vector<engines::partition>& partitions, std::span<const u32> mine, u64 last,
                   exchange& others, RunPartition run_partition) {
  using engines::termination_vote;
  u32 at_border = 0;
  for (const u32 b : mine) at_border += others.borders(b);

  termination_vote all = termination_vote::messages;
  std::atomic<u32> ready = 0;  // partitions at the border that have run
  // the jobs of this rank's partitions at the last superstep in which all of them ran
  support::flat_vector<engines::open_job*> offloaded_jobs;
  bool one_leads = false;  // one thread runs the supersteps, and the others do these jobs
  const auto find_jobs = [&] {
    offloaded_jobs.clear();
    for (const u32 b : mine)
      for (engines::open_job* e : partitions[b].offloaded_jobs) offloaded_jobs.push_back(e);
  };
  const auto do_one = [&] {
    for (engines::open_job* e : offloaded_jobs)
      if (e->do_if_first()) return true;
    return false;
  };
  auto job = [&](int thread) {
    bool sent = false;
    const auto move_on = [&] {
      if (sent) others.move_on();
      else if (ready.load(std::memory_order_acquire) == at_border) others.send(last + 1), sent = true;
    };
    const auto run = [&](std::span<const u32> some) {
      if (thread == 0) others.expect(last + 1), sent = false;
      for (const bool first_ones : {true, false})
        for (const u32 b : some) {
          if (others.borders(b) != first_ones) continue;
          partitions[b].computes = all == termination_vote::computing;
          run_partition(partitions[b], last + 1);
          if (first_ones) ready.fetch_add(1);
          if (thread == 0) move_on();
        }
    };
    const auto receive = [&] {
      if (!sent) move_on();
      ready.store(0, std::memory_order_relaxed);
      termination_vote vote = termination_vote::nothing;
      for (const u32 b : mine) vote = engines::larger(vote, engines::vote_of(partitions[b]));
      const exchange::agreement end = others.receive(last + 1, vote, one_leads);
      all = end.all, last = end.superstep;
    };
    auto lead = [&](int k) {
      if (k == 0) receive();
      while (k == 0 && all == termination_vote::messages) run(mine), receive();
      while (do_one()) {}
    };
    while (engines::goes_on(all)) {
      run(share_of_thread(mine, thread, threads.size()));
      threads.barrier.wait();
      if (thread == 0) {
        find_jobs();
        one_leads = helpers.most > 1 && !offloaded_jobs.empty();
        if (!one_leads) receive();
      }
      threads.barrier.wait();
      if (one_leads && threads.size() == 1) helpers.all(offloaded_jobs.size()).run(lead);
      else if (one_leads) lead(thread), threads.barrier.wait();
    }
  };
  others.begin_run();
  if (threads.size() == 1) job(0);
  else threads.run(job);
  return last;
}

}  // namespace wsl::mpi
