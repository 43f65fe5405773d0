// SPDX-License-Identifier: MIT
// The opt-in rule of the first word. A color can start if a host stream feeds it, or if a program that sends
// it can begin without it: because the host launches the program, because the program has an active task, or
// because one of the colors that it takes can start. Colors that only wait for each other never start. The
// rule says that a start is possible, not that the program makes it.
#pragma once
#include "budget.hpp"

namespace wsl::rules {

constexpr bool begins_itself(const program& p) {
  for (const binding& b : p)
    if (b.what == role::launch || (b.what == role::local && b.start == initially::active)) return true;
  return false;
}

/// A send of a placement, which waits for all colors of `after` and, unless its program begins by itself, for
/// one of the colors that the program takes.
struct conditional_send {
  int color = 0, placement = 0;
  u64 after = 0, takes = 0;
  bool begins = false;
  constexpr bool ready(u64 started) const {
    return (after & ~started) == 0 && (begins || (takes & started) != 0);
  }
};

constexpr void sends_of(const layout& l, scratch<conditional_send>& found) {
  for (int k = 0; k < l.placements().size(); ++k) {
    const placement& p = l.placements()[k];
    const usage u = usage_of(l, p);
    for (const binding& b : *p.what)
      if (b.what == role::send && (u.sent & color_bit(p.colors(b.id))))
        found.push_back({p.colors(b.id), k, p.colors(b.after), u.delivered, begins_itself(*p.what)});
  }
}

constexpr u64 streamed_colors(const layout& l) {
  u64 mask = 0;
  for (const stream_record& s : l.streams())
    if (s.inbound) mask |= color_bit(s.color);
  return mask;
}

constexpr u64 startable(const layout& l, const scratch<conditional_send>& sends) {
  u64 started = streamed_colors(l), before = ~started;
  while (started != before) {
    before = started;
    for (int i = 0; i < sends.size(); ++i)
      if (sends[i].ready(started)) started |= color_bit(sends[i].color);
  }
  return started;
}

/// The colors that cannot start and that `color` waits for, directly or through others; usually itself among
/// them.
constexpr u64 waits_for(const scratch<conditional_send>& sends, u64 started, int color) {
  u64 reached = color_bit(color), waiting = 0, before = 1;
  while (before != waiting) {
    before = waiting;
    for (int i = 0; i < sends.size(); ++i)
      if (reached & color_bit(sends[i].color))
        waiting |= (sends[i].after | (sends[i].begins ? 0 : sends[i].takes)) & ~started;
    reached |= waiting;
  }
  return waiting;
}

/// A color that is sent somewhere can start. This rule looks at the whole layout.
constexpr diagnostic colors_can_start(const layout& l) {
  scratch<conditional_send> sends;
  sends_of(l, sends);
  const u64 started = startable(l, sends);
  for (int i = 0; i < sends.size(); ++i) {
    if (started & color_bit(sends[i].color)) continue;
    const placement& p = l.placements()[sends[i].placement];
    return {.kind = fault_kind::nobody_can_start_the_color,
            .color = sends[i].color,
            .at = p.where.nth(0),
            .colors = waits_for(sends, started, sends[i].color),
            .name = p.what->name};
  }
  return {};
}

}  // namespace wsl::rules
