// SPDX-License-Identifier: MIT
// A bell in memory that the ranks of one computer share. A rank that has nothing to do until a message comes
// sleeps there, and whoever writes the message rings. A rank that polled instead would hold a core that
// another rank's threads need: where ranks have more threads than there are cores, supersteps then take
// several times as long.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "../core/scalar.hpp"

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

}  // namespace wsl::mpi::detail
