// SPDX-License-Identifier: MIT
// MPI from its first use to the end of the process. A rank that ends while others still work would keep them
// waiting for ever; it therefore ends them all.
#pragma once
#include <mpi.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "../engine/threaded/pinning.hpp"
#include "../support/min_max.hpp"
#include "heartbeat.hpp"
#include "shared_memory.hpp"

namespace wsl::mpi::detail {

class session {
 public:
  session()
      : owned_(start()), group_(copy_of_world()), ends_(copy_of_world()), memory_(group_), heart_(group_) {
    count_cores();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() {
    int over = 0;
    MPI_Finalized(&over);
    if (over) return;
    const f64 patience = has_failed ? support::min(1., silence_) : silence_;
    if (owned_ && !everybody_came(patience)) {
      int rank = 0;
      MPI_Comm_rank(group_, &rank);
      std::fprintf(stderr, "wsl: %s has ended, and others went on for %.0f s; it ends them\n",
                   names_of_ranks[rank].c_str(), patience);
      MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    heart_.others_may_end();
    if (owned_) {  // collective: the heartbeat still notices a rank that is stopped now
      memory_.release();
      for (shared_memory& m : of_groups_) m.release();
    }
    heart_.stop();
    if (owned_) MPI_Finalize();
  }

  MPI_Comm group() const { return group_; }
  shared_memory& memory() { return memory_; }
  /// The memory of a group of ranks, until the end of the process; collective in the group.
  shared_memory& memory_of(MPI_Comm group) { return of_groups_.emplace_back(group); }

 private:
  /// Initializes MPI if necessary. Returns whether it did.
  static bool start() {
    int started = 0, threads = 0;
    MPI_Initialized(&started);
    if (!started) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads);
    return !started;
  }
  static MPI_Comm copy_of_world() {
    MPI_Comm group = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &group);
    return group;
  }

  /// Counts the cores that the ranks of this computer may use together, and finds out whether others may use
  /// those of this one; each rank may be bound to one core.
  void count_cores() const {
    MPI_Comm here = MPI_COMM_NULL;
    int rank = 0;
    MPI_Comm_split_type(group_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &ranks_here), MPI_Comm_rank(here, &rank);
    const cpu_set_t mine = engines::usable_processors();
    std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks_here));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, here);
    MPI_Comm_free(&here);
    engines::share_of_process = engines::share_of(all.data(), ranks_here, rank);
    cpu_set_t together = mine;
    for (const cpu_set_t& theirs : all) CPU_OR(&together, &together, &theirs);
    cores_here = CPU_COUNT(&together);
    int any = crowded();
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, group_);
    crowded_somewhere = any != 0;
  }

  /// Waits for all ranks, at most `patience` seconds, without limit if 0. Returns whether all came.
  bool everybody_came(f64 patience) const {
    const waiting others;
    MPI_Request all;
    MPI_Ibarrier(ends_, &all);
    const auto begin = std::chrono::steady_clock::now();
    for (f64 waited = 0; patience == 0 || waited < patience;
         waited = std::chrono::duration<f64>(std::chrono::steady_clock::now() - begin).count()) {
      if (done(all)) return true;
      const timespec pause{0, waited < 0.01 ? 1'000'000 : 100'000'000};
      nanosleep(&pause, nullptr);
    }
    return false;
  }

  const f64 silence_ = silence();  ///< in seconds
  bool owned_;
  MPI_Comm group_;
  MPI_Comm ends_;  ///< the same ranks: those that are in another collective function of the group do not end
  shared_memory memory_;
  std::deque<shared_memory> of_groups_;  // in the order in which all of their ranks made them
  heartbeat heart_;
};

}  // namespace wsl::mpi::detail
