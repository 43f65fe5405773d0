// SPDX-License-Identifier: MIT
// The event queue of the timed engine: the times at which actors (a PE, an arbiter, a host stream) are to be
// visited. The engine advances from one event to the next, so idle parts and idle cycles cost nothing. It is
// a calendar queue. The events of the next cycle, which are most of them, have a list of their own; near
// times have a ring of lists, one for each cycle, with a bit for each list that is not empty; the few far
// ones are in a heap.
#pragma once
#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl::engines {

class calendar_queue {
 public:
  static constexpr u64 never = ~u64{0};

  /// Makes room for n actors, each of which is noted at most once for the next cycle.
  void open(std::size_t n) {
    soon_ = support::flat_vector<u32>(n), due_ = support::flat_vector<u32>(n), soon_.clear(), due_.clear();
  }

  /// Notes `who` for a time that has not passed.
  [[gnu::always_inline]] void add(u64 at, u32 who) {
    if (at == now_ + 1) soon_.push_within(who);
    else add_later(at, who);
  }

  /// Advances to the next noted time; false if there is none.
  bool advance() {
    const u64 next =
        soon_.empty() ? std::min(next_near(), far_.empty() ? never : far_.front().first) : now_ + 1;
    if (next == never) return false;
    now_ = next;
    due_.swap(soon_);
    soon_.clear();
    while (!far_.empty() && far_.front().first - now_ < ring) {
      const auto [at, who] = far_.front();
      std::pop_heap(far_.begin(), far_.end(), std::greater<>{});
      far_.pop_back();
      add_later(at, who);
    }
    return true;
  }
  u64 now() const { return now_; }
  /// Skips to a time before which nothing is noted.
  void set_now(u64 at) { now_ = at; }

  /// Calls visit(who) for each actor that is noted for this time. Events that are noted meanwhile are for
  /// later times.
  template <class Visit>
  void take(Visit visit) {
    for (u32 who : due_) visit(who);
    if (!(used_[now_ % ring / 64] >> now_ % 64 & 1)) return;
    used_[now_ % ring / 64] &= ~(u64{1} << now_ % 64);
    due_now_.swap(lists_[now_ % ring]);
    for (u32 who : due_now_) visit(who);
    due_now_.clear();
  }

 private:
  static constexpr u64 ring = 1024;

  void add_later(u64 at, u32 who) {
    if (at - now_ >= ring) return add_far(at, who);
    lists_[at % ring].push_back(who);
    used_[at % ring / 64] |= u64{1} << at % 64;
  }
  void add_far(u64 at, u32 who) {
    far_.push_back({at, who});
    std::push_heap(far_.begin(), far_.end(), std::greater<>{});
  }
  u64 next_near() const {
    const u64 first = now_ % ring / 64;
    u64 word = used_[first] & (~u64{0} << now_ % 64);
    for (u64 k = 0; k <= ring / 64; ++k) {
      const u64 at = (first + k) % (ring / 64);
      if (k == ring / 64) word = used_[first] & ~(~u64{0} << now_ % 64);
      else if (k) word = used_[at];
      if (word)
        return now_ + (at * 64 + static_cast<u64>(std::countr_zero(word)) + ring - now_ % ring) % ring;
    }
    return never;
  }

  u64 now_ = 0;
  u64 used_[ring / 64] = {};
  support::flat_vector<u32> lists_[ring];
  support::flat_vector<u32> soon_;     // actors due at now_ + 1, with room for all
  support::flat_vector<u32> due_;      // the same list of the previous cycle: due now
  support::flat_vector<u32> due_now_;  // actors due now, taken from the ring
  std::vector<std::pair<u64, u32>> far_;
};

/// A calendar_queue of numbered actors in which each is due once, at the earliest time for which it was
/// noted.
class event_queue {
 public:
  static constexpr u64 never = calendar_queue::never;

  /// Actors have numbers below n.
  void open(std::size_t n) {
    due_ = support::flat_vector<u64>(n);
    for (u64& d : due_) d = never;
    calendar_.open(n);
  }
  [[gnu::always_inline]] void note(u32 who, u64 at) {
    if (at >= due_[who]) return;
    due_[who] = at;
    calendar_.add(at, who);
  }
  bool advance() { return calendar_.advance(); }
  u64 now() const { return calendar_.now(); }
  void set_now(u64 at) { calendar_.set_now(at); }

  /// Calls visit(who) for each actor that is due now.
  template <class Visit>
  void take(Visit visit) {
    calendar_.take([&](u32 who) {
      if (due_[who] != now()) return;  // it was noted for an earlier time afterwards
      due_[who] = never;
      visit(who);
    });
  }

 private:
  calendar_queue calendar_;
  support::flat_vector<u64> due_;
};

}  // namespace wsl::engines
