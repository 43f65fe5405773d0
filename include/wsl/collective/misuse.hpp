// SPDX-License-Identifier: MIT
// Mistakes in the use of collectives. Those of a layout are functions that are not constexpr and whose name
// is the sentence: a constant layout prints it, one built at run time throws. Those of a PE are thrown when
// it calls.
#pragma once
#include <string>

#include "../core/area.hpp"
#include "../core/fault.hpp"
#include "../support/text.hpp"

namespace wsl::misuse {

inline std::string text(int n) { return std::to_string(n); }
inline std::string text(coord c) { return "(" + std::to_string(c.x) + ", " + std::to_string(c.y) + ")"; }
inline std::string text(const region& r) {
  return "columns " + text(r.x0) + " to " + text(r.x1 - 1) + " and rows " + text(r.y0) + " to " +
         text(r.y1 - 1);
}

[[noreturn]] inline void the_rectangle_of_a_collective_has_no_strides(const char* module, int sx, int sy) {
  throw fault(std::string("wsl: the rectangle of ") + module + " strides by " + text(sx) + " and " +
              text(sy) + ": a collective lives on neighbours; give it columns(from, to).rows(from, to)");
}
[[noreturn]] inline void the_rectangle_of_a_collective_holds_no_PE(const char* module) {
  throw fault(std::string("wsl: the rectangle of ") + module + " holds no PE of this grid");
}
[[noreturn]] inline void the_rectangle_of_a_collective_leaves_the_grid(const char* module, const region& r,
                                                                       int width, int height) {
  throw fault(std::string("wsl: the rectangle of ") + module + ", " + text(r) + ", leaves the grid of " +
              text(width) + " x " + text(height) + " PEs");
}
[[noreturn]] inline void the_root_is_outside_the_rectangle(const char* module, coord root, int columns,
                                                           int rows) {
  throw fault(std::string("wsl: the root ") + text(root) + " of " + module + " is outside its rectangle of " +
              text(columns) + " x " + text(rows) +
              " PEs; roots count from the rectangle's north-west corner");
}

[[noreturn]] inline void a_shift_goes_along_rows_or_columns(const char* module, int by) {
  throw fault(std::string("wsl: a ") + module +
              " goes along each_row or each_column, by at least one place, not by " + text(by));
}
[[noreturn]] inline void an_all_to_all_goes_along_rows_or_columns(const char* module) {
  throw fault(std::string("wsl: ") + module +
              " goes along each_row or each_column: over a rectangle run one after the other");
}
[[noreturn]] inline void a_rim_is_not_wider_than_the_tile(const char* module, int rows, int columns,
                                                          int width) {
  throw fault(std::string("wsl: a ") + module + " of width " + text(width) + " around a tile of " +
              text(rows) + " x " + text(columns) +
              " cells: the width is at least 1 and the tile at least as wide and high");
}
[[noreturn]] inline void the_tactic_needs_more_colors(const char* module, int needed, int colors) {
  throw fault(std::string("wsl: the tactic of ") + module + " needs " + support::counted(needed, "color") +
              " for a line of its rectangle, not " + text(colors) +
              ": give it more with .colors, or another tactic");
}

[[noreturn]] inline void a_PE_outside_the_rectangle_calls(const char* module, coord at, const region& r) {
  throw fault("wsl: PE" + text(at) + " calls " + module + ", whose rectangle is " + text(r) +
              ": call it inside, or widen the rectangle");
}
[[noreturn]] inline void a_collective_moves_at_least_one_word(const char* module, coord at) {
  throw fault("wsl: PE" + text(at) + " calls " + module +
              " with no words: every PE of the rectangle gives the same number, at least one");
}
[[noreturn]] inline void the_blocks_do_not_fit(const char* module, coord at, int words, int blocks,
                                               int block) {
  throw fault("wsl: PE" + text(at) + " calls " + module + " with an array of " +
              support::counted(words, "word") + " for " + support::counted(blocks, "block") + " of " +
              text(block) + ": it needs " + std::to_string(static_cast<long long>(blocks) * block));
}
[[noreturn]] inline void this_PE_is_the_root(const char* module, coord at) {
  throw fault("wsl: PE" + text(at) + " is the root of " + module + ": it calls with the array of all blocks");
}
[[noreturn]] inline void this_PE_is_not_the_root(const char* module, coord at) {
  throw fault("wsl: PE" + text(at) + " is not the root of " + module +
              ": it calls without the array of all blocks");
}
[[noreturn]] inline void the_field_does_not_fit(const char* module, coord at, int words, int rows,
                                                int columns) {
  throw fault("wsl: PE" + text(at) + " calls " + module + " with an array of " +
              support::counted(words, "word") + ": a tile with its rim has " + text(rows) + " x " +
              text(columns));
}
[[noreturn]] inline void the_arrays_differ(const char* module, coord at, int a, int b) {
  throw fault("wsl: PE" + text(at) + " calls " + module + " with arrays of " + text(a) + " and " +
              support::counted(b, "word") + ": they are equally long");
}
[[noreturn]] inline void the_last_call_is_under_way(const char* module, coord at) {
  throw fault("wsl: PE" + text(at) + " calls " + module +
              " again before its last call is complete: start it from the completion");
}

}  // namespace wsl::misuse
