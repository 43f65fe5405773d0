// SPDX-License-Identifier: MIT
// Mistakes in a single call to the layout builder. Each is a function that is not constexpr and whose name is
// the sentence: when a constant layout makes the mistake, the compiler prints the name beside the user's
// line; at run time the call throws.
#pragma once
#include <string>

#include "fault.hpp"

namespace wsl::misuse {

[[noreturn]] inline void a_color_id_must_be_below_the_number_of_colors_of_the_machine(int id, int colors) {
  throw fault("wsl: color " + std::to_string(id) + " does not exist: the machine's colors are 0 to " +
              std::to_string(colors - 1));
}
[[noreturn]] inline void the_area_leaves_the_grid(int x0, int x1, int y0, int y1, int width, int height) {
  throw fault("wsl: the area of columns " + std::to_string(x0) + " to " + std::to_string(x1 - 1) +
              " and rows " + std::to_string(y0) + " to " + std::to_string(y1 - 1) + " leaves the grid of " +
              std::to_string(width) + " x " + std::to_string(height) + " PEs");
}
[[noreturn]] inline void an_area_strides_by_1_to_16(int sx, int sy) {
  throw fault("wsl: an area strides by 1 to 16 columns and rows, not by " + std::to_string(sx) + " and " +
              std::to_string(sy));
}
[[noreturn]] inline void a_path_needs_a_port_to_come_from_and_a_port_to_go_to(int color) {
  throw fault("wsl: a path of color " + std::to_string(color) +
              " needs at least one port on each side of >>");
}
[[noreturn]] inline void a_stream_enters_or_leaves_through_a_side_of_the_grid(int color) {
  throw fault("wsl: the host stream of color " + std::to_string(color) +
              " must be bound to PEs at the edge of the grid, on the side where the grid ends");
}
[[noreturn]] inline void the_grid_is_larger_than_the_machine(const char* machine, int width, int height,
                                                             int max_width, int max_height) {
  throw fault("wsl: a grid of " + std::to_string(width) + " x " + std::to_string(height) +
              " PEs does not fit " + machine + ", whose usable rectangle is " + std::to_string(max_width) +
              " x " + std::to_string(max_height));
}
[[noreturn]] inline void a_grid_has_at_least_one_row_and_one_column(int width, int height) {
  throw fault("wsl: a grid of " + std::to_string(width) + " x " + std::to_string(height) + " PEs has no PE");
}
[[noreturn]] inline void the_layout_has_more_paths_than_it_can_hold(int capacity) {
  throw fault("wsl: a layout holds at most " + std::to_string(capacity) +
              " paths; join equal ones with strided areas");
}
[[noreturn]] inline void the_layout_has_more_placements_than_it_can_hold(int capacity) {
  throw fault("wsl: a layout holds at most " + std::to_string(capacity) +
              " placements; join equal ones with strided areas");
}
[[noreturn]] inline void the_layout_has_more_streams_than_it_can_hold(int capacity) {
  throw fault("wsl: a layout holds at most " + std::to_string(capacity) + " host streams");
}
[[noreturn]] inline void the_layout_has_more_modules_than_it_can_hold(int capacity) {
  throw fault("wsl: a layout holds at most " + std::to_string(capacity) + " modules");
}
[[noreturn]] inline void a_control_wavelet_carries_at_most_8_commands(int count) {
  throw fault("wsl: a control wavelet carries at most 8 commands, not " + std::to_string(count));
}
[[noreturn]] inline void a_control_wavelet_with_data_carries_at_most_3_commands(int count) {
  throw fault("wsl: a control wavelet with data carries at most 3 commands, not " + std::to_string(count));
}
[[noreturn]] inline void the_ids_of_control_tasks_are_0_to_63(int id) {
  throw fault("wsl: the ids of control tasks are 0 to 63; there is no control task " + std::to_string(id));
}

[[noreturn]] inline void the_machine_does_not_swap_colors(const char* machine) {
  throw fault(std::string("wsl: ") + machine +
              " does not swap colors: give each parity paths of its own, with areas that stride by 2");
}
[[noreturn]] inline void the_machine_has_no_injection_priority(const char* machine) {
  throw fault(
      std::string("wsl: ") + machine +
      " lets a processor's words and those that pass take turns: leave out injects_first or injects_last");
}
[[noreturn]] inline void what_is_injected_comes_from_the_ramp(int color) {
  throw fault("wsl: a path of color " + std::to_string(color) +
              " has an injection priority, but takes no words from the ramp: give it to the path where the "
              "processor sends");
}
[[noreturn]] inline void a_layout_swaps_colors_or_changes_routes() {
  throw fault("wsl: a layout that swaps colors has no switches, filters, phases or closed paths");
}

}  // namespace wsl::misuse
