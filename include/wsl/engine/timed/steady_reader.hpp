// SPDX-License-Identifier: MIT
// Who does nothing but take words as they come, so many at once and for so many cycles each time, takes each
// at a time that is known when the word is put in: a PE whose only work is an operation without an output,
// the receiver of a broadcast. Its words are gathered here, and it is looked at when there are many of them,
// or when something else comes to it.
#pragma once
#include <algorithm>

#include "../../core/scalar.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl::engines {

class steady_reader {
 public:
  /// with what comes until it is looked at, 32: less than a kilobyte a PE, of which a wafer has many
  static constexpr u32 many = 28;

  struct arrival {
    u64 ready = 0, taken = 0;
  };

  /// From `free_from` on it takes up to `width` words at once, which keeps it for `hold` cycles. It wants no
  /// more than `most` words, which are `latency` cycles on their way.
  void begin(u64 free_from, u32 width, u32 hold, u32 latency, u64 most) {
    free_from_ = late_ = free_from, width_ = width, hold_ = hold, latency_ = latency;
    alert_from_ = free_from_ + latency_;
    together_ = width;
    size_ = 0;
    look_again(most);
  }
  /// After many words, or these.
  void look_again(u64 most) {
    limit_ = size_ + most;
    enough_ = size_ + std::min<u64>(most, many);
    find_room();
  }
  /// Says when it takes a word that can be taken from `ready` on.
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
  /// The same for a word that need not wait, after others that are out of its way; false for another one.
  /// Requires has_room.
  [[gnu::always_inline]] bool take_as_it_comes(u32 bits, u64 ready) {
    if (ready < alert_from_) return false;
    newest_ = ready;
    free_from_ = alert_from_ = ready + hold_;
    together_ = 1;
    note(bits, ready, ready);
    return true;
  }
  /// The newest time at which it took a word that had to wait.
  u64 late() const { return late_; }
  /// For a word that does not make them all.
  bool has_room() const { return size_ < room_; }
  /// The newest word has made them many.
  bool has_many_now() const { return size_ == enough_; }
  bool has_many() const { return size_ >= enough_; }
  bool has_all() const { return size_ >= limit_; }

  /// Its words, the oldest first.
  std::size_t size() const { return size_; }
  const u32* bits() const { return bits_.data(); }
  const arrival& operator[](std::size_t k) const { return times_[k]; }

  /// How many times it took words up to its n-th.
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

  // who comes then or later need not wait, and nothing before it had to that may still be in its way
  u64 alert_from_ = 0;
  u64 size_ = 0, room_ = 0;
  u64 free_from_ = 0, newest_ = 0, late_ = 0, enough_ = 0, limit_ = 0;
  u32 width_ = 1, hold_ = 1, latency_ = 1, together_ = 0;
  support::flat_vector<u32> bits_;
  support::flat_vector<arrival> times_;
};

}  // namespace wsl::engines
