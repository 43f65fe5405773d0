// SPDX-License-Identifier: MIT
// A route that changes: a router keeps up to four positions for each color, and control wavelets that pass it
// choose among them.
//   .path(red, at(1, 1), ramp >> west, switches{.pos1 = {.to = north}, .pos2 = {.to = east}, .ring = true})
// Position 0 is the path's route. A position lists changes only: a side that it leaves out stays as in the
// position before. A wavelet from a port that the current position does not take waits in the router. See
// examples/16_switches.cpp.
#pragma once
#include "change_rules.hpp"

namespace wsl {

namespace detail {

constexpr bool given(const route& r) { return !r.from.empty() || !r.to.empty(); }

/// The route of a position that changes the one before.
constexpr route changed(const route& before, const route& change) {
  return {change.from.empty() ? before.from : change.from, change.to.empty() ? before.to : change.to};
}

}  // namespace detail

struct switches {
  route pos1{}, pos2{}, pos3{};
  int start = 0;  ///< the position in which the fabric starts
  /// an advance leads from the last position to position 0; else it stays in the last one
  bool ring = false;
  wsl::pop pop = wsl::pop::never;
  friend constexpr bool operator==(const switches&, const switches&) = default;

  constexpr void give_to(layout& l, path_record& p) const {
    const route changes[] = {p.how, pos1, pos2, pos3};
    detail::switch_record s{.path = static_cast<short>(l.paths().size() - 1), .ring = ring, .pop = pop};
    for (int i = 0; i < detail::max_positions; ++i) {
      if (!detail::given(changes[i])) continue;
      if (i > s.count) faults::a_switch_position_needs_the_one_before(p.color, i);
      const route now = i == 0 ? p.how : detail::changed(s.position(i - 1), changes[i]);
      s.from[i] = now.from.bits, s.to[i] = now.to.bits, s.count = static_cast<u8>(i + 1);
    }
    if (start < 0 || start >= s.count)
      faults::a_switch_starts_in_one_of_its_positions(p.color, start, s.count);
    if (l.switches().full()) faults::the_layout_has_more_switches_than_it_can_hold(layout::max_switches);
    s.start = static_cast<u8>(start);
    l.add(s, rules::of_changes);
  }
};

/// A path of phase n takes the place of the color's path on its PEs when their program, after a teardown,
/// calls `me.reopen(color, phase{n})`. All paths without a phase are phase 0, in which the fabric starts.
struct phase {
  int number = 0;

  constexpr void give_to(layout& l, path_record& p) const {
    if (number < 0 || number >= max_phases) faults::a_color_has_the_phases_0_to_15(p.color, number);
    p.phase = static_cast<u8>(number);
    if (number > 0) l.add_phase(number, rules::of_changes);
  }
  static constexpr int max_phases = 16;
};

namespace detail {

/// Says that a path lets no wavelet in until the PE's program reopens the color, as after a teardown.
struct starts_closed_t {
  constexpr void give_to(layout& l, path_record& p) const {
    p.closed = true;
    l.add_phase(0, rules::of_changes);
  }
};

}  // namespace detail
inline constexpr detail::starts_closed_t starts_closed{};

}  // namespace wsl
