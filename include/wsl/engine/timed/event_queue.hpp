// SPDX-License-Identifier: MIT
// The event queue of the timed engine: the times at which actors (a PE, an arbiter, a host stream) are to be
// visited. The engine advances from one event to the next, so idle parts and idle cycles cost nothing. It is
// a calendar queue. The events of the next cycle, which are most of them, have a list of their own; near
// times have a ring of lists, one for each cycle, with a bit for each list that is not empty; the few far
// ones are in a heap. Where every cycle has many events, they are kept by router instead, for a window of
// cycles (windows.hpp).
#pragma once
#include <algorithm>
#include <atomic>
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

  /// The same without the list of the next cycle, for actors that may be noted several times for one time.
  void add_to_ring(u64 at, u32 who) { add_later(at, who); }

  /// The next noted time; never if there is none.
  u64 next() const {
    return soon_.empty() ? std::min(next_near(), far_.empty() ? never : far_.front().first) : now_ + 1;
  }
  /// Advances to the next noted time; false if there is none.
  bool advance() {
    const u64 next = this->next();
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
    // A thousand lists for all PEs of a wafer would be gigabytes, so only short ones keep their memory.
    if (due_now_.capacity() > most_kept) due_now_ = {};
  }
  u64 bytes() const {
    u64 n = soon_.capacity() + due_.capacity() + due_now_.capacity();
    for (const support::flat_vector<u32>& l : lists_) n += l.capacity();
    return n * sizeof(u32) + far_.capacity() * sizeof(far_[0]);
  }

 private:
  static constexpr u64 ring = 1024;
  static constexpr std::size_t most_kept = 1024;

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

/// The time for which an actor is noted, and where it is.
struct actor_event {
  u64 at = calendar_queue::never;
  u32 router = 0;
  u32 block = 0;  ///< of routers
};

/// The events that the threads of an engine share: the time at which each actor is due, the earliest for
/// which it was noted; and in a window of cycles, by router, the first of its cycles in which an actor there
/// is due.
struct event_table {
  static constexpr u8 none = 255;
  support::flat_vector<actor_event> actors;
  support::flat_vector<u8> next;  ///< by router, counted from the begin of the window; or none
  support::flat_vector<u8> busy;  ///< by block: whether actors in it are or were due in this window

  // Threads may share a block at the border of their parts; each needs only the marks that it has made.
  bool is_busy(u32 block) { return std::atomic_ref(busy[block]).load(std::memory_order_relaxed); }
  void mark_busy(u32 block) { std::atomic_ref(busy[block]).store(1, std::memory_order_relaxed); }
};

/// One thread's view of the events.
class event_queue {
 public:
  static constexpr u64 never = calendar_queue::never;

  explicit event_queue(event_table& all) : all_(all) {}
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;

  void open() { calendar_.open(all_.actors.size()); }
  u64 bytes() const { return calendar_.bytes(); }
  [[gnu::always_inline]] void note(u32 who, u64 at) {
    actor_event& e = all_.actors[who];
    if (at >= e.at) return;
    e.at = at;
    if (window_end_ == 0) [[likely]]
      calendar_.add(at, who);
    else note_in_window(e, who);
  }
  u64 now() const { return now_; }
  /// Skips to a time before which nothing is noted.
  void set_now(u64 at) { calendar_.set_now(at), now_ = at; }
  /// The number of visits so far.
  u64 visits = 0;

  // ---- from event to event ----------------------------------------------------------------------

  bool advance() {
    if (!calendar_.advance()) return false;
    now_ = calendar_.now();
    return true;
  }
  /// Calls visit(who) for each actor that is due now.
  template <class Visit>
  void take(Visit visit) {
    calendar_.take([&](u32 who) {
      if (!is_due(who)) return;
      ++visits;
      visit(who);
    });
  }
  /// The time of the next event outside of a window; it may be one that was noted for an earlier time since.
  u64 next() const { return calendar_.next(); }
  /// Moves all events into another queue.
  void move_to(event_queue& other) {
    while (calendar_.advance())
      calendar_.take([&](u32 who) {
        if (all_.actors[who].at == calendar_.now()) other.calendar_.add_to_ring(calendar_.now(), who);
      });
  }

  // ---- in windows -------------------------------------------------------------------------------

  bool in_window() const { return window_end_ != 0; }
  /// Begins a window: its events are taken from this calendar; later ones will be noted there.
  void begin_window(u64 begin, u64 end) {
    window_ = begin, window_end_ = end;
    while (calendar_.next() < end) {
      calendar_.advance();
      calendar_.take([&](u32 who) {
        if (const actor_event& e = all_.actors[who]; e.at == calendar_.now()) note_in_window(e, who);
      });
    }
    calendar_.set_now(end - 1);
  }
  void end_windows() { window_end_ = 0; }
  /// Sets the time to a cycle of the window, counted from its begin.
  void set_cycle(u32 cycle) { now_ = window_ + cycle; }
  /// Calls visit(who) for the actor if it is due now; notes it at its router if it is due in a later cycle of
  /// the window.
  template <class Visit>
  [[gnu::always_inline]] void look(u32 who, Visit visit) {
    actor_event& e = all_.actors[who];
    if (e.at == now_) {
      e.at = never;
      ++visits;
      visit(who);
    } else if (e.at < window_end_) {
      note_at_router(e);
    }
  }

 private:
  bool is_due(u32 who) {
    actor_event& e = all_.actors[who];
    if (e.at != now_) return false;  // it was noted for an earlier time afterwards
    e.at = never;
    return true;
  }
  void note_in_window(const actor_event& e, u32 who) {
    if (e.at >= window_end_) return calendar_.add_to_ring(e.at, who);
    note_at_router(e);
    all_.mark_busy(e.block);
  }
  void note_at_router(const actor_event& e) {
    u8& next = all_.next[e.router];
    next = std::min(next, static_cast<u8>(e.at - window_));
  }

  event_table& all_;
  calendar_queue calendar_;
  u64 now_ = 0;
  u64 window_ = 0, window_end_ = 0;  // the end is 0 outside of windows
};

}  // namespace wsl::engines
