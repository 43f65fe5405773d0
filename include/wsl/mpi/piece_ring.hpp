// SPDX-License-Identifier: MIT
// How the words that a rank grants reach other ranks of its computer: piece by piece, through a small ring in
// the memory that they share. While readers take one piece into their operations, the writer copies the next,
// so that both copies of a word cost little more time than one, and the pieces between them stay in cache.
#pragma once
#include <atomic>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "../core/scalar.hpp"
#include "../support/min_max.hpp"
#include "doorbell.hpp"

namespace wsl::mpi::detail {

/// One place of a ring: a piece with its number, until all its readers have taken it.
class ring_slot {
 public:
  static constexpr u32 room = 1 << 14;  ///< words

  bool is_free() const { return readers_.load(std::memory_order_acquire) == 0; }
  void write(u32 number, std::span<const u32> words, u32 readers) {
    std::memcpy(words_, words.data(), words.size_bytes());
    readers_.store(readers, std::memory_order_relaxed);
    number_.store(number, std::memory_order_release);
  }
  bool has(u32 number) const { return number_.load(std::memory_order_acquire) == number; }
  const u32* words() const { return words_; }
  /// Each reader says once that it has taken the piece.
  void taken() { readers_.fetch_sub(1, std::memory_order_release); }

 private:
  static constexpr u32 none = ~u32{0};

  static_assert(std::atomic<u32>::is_always_lock_free, "processes share it");

  std::atomic<u32> number_ = none, readers_ = 0;
  alignas(64) u32 words_[room];
};

/// The ring of one rank in shared memory, which it writes and the others read. Pieces are numbered in the
/// order in which they are written, and the number says the slot.
class piece_ring {
 public:
  /// The numbers of so many pieces that the rank will write next; returns the first.
  u32 number(u32 pieces) { return std::exchange(next_, next_ + pieces); }
  ring_slot& slot_of(u32 piece) { return slots_[piece % slots]; }

  static u32 pieces_of(u32 words) { return (words + ring_slot::room - 1) / ring_slot::room; }

 private:
  /// Together as much as two cores pass between their caches; more slots would be written to memory.
  static constexpr u32 slots = 4;

  u32 next_ = 0;
  ring_slot slots_[slots];
};

/// The arrays that a rank grants in a superstep, on their way into its ring.
class outgoing_arrays {
 public:
  explicit outgoing_arrays(piece_ring* to) : ring_(to) {}

  /// Forgets the arrays of the superstep before, all of which have been written.
  void begin() { open_.clear(), place_of_.clear(), next_ = {}; }
  /// Adds a reader of some words, which must stay as they are until they are written. All readers are added
  /// before the first piece is written, which counts them. Returns the number of the words' first piece, the
  /// same for all readers.
  u32 add(std::span<const u32> words) {
    const auto [known, is_new] = place_of_.try_emplace({words.data(), words.size()}, open_.size());
    if (is_new)
      open_.push_back({words, ring_->number(piece_ring::pieces_of(static_cast<u32>(words.size()))), 0});
    array& a = open_[known->second];
    ++a.readers;
    return a.first;
  }
  bool all_written() const { return next_.array == open_.size(); }
  /// Writes as many pieces as the ring has room for; returns their number.
  u32 write() {
    u32 written = 0;
    for (; next_.array < open_.size(); ++next_.array, next_.piece = 0) {
      const array& a = open_[next_.array];
      for (const u32 n = piece_ring::pieces_of(static_cast<u32>(a.words.size())); next_.piece < n;
           ++next_.piece, ++written) {
        ring_slot& slot = ring_->slot_of(a.first + next_.piece);
        if (!slot.is_free()) return written;
        const std::size_t done = std::size_t{ring_slot::room} * next_.piece;
        slot.write(a.first + next_.piece,
                   a.words.subspan(done, support::min<std::size_t>(a.words.size() - done, ring_slot::room)),
                   a.readers);
      }
    }
    return written;
  }

 private:
  struct array {
    std::span<const u32> words;
    u32 first;  ///< the number of its first piece
    u32 readers;
  };
  struct position {
    std::size_t array = 0;
    u32 piece = 0;
  };

  piece_ring* ring_;
  std::vector<array> open_;
  std::map<std::pair<const u32*, std::size_t>, std::size_t> place_of_;
  position next_;
};

/// The arrays that other ranks have granted to cursors of this one, on their way out of the rings.
class incoming_arrays {
 public:
  /// The bell is the writer's, who waits for readers.
  void expect(piece_ring& from, doorbell& writer, u32 first_piece, u32 cursor, u32 words) {
    open_.push_back({&from, &writer, first_piece, cursor, words});
  }
  bool all_taken() const { return open_.empty(); }
  /// Calls take(cursor, words), which must not throw, with the pieces that have come, which are those of a
  /// cursor in order. Returns their number.
  template <class Take>
  u32 take(Take take) {
    u32 taken = 0;
    std::size_t left = 0;
    for (array a : open_) {
      for (; a.words > 0; ++a.next, ++taken) {
        ring_slot& slot = a.from->slot_of(a.next);
        if (!slot.has(a.next)) break;
        const u32 n = support::min(a.words, ring_slot::room);
        take(a.cursor, std::span(slot.words(), n));
        slot.taken(), a.writer->ring();
        a.words -= n;
      }
      if (a.words > 0) open_[left++] = a;
    }
    open_.resize(left);
    return taken;
  }

 private:
  struct array {
    piece_ring* from;
    doorbell* writer;
    u32 next;  ///< the number of its next piece
    u32 cursor;
    u32 words;  ///< that are left
  };
  std::vector<array> open_;
};

}  // namespace wsl::mpi::detail
