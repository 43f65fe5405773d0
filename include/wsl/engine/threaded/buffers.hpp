// SPDX-License-Identifier: MIT
// The memory in which words lie between a sender and its readers. A task writes into a buffer, which has room
// for all that one run may send; at the end of the visit the few words that most visits leave unread move
// into a block of 4 to 256 words, and the next visit writes into the same buffer, which is still in cache. So
// a PE at rest has no buffer, and the words of neighbouring PEs lie side by side. Each partition has a pool
// of its own.
#pragma once
#include <cstddef>
#include <new>
#include <utility>

#include "../../program/pe_state.hpp"
#include "../../support/flat_vector.hpp"
#include "../../support/min_max.hpp"

namespace wsl::engines {

/// The size of a buffer or block: each is four times as large as the one before.
enum class size_class : u8 { of_4, of_16, of_64, of_256, of_1024, of_4096, of_16384 };
inline constexpr int size_classes = 7;

constexpr int words_of(size_class s) { return 4 << (2 * static_cast<int>(s)); }

/// Buffers are small, for data tasks, or large, for all other tasks. All smaller sizes are blocks.
inline constexpr size_class small = size_class::of_1024, large = size_class::of_16384;
inline constexpr int small_buffer = words_of(small), large_buffer = words_of(large);
static_assert(2 * sends_of_a_data_task <= small_buffer && 2 * sends_of_a_task <= large_buffer);

/// The words that the largest block holds.
inline constexpr u32 most_in_block = 256;
/// The smallest block for so many words, of which there are no more than most_in_block.
constexpr size_class block_for(u32 words) {
  return words <= 4    ? size_class::of_4
         : words <= 16 ? size_class::of_16
         : words <= 64 ? size_class::of_64
                       : size_class::of_256;
}

/// A source of buffers other than this process's own memory.
class buffer_source {
 public:
  /// A buffer of this many words, null if there is none left.
  virtual u32* take(int words) = 0;

 protected:
  ~buffer_source() = default;
};

/// Buffers and blocks that are lent to channels with words. The memory that was returned last is lent
/// first, because it is in cache.
class buffer_pool {
 public:
  buffer_source* source = nullptr;  ///< of buffers; blocks always come from here
  int most_kept = 0;                ///< buffers that channels may keep from one visit to the next

  buffer_pool() = default;
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;
  ~buffer_pool() {
    for (u32* memory : all_) ::operator delete[](memory, line);
  }

  u32* take(size_class size) {
    lent_ += size >= small;
    support::flat_vector<u32*>& free = of(size).free;
    if (free.empty()) [[unlikely]]
      return size >= small ? new_buffer(size) : new_block(size);
    u32* const memory = free.back();
    free.pop_back();
    return memory;
  }
  /// The words stay as they are until the memory is lent again: an operation may still read them.
  void give(u32* memory, size_class size) {
    lent_ -= size >= small;
    of(size).free.push_within(memory);
  }
  /// Whether so few buffers are lent that a channel may keep its own when a visit ends: they stay in cache.
  bool lends_few() const { return lent_ <= most_kept; }

  /// Keeps what a reader in another partition may still read until that partition has had the message.
  void retire(u32* memory, size_class size, u64 superstep) {
    retired& now = retired_[superstep & 1];
    now.superstep = superstep;
    now.all.push_back({memory, size});
  }
  void release(u64 superstep) {
    for (retired& r : retired_) {
      if (r.superstep + 2 > superstep) continue;
      for (const piece& p : r.all) give(p.memory, p.size);
      r.all.clear();
    }
  }

 private:
  struct piece {
    u32* memory = nullptr;
    size_class size{};
  };
  /// The memory that was retired in one superstep.
  struct retired {
    support::flat_vector<piece> all;
    u64 superstep = 0;
  };

  /// The memory of one size.
  struct stock {
    support::flat_vector<u32*> free;  ///< the newest last; it has room for all that there is
    std::size_t pieces = 0, room = 0;
    u32* next = nullptr;  ///< for blocks: the rest of the last chunk
    int left = 0;         ///< words

    void grow(std::size_t by) {
      pieces += by;
      if (pieces > room) free.reserve(room = support::max(2 * room, pieces));
    }
  };
  stock& of(size_class size) { return stocks_[static_cast<int>(size)]; }

  [[gnu::noinline]] u32* new_buffer(size_class size) {
    of(size).grow(1);
    u32* shared = source ? source->take(words_of(size)) : nullptr;
    return shared ? shared : new_memory(words_of(size) + apart);
  }
  /// Blocks of one size stand side by side.
  [[gnu::noinline]] u32* new_block(size_class size) {
    stock& s = of(size);
    if (s.left == 0) {
      // as many as there are, so that a small partition pays for few that it does not need
      const int most = chunk / words_of(size), some = first_chunk / words_of(size);
      const int count = support::min(support::max(static_cast<int>(s.pieces), some), most);
      s.left = count * words_of(size);
      s.next = new_memory(s.left);
      s.grow(static_cast<std::size_t>(count));
    }
    s.left -= words_of(size);
    return std::exchange(s.next, s.next + words_of(size));
  }
  u32* new_memory(int words) { return all_.push_back(new (line) u32[static_cast<std::size_t>(words)]); }

  // bytes of a cache line: storing a vector across two lines takes twice as long
  static constexpr std::align_val_t line{64};
  // words between buffers: a load waits for an earlier store with the same offset in a page (4 KiB aliasing)
  static constexpr int apart = 256;
  static constexpr int first_chunk = 1 << 10, chunk = 1 << 14;  // words

  stock stocks_[size_classes];
  support::flat_vector<u32*> all_;
  retired retired_[2];  ///< by the superstep's parity
  int lent_ = 0;        ///< buffers
};

}  // namespace wsl::engines
