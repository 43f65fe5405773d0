// SPDX-License-Identifier: MIT
// How the ranks of one computer exchange short messages without MPI: each writes into slots of its own part of
// the shared memory and rings the reader's doorbell, at which a reader that has nothing else to do sleeps. A
// rank that polls instead would hold a core that another rank's threads need; on a computer whose ranks have
// more threads than it has cores, it made supersteps several times longer.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <span>

#include "../engine/threaded/buffers.hpp"
#include "../engine/threaded/vote.hpp"

namespace wsl::mpi::detail {

/// A bell in memory that several processes share. Anybody may ring; one thread, of the rank that it belongs
/// to, waits.
class doorbell {
 public:
  /// The number of times that it has been rung.
  u32 rung() const { return rung_.load(std::memory_order_acquire); }
  void ring() {
    rung_.fetch_add(1);
    if (sleeps_.load()) futex(FUTEX_WAKE, 1, nullptr);
  }
  /// Sleeps until it has been rung more often than `before` times, or for so many nanoseconds.
  void wait(u32 before, long most) {
    const timespec limit{0, most};
    sleeps_.store(1);
    if (rung_.load() == before) futex(FUTEX_WAIT, before, &limit);
    sleeps_.store(0, std::memory_order_relaxed);
  }

 private:
  void futex(int what, u32 value, const timespec* limit) {
    static_assert(sizeof rung_ == sizeof(u32) && std::atomic<u32>::is_always_lock_free);
    syscall(SYS_futex, &rung_, what, value, limit, nullptr, 0);
  }

  alignas(64) std::atomic<u32> rung_ = 0;
  std::atomic<u32> sleeps_ = 0;
};

/// The header of a rank's message to another in a superstep.
struct opening {
  u64 size = 0, tree_broadcast = 0;  ///< bytes of the message, and of the sender's tree_broadcast
  engines::termination_vote says = engines::termination_vote::nothing;
  bool settled = true;  ///< otherwise the vote follows
};

/// A slot for the first bytes of one rank's messages to another. There are two of them, which take turns by
/// superstep: when a rank writes into one again, its reader has sent a message since it read it.
class slot {
 public:
  static constexpr std::size_t room = sizeof(u32) * engines::large_buffer - 64;

  /// Makes a slot of memory for a large buffer.
  static slot* in(u32* memory) { return new (memory) slot; }

  void write(u64 superstep, std::span<const std::byte> bytes) {
    std::memcpy(bytes_, bytes.data(), bytes.size());
    written_.store(superstep, std::memory_order_release);
  }
  void vote(u64 superstep, engines::termination_vote says) {
    vote_.store(superstep << 8 | static_cast<u64>(says), std::memory_order_release);
  }

  bool has(u64 superstep) const { return written_.load(std::memory_order_acquire) == superstep; }
  const std::byte* bytes() const { return bytes_; }
  std::optional<engines::termination_vote> vote_of(u64 superstep) const {
    const u64 v = vote_.load(std::memory_order_acquire);
    if (v >> 8 != superstep) return {};
    return static_cast<engines::termination_vote>(v & 0xff);
  }

 private:
  static constexpr u64 never = ~u64{0};

  std::atomic<u64> written_ = never, vote_ = never;  // the latest superstep
  alignas(64) std::byte bytes_[room];
};
static_assert(sizeof(slot) == sizeof(u32) * engines::large_buffer);

}  // namespace wsl::mpi::detail
