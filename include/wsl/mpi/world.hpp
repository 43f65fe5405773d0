// SPDX-License-Identifier: MIT
// The processes that mpirun or srun has started, one rank each. All of them run the same program; a fabric
// that is given `mpi::world()` spreads its PEs over them and computes, bit by bit, what one process would:
//   fabric f{plan, mpi::world()};
//   ...
//   if (mpi::world().root()) fmt::print(...);
// See examples/96_ranks.cpp.
#pragma once
#include <mpi.h>

#include <chrono>
#include <span>
#include <string>

#include "../engine/threaded.hpp"
#include "../engine/threaded/engine.hpp"
#include "../support/fingerprint.hpp"
#include "session.hpp"

namespace wsl::mpi {

/// A group of ranks. All of them must call the functions marked "collective", in the same order.
class ranks {
 public:
  /// Some of them may have memory in common.
  explicit ranks(MPI_Comm group, shared_memory* memory = nullptr) : group_(group), memory_(memory) {
    MPI_Comm_rank(group, &rank_);
    MPI_Comm_size(group, &size_);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Whether this rank is the one that prints and writes files.
  bool root() const { return rank_ == 0; }
  MPI_Comm group() const { return group_; }
  shared_memory* memory() const { return memory_; }

  /// The largest of all ranks' numbers; collective.
  u64 largest(u64 mine) const { return reduced(mine, MPI_MAX); }
  /// The sum of all ranks' numbers; collective.
  u64 sum(u64 mine) const { return reduced(mine, MPI_SUM); }
  /// Throws fault on all ranks, naming the first one whose number differs from that of rank 0; collective.
  /// `what` names the quantity in the message, for instance "program".
  void require_same(u64 number, const std::string& what) const {
    u64 roots = number;
    broadcast(roots, 0);
    // Counted from the end, so that the largest is the first rank that differs.
    const u64 differs = largest(roots == number ? 0 : static_cast<u64>(size() - rank()));
    if (differs)
      throw fault("wsl: rank " + std::to_string(size() - static_cast<int>(differs)) + " has another " + what +
                  " than rank 0; start the same program with the same arguments everywhere");
  }
  /// Whether this rank should print the error with which it ends: no earlier rank has announced the same
  /// sentence within a second, so a sentence with which all ranks end is printed once. Each rank calls this
  /// at most once; ranks that go on are ended soon.
  bool first_to_say(const std::string& sentence) const {
    constexpr int tag = 0;
    support::fingerprint f;
    f.add(sentence.data(), sentence.size());
    const u64 mine = f.value();
    detail::has_failed = true;
    for (int to = rank_ + 1; to < size_; ++to) MPI_Send(&mine, 1, MPI_UINT64_T, to, tag, group_);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    for (int heard = 0; heard < rank_ && std::chrono::steady_clock::now() < end;) {
      int has_come = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, tag, group_, &has_come, MPI_STATUS_IGNORE);
      if (!has_come) continue;
      u64 theirs = 0;
      MPI_Recv(&theirs, 1, MPI_UINT64_T, MPI_ANY_SOURCE, tag, group_, MPI_STATUS_IGNORE);
      if (theirs == mine) return false;
      ++heard;
    }
    return true;
  }
  /// Sends the bytes of the rank `from` to all others; collective.
  void broadcast(std::span<std::byte> bytes, int from) const {
    const detail::waiting others;
    for (std::size_t done = 0; done < bytes.size(); done += most_at_once)
      MPI_Bcast(bytes.data() + done, static_cast<int>(support::min(bytes.size() - done, most_at_once)),
                MPI_BYTE, from, group_);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void broadcast(T& value, int from) const {
    broadcast(std::as_writable_bytes(std::span(&value, 1)), from);
  }
  std::string broadcast(std::string text, int from) const {
    std::size_t size = text.size();
    broadcast(size, from);
    text.resize(size);
    broadcast(std::as_writable_bytes(std::span(text)), from);
    return text;
  }

 private:
  static constexpr std::size_t most_at_once = std::size_t{1} << 30;  // the counts of MPI are ints

  u64 reduced(u64 mine, MPI_Op how) const {
    detail::waiting others;
    u64 all = 0;
    if (!detail::crowded()) return MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, how, group_), all;
    MPI_Request r;
    MPI_Iallreduce(&mine, &all, 1, MPI_UINT64_T, how, group_, &r);
    while (!detail::done(r)) others.pause();
    return all;
  }

  MPI_Comm group_;
  shared_memory* memory_;
  int rank_ = 0, size_ = 1;
};

/// Selects an engine whose PEs are spread over ranks.
struct spread_over {
  ranks who;
  threaded how = {};  ///< the engine of each rank; all settings but `threads` must be equal on all ranks

  int rank() const { return who.rank(); }
  int size() const { return who.size(); }
  bool root() const { return who.root(); }

  /// With other settings: `mpi::world().with({.threads = 2})`.
  spread_over with(const threaded& settings) const { return {who, settings}; }

  /// The caller owns the engine. Collective.
  inline engine* make(const layout& plan) const;
};

/// Whether mpirun, srun or another launcher of MPI programs has started this process. A process that was
/// started directly needs no MPI.
inline bool launched() {
  return std::getenv("PMIX_RANK") || std::getenv("PMI_RANK") || std::getenv("OMPI_COMM_WORLD_RANK");
}

/// All ranks of this mpirun; one, if the program was started without it.
inline spread_over world() {
  static detail::session all;
  return {ranks(all.group(), &all.memory())};
}

}  // namespace wsl::mpi
