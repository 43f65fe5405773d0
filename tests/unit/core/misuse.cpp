// SPDX-License-Identifier: MIT
// At run time a mistake in one call of the builder throws the sentence, with the numbers of the call.
#include <wsl/core/misuse.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::misuse;

namespace {

template <class F>
std::string said(F mistake) {
  try {
    mistake();
  } catch (const fault& e) { return e.what(); }
  return "nothing";
}

}  // namespace

TEST_CASE("every mistake says what is wrong") {
  CHECK(said([] { a_color_id_must_be_below_the_number_of_colors_of_the_machine(24, 24); }) ==
        "wsl: color 24 does not exist: the machine's colors are 0 to 23");
  CHECK(said([] { the_area_leaves_the_grid(1, 5, 0, 2, 4, 2); }) ==
        "wsl: the area of columns 1 to 4 and rows 0 to 1 leaves the grid of 4 x 2 PEs");
  CHECK(said([] { an_area_strides_by_1_to_16(0, 17); }) ==
        "wsl: an area strides by 1 to 16 columns and rows, not by 0 and 17");
  CHECK(said([] { a_path_needs_a_port_to_come_from_and_a_port_to_go_to(3); }) ==
        "wsl: a path of color 3 needs at least one port on each side of >>");
  CHECK(said([] { a_stream_enters_or_leaves_through_a_side_of_the_grid(3); }) ==
        "wsl: the host stream of color 3 must be bound to PEs at the edge of the grid, on the side where the "
        "grid ends");
  CHECK(said([] { the_grid_is_larger_than_the_machine("wse2", 751, 1, 750, 994); }) ==
        "wsl: a grid of 751 x 1 PEs does not fit wse2, whose usable rectangle is 750 x 994");
  CHECK(said([] { a_grid_has_at_least_one_row_and_one_column(0, 3); }) ==
        "wsl: a grid of 0 x 3 PEs has no PE");
  CHECK(said([] { the_layout_has_more_paths_than_it_can_hold(1024); }) ==
        "wsl: a layout holds at most 1024 paths; join equal ones with strided areas");
  CHECK(said([] { the_layout_has_more_placements_than_it_can_hold(256); }) ==
        "wsl: a layout holds at most 256 placements; join equal ones with strided areas");
  CHECK(said([] { the_layout_has_more_streams_than_it_can_hold(32); }) ==
        "wsl: a layout holds at most 32 host streams");
  CHECK(said([] { the_layout_has_more_modules_than_it_can_hold(32); }) ==
        "wsl: a layout holds at most 32 modules");
}

TEST_CASE("a mistake can be caught as what it is: an error of the program") {
  CHECK_THROWS_AS(a_grid_has_at_least_one_row_and_one_column(0, 0), std::logic_error);
}
