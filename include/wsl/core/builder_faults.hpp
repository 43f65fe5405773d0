// SPDX-License-Identifier: MIT
// Faults in a single call of the layout builder, one function each: its name states the mistake, its text the
// remedy. At run time the function throws. In a constant expression it ends at `fail`, which is not
// constexpr, and the compiler prints the user's line, the name, the arguments and the line with the text. The
// functions are templates because a compiler rejects a constexpr function that never returns only where it is
// no template.
#pragma once
#include "../support/text.hpp"
#include "fault.hpp"

namespace wsl::faults {

[[noreturn]] inline void fail(const char* sentence, std::initializer_list<support::piece> values) {
  throw fault("wsl: " + support::filled(sentence, values));
}

[[noreturn]] constexpr void a_color_id_must_be_below_the_number_of_colors_of_the_machine(auto id,
                                                                                         auto colors) {
  fail("there is no color {}: the colors of this machine are 0 to {}", {id, colors - 1});
}
[[noreturn]] constexpr void a_program_has_at_most_16_symbolic_colors(auto k) {
  fail("the symbolic colors of a program are symbolic<f32>(0) to symbolic<f32>(15), not {}", {k});
}
[[noreturn]] constexpr void only_symbolic_colors_are_given_colors(auto id) {
  fail("color {} is one of the fabric already: only symbolic colors, symbolic<f32>(0), are given others",
       {id});
}
[[noreturn]] constexpr void a_symbolic_color_is_given_a_color_of_the_fabric(auto id) {
  fail("a symbolic color is given a color of the fabric, color<f32>{0} to color<f32>{47}, not {}", {id});
}
[[noreturn]] constexpr void the_symbolic_color_is_given_no_color(auto name, auto k) {
  fail("program {} gets no color for symbolic color {}: say given_colors(symbol, color), or use a floor plan",
       {name, k});
}
[[noreturn]] constexpr void no_program_there_gives_the_color_one_of_the_fabric(auto x, auto y, auto k) {
  fail("no program on PE({}, {}) has a color for symbolic color {}: ask where it is placed", {x, y, k});
}
[[noreturn]] constexpr void the_area_leaves_the_grid(auto x0, auto x1, auto y0, auto y1, auto width,
                                                     auto height) {
  fail("columns {} to {}, rows {} to {} leave the grid of {} x {} PEs: count from `edge`, as in edge - 1",
       {x0, x1 - 1, y0, y1 - 1, width, height});
}
[[noreturn]] constexpr void an_area_strides_by_1_to_16(auto sx, auto sy) {
  fail("an area strides by 1 to 16 columns and rows, not by {} and {}", {sx, sy});
}
[[noreturn]] constexpr void a_path_needs_a_port_to_come_from_and_a_port_to_go_to(auto color) {
  fail("the path of color {} needs at least one port on each side of >>, as in ramp >> east", {color});
}
[[noreturn]] constexpr void a_stream_enters_or_leaves_through_a_side_of_the_grid(auto color) {
  fail("bind the host stream of color {} to PEs at an edge of the grid, on the side where the grid ends",
       {color});
}
[[noreturn]] constexpr void the_grid_is_larger_than_the_machine(auto machine, auto width, auto height,
                                                                auto max_width, auto max_height) {
  fail("a grid of {} x {} PEs does not fit {}: make it at most {} x {}",
       {width, height, machine, max_width, max_height});
}
[[noreturn]] constexpr void a_grid_has_at_least_one_row_and_one_column(auto width, auto height) {
  fail("a grid of {} x {} PEs has no PE: give it a width and a height of at least 1", {width, height});
}
[[noreturn]] constexpr void the_layout_has_more_paths_than_it_can_hold(auto capacity) {
  fail("a layout holds at most {} paths: join equal ones with strided areas", {capacity});
}
[[noreturn]] constexpr void the_layout_has_more_placements_than_it_can_hold(auto capacity) {
  fail("a layout holds at most {} placements: join equal ones with strided areas", {capacity});
}
[[noreturn]] constexpr void the_layout_has_more_streams_than_it_can_hold(auto capacity) {
  fail("a layout holds at most {} host streams: bind one stream to several PEs of an edge", {capacity});
}
[[noreturn]] constexpr void the_layout_has_more_modules_than_it_can_hold(auto capacity) {
  fail("a layout holds at most {} modules that claim colors: let one module serve a larger region",
       {capacity});
}
[[noreturn]] constexpr void a_control_wavelet_carries_at_most_8_commands(auto count) {
  fail("a control wavelet carries at most 8 commands, not {}: send the others with a second one", {count});
}
[[noreturn]] constexpr void a_control_wavelet_with_data_carries_at_most_3_commands(auto count) {
  fail("a control wavelet with data carries at most 3 commands, not {}: send the others without data",
       {count});
}
[[noreturn]] constexpr void the_ids_of_control_tasks_are_0_to_63(auto id) {
  fail("there is no control task {}: the ids of control tasks are 0 to 63", {id});
}
[[noreturn]] constexpr void the_machine_does_not_swap_colors(auto machine) {
  fail("{} does not swap colors: give each parity paths of its own, with areas that stride by 2", {machine});
}
[[noreturn]] constexpr void the_machine_has_no_injection_priority(auto machine) {
  fail("in {} a processor's wavelets and passing ones take turns: leave out injects_first or injects_last",
       {machine});
}
[[noreturn]] constexpr void what_is_injected_comes_from_the_ramp(auto color) {
  fail("the path of color {} has an injection priority and no input from the ramp: give it to one that has",
       {color});
}
[[noreturn]] constexpr void a_layout_swaps_colors_or_changes_routes(auto color) {
  fail("color {} is swapped: such a layout has no switches, filters, phases or closed paths", {color});
}

}  // namespace wsl::faults
