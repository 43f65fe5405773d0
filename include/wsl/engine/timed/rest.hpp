// SPDX-License-Identifier: MIT
// Rest of a PE in the timed engine: a PE that only moves words is not visited in every cycle. It catches up
// later and accounts for every word at the time at which it moved. This is exact: the words that it takes
// affect no other actor as long as there is room for more, and the words that it sends affect none before a
// ramp's latency has passed.
#pragma once
#include <bit>

#include "moves.hpp"

namespace wsl::engines {

class timed_rest {
 public:
  timed_rest(mesh& m, timed_moves& moves, const machine& target)
      : mesh_(m), moves_(moves), ramp_latency_(static_cast<u64>(target.ramp_latency)) {}

  /// Whether a PE has only operations that are not near their end, one operation or several that only
  /// receive, and gets only data.
  bool may_rest(const timed_processor& p, const pe_state& s) const {
    if (p.in_flight == 0 || p.in_task() || p.resumes || !p.outbox.empty()) return false;
    if (has_several(p)) return may_rest_with_several(p, s);
    const flight& f = *p.flights[static_cast<std::size_t>(std::countr_zero(p.in_flight))];
    if (f.op.uses_fifo() || f.op.each_time >= 0 || f.sharing_queue) return false;
    const u64 left = f.op.length - f.op.done;
    for (int k = 0; k < 2; ++k) {
      if (f.op.input[k] < 0) continue;
      const pipe& in = mesh_.through[f.in[k]];
      if (s.image->data[f.op.input[k]] || left <= 4 * in.places() || in.places() == 0 ||
          !mesh_.through.all_data(in))
        return false;
      if (!is_steady(f) && in.size() + 1 >= in.places()) return false;
    }
    return f.op.output < 0 || left > 4 * mesh_.through[f.out].places();
  }

  /// Puts a PE to rest. Returns the time at which it must be visited if nothing wakes it before.
  u64 rest(timed_processor& p) {
    const flight& f = only_flight(p);
    p.rests = true;
    p.become(timed_processor::state::starved, std::max(p.since, p.kept_until));
    if (has_several(p)) return rest_with_several(p);
    if (is_steady(f)) {
      pipe& in = mesh_.through[f.in[0]];
      mesh_.through.read_steadily(in, p.since, f.width, f.hold, words_before_end(f), p.hears_one);
      return event_queue::never;
    }
    for (int k = 0; k < 2; ++k)
      if (f.op.input[k] >= 0)
        mesh_.through[f.in[k]].wakes =
            f.op.output < 0 ? pipe::wake_policy::nearly_full : pipe::wake_policy::relaying;
    if (f.op.output < 0) return event_queue::never;
    const u64 at = moves_at(p, f, fed_at(f));
    return at == event_queue::never ? at : at + ramp_latency_;
  }

  /// Moves the words that the PE would have moved before this cycle. Returns the time at which it must be
  /// visited next if it goes on resting.
  u64 wake_up(timed_processor& p, u64 now) {
    if (!p.rests) return event_queue::never;
    if (has_several(p)) return wake_with_several(p, now), event_queue::never;
    flight& f = only_flight(p);
    if (is_steady(f)) {
      pipe& in = mesh_.through[f.in[0]];
      steady_reader& r = mesh_.through.reader_of(in);
      // Words whose times are certain are moved now, even those that are taken later.
      move_first(p, f, r, in.wakes == pipe::wake_policy::certain ? r.size() : r.taken_before(now));
      if (p.hears_one && now != event_queue::never) {
        const u64 more = words_before_end(f);
        if (in.wakes >= pipe::wake_policy::steady && more > r.size()) return go_on(in, r, more - r.size());
        if (in.wakes == pipe::wake_policy::certain) in.wakes = pipe::wake_policy::steady;
        if (const std::size_t all = r.size() + in.size(); all > in.places())
          return r[all - in.places() - 1].taken + 1;
      }
      mesh_.through.stop_reading(in);
    }
    p.rests = false;
    for (int k = 0; k < 2; ++k)
      if (f.op.input[k] >= 0) mesh_.through[f.in[k]].wakes = pipe::wake_policy::on_first;
    for (;;) {
      const u64 fed = fed_at(f);
      wait_for_words(p, std::min(fed, now));
      const u64 at = moves_at(p, f, fed);
      p.now = fed > p.since ? timed_processor::state::starved : timed_processor::state::held_up;
      if (at >= now) return event_queue::never;
      p.spent.held_up += at - p.since;
      moves_.move(p, f, at);
      moved_until(p, p.kept_until);
    }
  }

