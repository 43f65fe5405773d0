// SPDX-License-Identifier: MIT
// The vote at the end of a superstep: what follows is the largest of what the partitions have left to do.
// Each thread writes its vote where no other writes, and reads all of them behind the barrier.
#pragma once
#include "../../core/scalar.hpp"
#include "thread_pool.hpp"

namespace wsl::engines {

/// A partition's remaining work after a superstep. The largest vote of all decides what follows: a run ends
/// when no partition has work left, or when a task has failed.
enum class termination_vote : u8 { nothing, computing, messages, failure };

inline termination_vote larger(termination_vote a, termination_vote b) { return a < b ? b : a; }
inline bool goes_on(termination_vote what) {
  return what == termination_vote::computing || what == termination_vote::messages;
}

class vote_table {
 public:
  explicit vote_table(int threads) : votes_(static_cast<std::size_t>(threads)) {}

  /// The largest vote of all threads, which meet at the barrier.
  termination_vote agree(spin_barrier& barrier, int thread, u64 superstep, termination_vote mine) {
    votes_[static_cast<std::size_t>(thread)].what[superstep & 1] = mine;
    barrier.wait();
    termination_vote all = termination_vote::nothing;
    for (const vote& v : votes_) all = larger(all, v.what[superstep & 1]);
    return all;
  }

 private:
  struct alignas(128) vote {
    // by the superstep's parity: a fast thread may be one superstep ahead of a thread that still reads
    termination_vote what[2];
  };
  support::flat_vector<vote> votes_;
};

}  // namespace wsl::engines
