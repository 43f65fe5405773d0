// SPDX-License-Identifier: MIT
// Faults in a single option of a path, written as those of the builder's other calls in
// core/builder_faults.hpp.
#pragma once
#include "../../core/builder_faults.hpp"

namespace wsl::faults {

[[noreturn]] constexpr void the_layout_has_more_switches_than_it_can_hold(auto capacity) {
  fail("a layout holds at most {} paths with switches: join equal ones with strided areas", {capacity});
}
[[noreturn]] constexpr void the_layout_has_more_filters_than_it_can_hold(auto capacity) {
  fail("a layout holds at most {} paths with filters: join equal ones with strided areas", {capacity});
}
[[noreturn]] constexpr void a_switch_position_needs_the_one_before(auto color, auto position) {
  fail("the switch of color {} has a position {} but no position {}: number positions without gaps",
       {color, position, position - 1});
}
[[noreturn]] constexpr void a_switch_starts_in_one_of_its_positions(auto color, auto start, auto positions) {
  fail("the switch of color {} cannot start in position {}: it has positions 0 to {}",
       {color, start, positions - 1});
}
[[noreturn]] constexpr void a_color_has_the_phases_0_to_15(auto color, auto phase) {
  fail("color {} has no phase {}: phases are numbered 0 to 15", {color, phase});
}
[[noreturn]] constexpr void a_filter_keeps_some_of_the_wavelets_it_counts(auto color, auto first, auto last,
                                                                          auto period) {
  fail("color {}: a filter cannot keep wavelets {} to {} of every {}: mind first <= last < period",
       {color, first, last, period});
}

}  // namespace wsl::faults
