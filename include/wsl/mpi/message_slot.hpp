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
/// superstep: when a rank writes into one again, its reader has sent a message since it read it, or rests.
class message_slot {
 public:
  static constexpr std::size_t room = sizeof(u32) * engines::large_buffer - 64;

  /// Makes a slot of memory for a large buffer.
  static message_slot* in(u32* memory) { return new (memory) message_slot; }

  void write(u64 superstep, std::span<const std::byte> bytes) {
    std::memcpy(bytes_, bytes.data(), bytes.size());
    written_.store(superstep, std::memory_order_release);
  }
  void vote(u64 superstep, engines::termination_vote says, bool rests) {
    vote_.store(superstep << 8 | u64{rests} << 7 | static_cast<u64>(says), std::memory_order_release);
  }
  /// Says that there is something for the reader in a superstep, whose message has been written. A reader
  /// that rests looks for nothing else.
  void call(u64 superstep) { called_.store(superstep, std::memory_order_release); }

  /// Says that this rank rests and has read all of the others' slots up to a superstep.
  void rest(u64 superstep) { rested_.store(superstep, std::memory_order_release); }

  bool has(u64 superstep) const { return written_.load(std::memory_order_acquire) == superstep; }
  const std::byte* bytes() const { return bytes_; }
  struct last_words {
    engines::termination_vote says;
    bool rests;
  };
  std::optional<last_words> vote_of(u64 superstep) const {
    const u64 v = vote_.load(std::memory_order_acquire);
    if (v >> 8 != superstep) return {};
    return last_words{static_cast<engines::termination_vote>(v & 0x7f), (v >> 7 & 1) != 0};
  }
  u64 rested() const { return rested_.load(std::memory_order_acquire); }
  /// The latest superstep of a call; supersteps are counted from 1.
  u64 called() const { return called_.load(std::memory_order_acquire); }

 private:
  static constexpr u64 never = ~u64{0};

  std::atomic<u64> written_ = never, vote_ = never, called_ = 0, rested_ = 0;  // the latest superstep
  alignas(64) std::byte bytes_[room];
};
static_assert(sizeof(message_slot) == sizeof(u32) * engines::large_buffer);

}  // namespace wsl::mpi::detail