 private:
  // Several operations that only receive: the ramp brings one word a cycle, whatever its color, so if each
  // word is taken in one cycle, none waits for another.
  bool may_rest_with_several(const timed_processor& p, const pe_state& s) const {
    if (std::popcount(p.in_flight) != p.hears) return false;
    for (u64 left = p.in_flight; left; left &= left - 1) {
      const flight& f = *p.flights[static_cast<std::size_t>(std::countr_zero(left))];
      if (!is_steady(f) || f.hold != 1 || f.op.uses_fifo() || f.op.each_time >= 0 || f.sharing_queue ||
          s.image->data[f.op.input[0]])
        return false;
      const pipe& in = mesh_.through[f.in[0]];
      if (in.places() == 0 || in.ready < std::max(p.since, p.kept_until) || !mesh_.through.all_data(in))
        return false;
      if (words_before_end(f) <= in.places()) return false;
    }
    return true;
  }
  u64 rest_with_several(timed_processor& p) {
    each_flight(p, [&](flight& f) {
      mesh_.through.read_steadily(mesh_.through[f.in[0]], p.since, f.width, f.hold, words_before_end(f),
                                  true);
    });
    return event_queue::never;
  }
  // Moves the words that have been sent to the PE so far. It goes on resting if they leave all operations
  // unfinished.
  void wake_with_several(timed_processor& p, u64 now) {
    take_in_order(p);
    bool goes_on = now != event_queue::never;
    each_flight(p, [&](flight& f) {
      goes_on =
          goes_on && words_before_end(f) > 0 && mesh_.through[f.in[0]].wakes == pipe::wake_policy::certain;
    });
    p.rests = goes_on;
    p.now = timed_processor::state::starved;
    each_flight(p, [&](flight& f) {
      pipe& in = mesh_.through[f.in[0]];
      if (goes_on) mesh_.through.reader_of(in).look_again(words_before_end(f));
      else mesh_.through.stop_reading(in);
    });
  }
  // Moves the words of all operations in the order of the cycles in which they are taken.
  void take_in_order(timed_processor& p) {
    struct line {
      flight* f;
      int microthread;
      const steady_reader* words;
      std::size_t at;
      u64 next() const { return at < words->size() ? (*words)[at].taken : event_queue::never; }
    };
    line lines[64];
    std::size_t n = 0;
    for (u64 left = p.in_flight; left; left &= left - 1) {
      const int k = std::countr_zero(left);
      flight& f = *p.flights[static_cast<std::size_t>(k)];
      lines[n++] = {&f, k, &mesh_.through.reader_of(mesh_.through[f.in[0]]), 0};
    }
    for (;;) {
      line* first = &lines[0];
      u64 others = event_queue::never;
      for (line* l = lines + 1; l < lines + n; ++l) {
        if (l->next() < first->next()) others = first->next(), first = l;
        else others = std::min(others, l->next());
      }
      const std::size_t from = first->at;
      while (first->next() < others) ++first->at;
      if (first->at == from) break;
      const u32* inputs[2] = {first->words->bits() + from, nullptr};
      first->f->move(inputs, nullptr, static_cast<u32>(first->at - from));
      const u64 taken = first->at - from, until = (*first->words)[first->at - 1].taken + 1;
      p.spent.starved += until - p.since - taken, p.spent.operations += taken;
      p.turn = static_cast<u8>(first->microthread + 2);
      p.since = p.kept_until = until;
    }
    moves_.end = std::max(moves_.end, p.kept_until);
    for (std::size_t k = 0; k < n; ++k) mesh_.through.taken(mesh_.through[lines[k].f->in[0]], lines[k].at);
  }
  template <class Use>
  static void each_flight(timed_processor& p, Use use) {
    for (u64 left = p.in_flight; left; left &= left - 1)
      use(*p.flights[static_cast<std::size_t>(std::countr_zero(left))]);
  }
  static flight& only_flight(timed_processor& p) {
    return *p.flights[static_cast<std::size_t>(std::countr_zero(p.in_flight))];
  }

  // Whether a PE with an operation has another. std::has_single_bit would count the bits, in a call where the
  // processor has no instruction for it.
  static bool has_several(const timed_processor& p) { return (p.in_flight & (p.in_flight - 1)) != 0; }
  static bool is_steady(const flight& f) {
    return f.op.input[0] >= 0 && f.op.input[1] < 0 && f.op.output < 0;
  }

  // The number of words that can come before the operation is near its end.
  u64 words_before_end(const flight& f) const {
    const u64 left = f.op.length - f.op.done, margin = 4 * mesh_.through[f.in[0]].places();
    return left > margin ? left - margin : 0;
  }
  static u64 go_on(pipe& in, steady_reader& r, u64 more) {
    in.wakes = pipe::wake_policy::certain;
    r.look_again(more);
    return event_queue::never;
  }

  void move_first(timed_processor& p, flight& f, const steady_reader& r, std::size_t n) {
    if (n == 0) return;
    const u32* inputs[2] = {r.bits(), nullptr};
    f.move(inputs, nullptr, static_cast<u32>(n));
    const u64 free_from = r[n - 1].taken + f.hold, operations = r.turns(n) * f.hold;
    p.spent.starved += free_from - p.since - operations, p.spent.operations += operations;
    moved_until(p, free_from);
    mesh_.through.taken(mesh_.through[f.in[0]], n);
  }
  void moved_until(timed_processor& p, u64 at) {
    p.turn = static_cast<u8>(std::countr_zero(p.in_flight) + 2);
    p.since = p.kept_until = at;
    moves_.end = std::max(moves_.end, at);
  }

  // The time from which all inputs have a word of data; `never` if that is not known.
  u64 fed_at(const flight& f) const {
    u64 at = 0;
    for (int k = 0; k < 2; ++k) {
      if (f.op.input[k] < 0) continue;
      const pipe& in = mesh_.through[f.in[k]];
      at = std::max(at, !in.empty() && mesh_.through.first_is_control(in) ? event_queue::never : in.ready);
    }
    return at;
  }
  u64 moves_at(const timed_processor& p, const flight& f, u64 fed) {
    const u64 at = std::max(p.since, fed);
    return f.op.output < 0 ? at : std::max(at, mesh_.through.room_at(mesh_.through[f.out]));
  }
  static void wait_for_words(timed_processor& p, u64 until) {
    if (until == event_queue::never || until <= p.since) return;
    p.spent.starved += until - p.since;
    p.since = until;
  }

  mesh& mesh_;
  timed_moves& moves_;
  u64 ramp_latency_;
};

}  // namespace wsl::engines
