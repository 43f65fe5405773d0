// SPDX-License-Identifier: MIT
// What a PE still waits for when nothing moves any more: its sends, its operations, its blocked tasks, and
// the wavelets that nobody takes. Every engine reports these in the same words; diagnose/deadlock.hpp
// explains them.
#pragma once
#include "diagnose/wait.hpp"
#include "pe_core.hpp"
#include "processor.hpp"

namespace wsl::engines {

/// What an operation of a quiet PE waits for; `starved(color)` says whether a read of the color has nothing
/// to take. One without an end waits for input only where the main thread stands behind it.
template <class Starved>
void operation_waits(waits& open, const pe_state& s, const transfer& t, bool main_thread_wanted,
                     Starved starved) {
  const u64 left = t.endless() ? 1 : t.length - t.done;
  const bool in_need = !t.endless() || (t.resumes && main_thread_wanted);
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
  else if (fed) note(wait::reason::output, t.output);
}

/// What a quiet PE's sends and operations wait for.
template <class Starved>
void operation_waits(waits& open, const processor& p, const pe_state& s, Starved starved) {
  const bool main_thread_wanted = !p.calls.empty() || (s.active & ~s.blocked);
  if (!p.outbox.empty())
    open.push_back({wait::reason::output,
                    {s.x, s.y},
                    p.outbox.begin()->color,
                    s.image->source->name,
                    "send",
                    p.outbox.size()});
  for (const transfer& t : p.microthreads)
    // else its task waits for room to go on
    if (!t.complete()) operation_waits(open, s, t, main_thread_wanted, starved);
}

/// The local tasks of a quiet PE that are activated but blocked.
inline void held_tasks(waits& open, const pe_state& s) {
  for (u32 held = s.active & s.blocked; held; held &= held - 1)
    open.push_back({wait::reason::held,
                    {s.x, s.y},
                    -1,
                    s.image->source->name,
                    s.image->local[std::countr_zero(held)]->name,
                    1});
}

/// `n` wavelets of a color, beginning with this one, that lie before a PE and that no task has taken.
inline void unread_waits(waits& open, const pe_state& s, const wavelet& first, u64 n) {
  const binding* task = bound_to(*s.image, first);
  open.push_back(
      {wait::reason::unread, {s.x, s.y}, first.color, s.image->source->name, task ? task->name : "", n});
}

}  // namespace wsl::engines
