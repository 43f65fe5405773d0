// SPDX-License-Identifier: MIT
// The mistakes that can be made with a collective; each of them is a `fault`. A mistake in a layout calls a
// function that is not constexpr and whose name is the sentence: where the layout is a constant the compiler
// prints that name beside the user's line, and at run time the call throws. A mistake of a PE is thrown when
// the PE calls the collective, and the message names the PE. tests/misuse and tests/unit/collective show
// them.
#pragma once
#include <string>

#include "../core/area.hpp"
#include "../core/fault.hpp"
#include "../support/text.hpp"

namespace wsl::faults {

// ---- what a message names ---------------------------------------------------------------------

/// "wsl: PE(3, 4) calls broadcast".
inline std::string call(coord at, const char* module) {
  return support::joined({"wsl: ", text_of(at), " calls ", module});
}

// ---- of a layout ------------------------------------------------------------------------------

[[noreturn]] inline void the_rectangle_of_a_collective_has_no_strides(const char* module, int sx, int sy) {
  throw fault(support::joined(
      {"wsl: the rectangle of ", module, " strides by ", sx, " and ", sy,
       ": a collective needs PEs that are neighbours; give it columns(from, to).rows(from, to)"}));
}
[[noreturn]] inline void the_rectangle_of_a_collective_holds_no_PE(const char* module) {
  throw fault(support::joined({"wsl: the rectangle of ", module, " holds no PE of this grid"}));
}
[[noreturn]] inline void the_rectangle_of_a_collective_leaves_the_grid(const char* module, const region& r,
                                                                       int width, int height) {
  throw fault(support::joined({"wsl: the rectangle of ", module, ", ", text_of(r), ", leaves the grid of ",
                               width, " x ", height, " PEs"}));
}
[[noreturn]] inline void the_root_is_outside_the_rectangle(const char* module, coord root, int columns,
                                                           int rows) {
  throw fault(support::joined({"wsl: the root (", root.x, ", ", root.y, ") of ", module,
                               " is outside its rectangle of ", columns, " x ", rows,
                               " PEs; roots count from the rectangle's north-west corner"}));
}
[[noreturn]] inline void a_shift_goes_along_rows_or_columns(const char* module, int by) {
  throw fault(support::joined(
      {"wsl: a ", module, " goes along each_row or each_column, by at least one PE, not by ", by}));
}
[[noreturn]] inline void this_collective_goes_along_rows_or_columns(const char* module) {
  throw fault(support::joined({"wsl: ", module,
                               " goes along each_row or each_column; to cover a rectangle, run one along "
                               "its rows and then one along its columns"}));
}
[[noreturn]] inline void a_single_color_totals_in_the_corner(const char* module) {
  throw fault(support::joined({"wsl: ", module,
                               " with .colors = 1 forms its total in the corner; for .place = "
                               "total_at::centre leave it two colors an axis"}));
}
[[noreturn]] inline void a_lane_leads_to_a_side(const char* module) {
  throw fault(support::joined(
      {"wsl: a ", module, " leads toward east, west, north or south; words for the PE itself need no lane"}));
}
[[noreturn]] inline void a_lane_leaves_out_no_PE(const char* module, int stride) {
  throw fault(
      support::joined({"wsl: the area of a ", module, " strides by ", stride,
                       " along it: each PE sends to its neighbour, so only whole rows of a lane toward "
                       "east or west, or whole columns of one toward north or south, may be left out"}));
}
[[noreturn]] inline void a_rim_is_not_wider_than_the_tile(const char* module, int rows, int columns,
                                                          int width) {
  throw fault(
      support::joined({"wsl: a ", module, " of width ", width, " around a tile of ", rows, " x ", columns,
                       " cells: the width is at least 1, and the tile is at least as wide and as high"}));
}
[[noreturn]] inline void the_tactic_needs_more_colors(const char* module, int needed, int colors) {
  throw fault(support::joined({"wsl: the tactic of ", module, " needs ", support::counted(needed, "color"),
                               " for a line of its rectangle, not ", colors,
                               ": give it more with .colors, or choose another tactic"}));
}

// ---- of a PE ----------------------------------------------------------------------------------

[[noreturn]] inline void a_PE_outside_the_rectangle_calls(const char* module, coord at, const region& r) {
  throw fault(support::joined({call(at, module), ", whose rectangle is ", text_of(r),
                               ": call it on a PE inside, or widen the rectangle"}));
}
[[noreturn]] inline void the_lane_ends_here(coord at, int color, const char* does, const char* which) {
  throw fault(support::joined({"wsl: PE(", at.x, ", ", at.y, ") ", does, " no PE on the lane of color ",
                               color, ", which ends there: ask has_", which,
                               "(me) first, or give the lane other ends, such as lane_ends::ring"}));
}
[[noreturn]] inline void a_collective_moves_at_least_one_word(const char* module, coord at) {
  throw fault(call(at, module) +
              " with no words: every PE of the rectangle gives the same number, at least one");
}
[[noreturn]] inline void the_sizes_differ(const char* module, coord at, int words, coord other, int others) {
  throw fault(support::joined({call(at, module), " with ", support::counted(words, "word"), ", and ",
                               text_of(other), " with ", others,
                               " in the same call: all PEs of a team give the same number of words"}));
}
[[noreturn]] inline void a_tally_expects_at_least_one_event(const char* module, coord at) {
  throw fault(call(at, module) + " with an expectation of 0 events: it is complete after at least one");
}
[[noreturn]] inline void the_expectations_differ(const char* module, coord at, u32 events, coord other,
                                                 u32 others) {
  throw fault(support::joined({call(at, module), " with an expectation of ",
                               support::counted(events, "event"), ", and ", text_of(other), " of ", others,
                               " in the same call: all PEs expect the same number"}));
}
[[noreturn]] inline void the_tiles_differ(const char* module, coord at, const char* what, int size, int width,
                                          coord other, int others, int others_width) {
  throw fault(
      support::joined({call(at, module), " with ", size, " ", what, " and a rim of width ", width, ", and ",
                       text_of(other), " with ", others, " and a rim of width ", others_width,
                       " in the same call: PEs beside each other have as many rows, PEs above each other as "
                       "many columns, and all rims have one width"}));
}
[[noreturn]] inline void the_blocks_do_not_fit(const char* module, coord at, int words, int blocks,
                                               int block) {
  throw fault(support::joined({call(at, module), " with an array of ", support::counted(words, "word"),
                               " for ", support::counted(blocks, "block"), " of ", block, ": it needs ",
                               static_cast<long long>(blocks) * block}));
}
[[noreturn]] inline void this_PE_is_the_root(const char* module, coord at) {
  throw fault(support::joined(
      {"wsl: ", text_of(at), " is the root of ", module, ", so it calls with the array of all blocks"}));
}
[[noreturn]] inline void this_PE_is_not_the_root(const char* module, coord at) {
  throw fault(support::joined({"wsl: ", text_of(at), " is not the root of ", module,
                               ", so it calls without the array of all blocks"}));
}
[[noreturn]] inline void the_rim_is_wider_than_the_tile(const char* module, coord at, int rows, int columns,
                                                        int width) {
  throw fault(
      call(at, module) +
      support::joined({" with a rim of width ", width, " around a tile of ", rows, " x ", columns,
                       " cells: the width is at least 1, and the tile is at least as wide and as high"}));
}
[[noreturn]] inline void the_field_does_not_fit(const char* module, coord at, int words, int rows,
                                                int columns) {
  throw fault(support::joined({call(at, module), " with an array of ", support::counted(words, "word"),
                               ": a tile with its rim has ", rows, " x ", columns}));
}
[[noreturn]] inline void the_arrays_differ(const char* module, coord at, int a, int b) {
  throw fault(support::joined({call(at, module), " with arrays of ", a, " and ", support::counted(b, "word"),
                               ": their lengths are equal"}));
}
[[noreturn]] inline void the_arrays_overlap(const char* module, coord at) {
  throw fault(call(at, module) +
              " with arrays that overlap: it reads the one while it fills the other; give it another array");
}
[[noreturn]] inline void a_task_awaits_it_already(const char* module, coord at) {
  throw fault(call(at, module) +
              " while another of its tasks waits for it: let one task await it, or use an endpoint for each");
}
[[noreturn]] inline void the_last_call_is_under_way(const char* module, coord at) {
  throw fault(call(at, module) + " again before its last call is complete: start it from the completion");
}

}  // namespace wsl::faults
