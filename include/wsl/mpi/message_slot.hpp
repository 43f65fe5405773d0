// SPDX-License-Identifier: MIT
// Where the ranks of one computer leave messages for each other without MPI: each rank writes into slots of
// its own part of the shared memory, and the reader finds the latest one by the number of its superstep.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <span>

#include "../engine/threaded/buffers.hpp"
#include "../engine/threaded/vote.hpp"

namespace wsl::mpi::detail {

/// A slot for the first bytes of one rank's messages to another. There are two of them, which take turns by
/// superstep: when a rank writes into one again, its reader has sent a message since it read it.
class message_slot {
 public:
  static constexpr std::size_t room = sizeof(u32) * engines::large_buffer - 64;

  /// Makes a slot of memory for a large buffer.
  static message_slot* in(u32* memory) { return new (memory) message_slot; }

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
static_assert(sizeof(message_slot) == sizeof(u32) * engines::large_buffer);

}  // namespace wsl::mpi::detail
