// SPDX-License-Identifier: MIT
// The waits of a PE when nothing moves any more: its sends, its operations, its blocked tasks, and the
// wavelets that no task or operation takes. Every engine reports them in the same words;
// diagnose/deadlock.hpp explains them.
#pragma once
#include "diagnose/wait.hpp"
#include "pe_core.hpp"
#include "processor.hpp"

namespace wsl::engines {

/// Adds the waits of one operation of a quiet PE; `starved(color)` returns whether a read of the color finds
/// no word. An operation of unlimited length, or one that serves and that nothing has come for, counts as
/// waiting for input only if the main thread waits behind it.
template <class Starved>
void operation_waits(waits& open, const pe_state& s, const operation_in_flight& t, bool main_thread_wanted,
                     Starved starved) {
  const u64 left = t.endless() ? 1 : t.length - t.done;
  bool has_words = false;  // for one of two fabric operands
  for (int color : t.input) has_words |= color >= 0 && !starved(color);
  const bool may_idle = t.endless() || (t.may_idle() && !has_words),
             in_need = !may_idle || (t.resumes && main_thread_wanted);
  const auto note = [&](wait::reason why, int color) {
    open.push_back({why, {s.x, s.y}, color, s.image->source->name, t.name, left});
  };
  bool fed = true;
  for (int color : t.input) {
    if (color < 0 || !starved(color)) continue;
    fed = false;
    if (in_need) note(wait::reason::input, color);
  }
  if (t.pops && t.pops->size == 0) {
    fed = false;
    if (in_need) note(t.pops->capacity ? wait::reason::pop : wait::reason::ended, -1);
  }
  if (fed && t.pushes && t.pushes->room() == 0) note(wait::reason::push, -1);
  else if (fed && t.output >= 0) note(wait::reason::output, t.output);
}

/// Says of the wait of `t` that no operation in flight signals the event for which it waits, if that is so;
/// each_operation(use) calls use with each operation of the PE.
template <class Operations>
void event_waits(waits& open, const operation_in_flight& t, Operations each_operation) {
  if (open.empty() || open.back().why != wait::reason::ended || !t.pops) return;
  bool signalled = false;
  each_operation(
      [&](const operation_in_flight& other) { signalled |= other.signals == t.pops && !other.complete(); });
  if (!signalled) open.back().why = wait::reason::unsignalled;
}

/// The words that tasks of a quiet PE have sent and that wait for room. They leave in order, so only those of
/// the first color wait for room; the others wait behind them.
inline void outbox_waits(waits& open, const pe_state& s, const support::flat_queue<wavelet>& outbox) {
  if (outbox.empty()) return;
  u64 counts[max_colors] = {};
  for (const wavelet& w : outbox) ++counts[w.color];
  const int first = outbox.begin()->color;
  const auto note = [&](wait::reason why, int color) {
    open.push_back({why, {s.x, s.y}, color, s.image->source->name, "send", counts[color]});
  };
  note(wait::reason::output, first);
  for (int color = 0; color < max_colors; ++color)
    if (counts[color] && color != first) note(wait::reason::behind, color);
}

/// Adds n host calls that a quiet PE has not begun.
inline void call_waits(waits& open, const pe_state& s, const host_call& first, u64 n) {
  open.push_back({wait::reason::call, {s.x, s.y}, -1, s.image->source->name, first.entry->name, n});
}
inline void call_waits(waits& open, const pe_state& s, const support::flat_queue<host_call>& calls) {
  if (!calls.empty()) call_waits(open, s, *calls.begin(), calls.size());
}

/// Adds the waits of a quiet PE's sends and operations.
template <class Starved>
void operation_waits(waits& open, const processor& p, const pe_state& s, Starved starved) {
  const bool main_thread_wanted = !p.calls.empty() || (s.active & ~s.blocked);
  outbox_waits(open, s, p.outbox);
  for (const transfer& t : p.microthreads) {
    if (t.complete()) continue;  // its task waits for room before it can continue
    operation_waits(open, s, t, main_thread_wanted, starved);
    event_waits(open, t, [&](auto signals) {
      for (const transfer& other : p.microthreads) signals(other);
    });
  }
  call_waits(open, s, p.calls);
}

/// The local task of which a PE has lost an activation; for the report of a deadlock.
inline void lost_activations(waits& open, const pe_state& s) {
  if (s.lost_activation == 0) return;
  const binding* task = s.image->local[s.lost_activation - 1];
  open.push_back({wait::reason::lost, {s.x, s.y}, -1, s.image->source->name, task->name, 1});
}

/// The local tasks of a quiet PE for which some arrivals have come, but not all.
inline void partial_joins(waits& open, const pe_state& s) {
  for (u32 left = s.image->joined_locals; left; left &= left - 1) {
    const binding& task = *s.image->local[std::countr_zero(left)];
    const join_state& j = s.join_of(left & (~left + 1));
    if (j.came == 0 || (s.active & s.blocked & left & (~left + 1))) continue;
    open.push_back({.why = wait::reason::join,
                    .at = {s.x, s.y},
                    .program = s.image->source->name,
                    .what = task.name,
                    .count = j.came,
                    .position = task.arrivals});
  }
}

/// The local tasks of a quiet PE that are activated but blocked, or only partly activated.
inline void held_tasks(waits& open, const pe_state& s) {
  partial_joins(open, s);
  for (u32 held = s.active & s.blocked; held; held &= held - 1)
    open.push_back({wait::reason::held,
                    {s.x, s.y},
                    -1,
                    s.image->source->name,
                    s.image->local[std::countr_zero(held)]->name,
                    1});
}

/// `n` wavelets of a color, beginning with this one, that lie before a PE and that no task has taken;
/// `on_the_way`: some of them may still be on links.
inline void unread_waits(waits& open, const pe_state& s, const wavelet& first, u64 n,
                         bool on_the_way = false) {
  const binding* task = bound_to(*s.image, first);
  open.push_back({.why = wait::reason::unread,
                  .at = {s.x, s.y},
                  .color = first.color,
                  .program = s.image->source->name,
                  .what = task ? task->name : "",
                  .count = n,
                  .on_the_way = on_the_way});
}

}  // namespace wsl::engines
