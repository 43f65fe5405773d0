// SPDX-License-Identifier: MIT
// Mistakes in a single option of a path, as core/misuse.hpp has those of the builder's other calls.
#pragma once
#include "../../core/misuse.hpp"

namespace wsl::misuse {

[[noreturn]] inline void the_layout_has_more_switches_than_it_can_hold(int capacity) {
  throw fault("wsl: a layout holds at most " + std::to_string(capacity) +
              " paths with switches; join equal ones with strided areas");
}
[[noreturn]] inline void the_layout_has_more_filters_than_it_can_hold(int capacity) {
  throw fault("wsl: a layout holds at most " + std::to_string(capacity) +
              " paths with filters; join equal ones with strided areas");
}
[[noreturn]] inline void a_switch_position_needs_the_one_before(int color, int position) {
  throw fault("wsl: the switch of color " + std::to_string(color) + " has a position " +
              std::to_string(position) + " but no position " + std::to_string(position - 1));
}
[[noreturn]] inline void a_switch_starts_in_one_of_its_positions(int color, int start, int positions) {
  throw fault("wsl: the switch of color " + std::to_string(color) + " has positions 0 to " +
              std::to_string(positions - 1) + " and cannot start in position " + std::to_string(start));
}
[[noreturn]] inline void a_color_has_the_phases_0_to_15(int color, int phase) {
  throw fault("wsl: color " + std::to_string(color) + " has the phases 0 to 15 and no phase " +
              std::to_string(phase));
}
[[noreturn]] inline void a_filter_keeps_some_of_the_wavelets_it_counts(int color, int first, int last,
                                                                       int period) {
  throw fault("wsl: the filter of color " + std::to_string(color) + " cannot keep wavelets " +
              std::to_string(first) + " to " + std::to_string(last) + " of every " + std::to_string(period));
}

}  // namespace wsl::misuse
