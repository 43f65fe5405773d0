// SPDX-License-Identifier: MIT
// The pace of a PE in the timed engine that has operations in flight and no task: it is visited once for
// several cycles. This is exact. A word that leaves the router takes a ramp's latency to the PE, so what
// comes in the next cycles is known; what the PE sends has no effect before a ramp's latency has passed; and
// what it takes has none as long as there is room for more words. So a visit simulates the cycles that the PE
// is late, at most a ramp's latency, and as many that it can look ahead.
#pragma once
#include <bit>

#include "moves.hpp"

namespace wsl::engines {

class timed_pace {
 public:
  timed_pace(mesh& m, timed_moves& moves, const machine& target)
      : mesh_(m), moves_(moves), latency_(static_cast<u64>(target.ramp_latency)) {}

  /// Cycles that a visit may look ahead, and that a PE may be late.
  u64 latency() const { return latency_; }

  /// Whether no task of the PE is running or can begin: then it does nothing but move words.
  static bool only_moves(const timed_processor& p, const pe_state& s) {
    return p.in_flight && !p.rests && !p.resumes && !p.in_task() && p.outbox.empty() && p.calls.empty() &&
           (s.active & ~s.blocked) == 0 && !s.image->reacts && !s.image->tears;
  }
  /// Whether each of its operations waits for words and for a place only.
  static bool is_plain(const timed_processor& p) { return p.special == 0; }
  /// Whether such a PE may be late: no queue that words come from is about to be full.
  bool may_be_late(const timed_processor& p) const {
    bool may = true;
    each_gate(p, [&](const flight_gate& g) {
      for (u32 in : g.in)
        if (in != flight_gate::none && mesh_.through[in].size() + 2 > mesh_.through[in].places()) may = false;
    });
    return may;
  }
  void set(timed_processor& p, bool late) {
    if (p.paced == late) return;
    p.paced = late;
    if (p.rests) return;  // then others wake it
    each_gate(p, [&](const flight_gate& g) {
      wake_by(g, late ? pipe::wake_policy::relaying : pipe::wake_policy::on_first);
    });
  }
  /// The k-th operation of such a PE is complete.
  void land(const timed_processor& p, u32 k) {
    if (p.paced) wake_by(p.gates[k], pipe::wake_policy::on_first);
  }

  /// Moves words from cycle `at` on, before `end`, until an operation is complete. In cycles after `now` it
  /// stops where it depends on room that may come meanwhile. Returns the next time at which something can
  /// happen. `complete(k)` is called for an operation that is complete.
  template <class Complete>
  u64 move(timed_processor& p, u64 at, u64 now, u64 end, Complete complete) {
    u64 can_move[64], ready = 0, full = 0, later = never;
    const auto look_at = [&](u32 k) {
      const u64 from = moves_from(p.gates[k]), bit = u64{1} << k;
      can_move[k] = from;
      ready = from <= at ? ready | bit : ready & ~bit;
      full = from == never && p.gates[k].output >= 0 ? full | bit : full & ~bit;
      if (from > at) later = std::min(later, from);
    };
    each(p.in_flight, look_at);
    for (;;) {
      if (later <= at) {
        later = never;
        each(p.in_flight & ~ready, [&](u32 k) {
          if (can_move[k] <= at) ready |= u64{1} << k;
          else later = std::min(later, can_move[k]);
        });
      }
      const u64 level = first_level(p, ready);
      if (at > now && (full & (level ? from_level(p, level) : ~u64{0}))) {
        p.become(timed_processor::state::idle, at);
        break;
      }
      if (!level) {
        p.become(is_starved(p, at) ? timed_processor::state::starved : timed_processor::state::held_up, at);
        if (later >= end) {
          at = later;
          break;
        }
        p.settle(later);
        at = later;
        continue;
      }
      const u32 k = next_of(p, level);
      flight& f = *p.flights[k];
      p.turn = static_cast<u8>(k + 2);
      p.become(timed_processor::state::idle, at);
      moves_.move_plainly(p, f, p.gates[k], at);
      at = p.kept_until;
      if (f.op.each_time >= 0 || f.op.complete()) {
        complete(k);
        break;
      }
      look_at(k);
      if (at >= end) break;
    }
    moves_.end = std::max(moves_.end, p.kept_until);
    each(full, [&](u32 k) { mesh_.through.room_at(mesh_.through[p.gates[k].out]); });
    return at;
  }

 private:
  static constexpr u64 never = event_queue::never;

  template <class Use>
  static void each(u64 which, Use use) {
    for (; which; which &= which - 1) use(static_cast<u32>(std::countr_zero(which)));
  }
  template <class Use>
  static void each_gate(const timed_processor& p, Use use) {
    each(p.in_flight, [&](u32 k) { use(p.gates[k]); });
  }
  void wake_by(const flight_gate& g, pipe::wake_policy how) {
    for (u32 in : g.in)
      if (in != flight_gate::none) mesh_.through[in].wakes = how;
  }
  // The time from which an operation can move, as far as it is known.
  u64 moves_from(const flight_gate& g) const {
    u64 at = 0;
    for (u32 k : g.in)
      if (k != flight_gate::none) at = std::max(at, word_at(mesh_.through[k]));
    return g.output < 0 ? at : std::max(at, mesh_.through[g.out].room);
  }
  // Whether an operation waits for a word.
  bool is_starved(const timed_processor& p, u64 at) const {
    bool some = false;
    each_gate(p, [&](const flight_gate& g) {
      for (u32 k : g.in)
        if (k != flight_gate::none) some = some || word_at(mesh_.through[k]) > at;
    });
    return some;
  }
  // Operations take data only.
  u64 word_at(const pipe& in) const {
    return in.commands && !in.empty() && mesh_.through.first_is_control(in) ? never : in.ready;
  }
  // Those that can move and have the highest priority among them.
  static u64 first_level(const timed_processor& p, u64 ready) {
    for (const priority level : {priority::high, priority::medium, priority::low})
      if (const u64 some = ready & p.at_level[static_cast<int>(level)]) return some;
    return 0;
  }
  static u64 from_level(const timed_processor& p, u64 some) {
    u64 all = 0;
    for (const priority level : {priority::high, priority::medium, priority::low}) {
      all |= p.at_level[static_cast<int>(level)];
      if (some & p.at_level[static_cast<int>(level)]) return all;
    }
    return all;
  }
  static u32 next_of(const timed_processor& p, u64 among) {
    const u64 later = p.turn ? among & (~u64{0} << (p.turn - 1)) : among;
    return static_cast<u32>(std::countr_zero(later ? later : among));
  }

  mesh& mesh_;
  timed_moves& moves_;
  u64 latency_;
};

}  // namespace wsl::engines
