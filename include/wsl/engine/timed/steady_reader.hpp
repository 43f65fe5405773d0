// SPDX-License-Identifier: MIT
// A steady reader is a PE whose only work is one receive operation without an output, such as the receiver of
// a broadcast: it takes up to `width` words at once, which occupy it for `hold` cycles. The time at which it
// takes a word is known when the word is sent, so the words are gathered here with their times, and the PE is
// visited once for many of them, or when something else comes to it.
#pragma once
#include <algorithm>
#include <atomic>

#include "../../core/scalar.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl::engines {

class steady_reader {
 public:
  /// Words for which the PE is woken. With those that come until it is visited they are 32: less than a
  /// kilobyte for each of the PEs, of which a wafer has many.
  static constexpr u32 many = 28;

  struct arrival {
    u64 ready = 0, taken = 0;
  };

  /// From `free_from` on the PE takes up to `width` words at once, which occupy it for `hold` cycles. It
  /// wants at most `most` words; each is on its way for `latency` cycles.
  void begin(u64 free_from, u32 width, u32 hold, u32 latency, u64 most) {
    free_from_ = late_ = free_from, width_ = width, hold_ = hold, latency_ = latency;
    alert_from_ = free_from_ + latency_;
    together_ = width;
    size_ = 0;
    look_again(most);
  }
  /// Wakes the PE after `many` more words, or after `most`.
  void look_again(u64 most) {
    limit_ = size_ + most;
    enough_ = size_ + std::min<u64>(most, many);
    find_room();
  }
  /// Returns the time at which the PE takes a word that can be taken from `ready` on.
  [[gnu::always_inline]] u64 take(u32 bits, u64 ready) {
    u64 taken = newest_;
    if (ready > taken || together_ == width_) [[likely]] {
      taken = std::max(ready, free_from_);
      newest_ = taken;
      free_from_ = taken + hold_;
      together_ = 0;
    }
    if (taken > ready) late_ = taken;
    ++together_;
    if (size_ == bits_.size()) [[unlikely]]
      grow();
    alert_from_ = std::max(free_from_, late_ + latency_);
    note(bits, ready, taken);
    return taken;
  }
  /// A fast version of `take` for a word that need not wait for the words before it; false, and nothing done,
  /// for any other word. Requires has_room.
  [[gnu::always_inline]] bool take_as_it_comes(u32 bits, u64 ready) {
    if (ready < alert_from_) return false;
    newest_ = ready;
    free_from_ = alert_from_ = ready + hold_;
    together_ = 1;
    note(bits, ready, ready);
    return true;
  }
  /// Whether another word fits that is not the last of those it wants.
  bool has_room() const { return size_ < room_; }
  /// Whether the newest word has completed the number of words for which the PE is woken.
  bool has_many_now() const { return size_ == enough_; }
  bool has_many() const { return size_ >= enough_; }
  u64 bytes() const { return bits_.capacity() * sizeof(u32) + times_.capacity() * sizeof(arrival); }
  bool has_all() const { return size_ >= limit_; }

  /// Its words, oldest first: their number, their bits, and their times.
  std::size_t size() const { return size_; }
  const u32* bits() const { return bits_.data(); }
  const arrival& operator[](std::size_t k) const { return times_[k]; }

  /// The number of times at which its first n words are taken.
  u64 turns(std::size_t n) const {
    if (width_ == 1) return n;
    u64 turns = 0;
    for (std::size_t k = 0; k < n; ++k) turns += k == 0 || times_[k].taken != times_[k - 1].taken;
    return turns;
  }
  std::size_t taken_before(u64 now) const {
    std::size_t n = size_;
    while (n > 0 && times_[n - 1].taken >= now) --n;
    return n;
  }
  void drop(std::size_t first) {
    for (std::size_t k = first; k < size_; ++k) bits_[k - first] = bits_[k], times_[k - first] = times_[k];
    size_ -= first;
    limit_ -= std::min<u64>(limit_, first);
    enough_ -= std::min<u64>(enough_, first);
    find_room();
  }

 private:
  [[gnu::always_inline]] void note(u32 bits, u64 ready, u64 taken) {
    bits_[size_] = bits;
    times_[size_] = {ready, taken};
    ++size_;
  }
  void find_room() { room_ = std::min<u64>(bits_.size(), limit_ > 0 ? limit_ - 1 : 0); }
  [[gnu::cold, gnu::noinline]] void grow() {
    const std::size_t n = std::max<std::size_t>(2 * size_, 32);
    support::flat_vector<u32> bits(n);
    support::flat_vector<arrival> times(n);
    for (std::size_t k = 0; k < size_; ++k) bits[k] = bits_[k], times[k] = times_[k];
    bits_.swap(bits);
    times_.swap(times);
    find_room();
  }

  // A word that arrives at this time or later need not wait, neither for the PE nor for an earlier word.
  u64 alert_from_ = 0;
  u64 size_ = 0, room_ = 0;
  u64 free_from_ = 0, newest_ = 0, late_ = 0, enough_ = 0, limit_ = 0;
  u32 width_ = 1, hold_ = 1, latency_ = 1, together_ = 0;
  support::flat_vector<u32> bits_;
  support::flat_vector<arrival> times_;
};

/// The steady readers of all threads, numbered from 1 on. They stay where they are when others are added.
class steady_readers {
 public:
  /// The numbers from which one thread takes those of its readers.
  struct part {
    u32 next = 0, end = 0;
  };

  void open(u64 most, u32 threads) {
    chunks_ = support::flat_vector<chunk>(most / in_chunk + threads + 3);
    chunks_[0].readers = support::flat_vector<steady_reader>(1);  // pipes without a reader have number 0
  }
  u32 add(part& of) {
    if (of.next == of.end) {
      const u32 n = used_.fetch_add(1, std::memory_order_relaxed);
      chunks_[n].readers = support::flat_vector<steady_reader>(in_chunk);
      of = {n * in_chunk, (n + 1) * in_chunk};
    }
    return of.next++;
  }
  u64 bytes() const {
    u64 n = chunks_.capacity() * sizeof(chunk);
    for (const chunk& c : chunks_) {
      n += c.readers.capacity() * sizeof(steady_reader);
      for (const steady_reader& r : c.readers) n += r.bytes();
    }
    return n;
  }
  [[gnu::always_inline]] steady_reader& operator[](u32 n) {
    return chunks_[n / in_chunk].readers[n % in_chunk];
  }

 private:
  static constexpr u32 in_chunk = 256;
  struct chunk {
    support::flat_vector<steady_reader> readers;
  };
  support::flat_vector<chunk> chunks_;
  std::atomic<u32> used_ = 1;
};

}  // namespace wsl::engines
