// SPDX-License-Identifier: MIT
// At run time a fault in one call of the builder throws the sentence, with the numbers of the call.
#include <wsl/layout/faults/path_options.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::faults;

namespace {

template <class F>
std::string said(F call) {
  try {
    call();
  } catch (const fault& e) { return e.what(); }
  return "nothing";
}

}  // namespace

TEST_CASE("every fault of a call says what is wrong and how to mend it") {
  CHECK(said([] { a_color_id_must_be_below_the_number_of_colors_of_the_machine(24, 24); }) ==
        "wsl: there is no color 24: the colors of this machine are 0 to 23");
  CHECK(said([] { the_area_leaves_the_grid(1, 5, 0, 2, 4, 2); }) ==
        "wsl: columns 1 to 4, rows 0 to 1 leave the grid of 4 x 2 PEs: count from `edge`, as in edge - 1");
  CHECK(said([] { an_area_strides_by_1_to_16(0, 17); }) ==
        "wsl: an area strides by 1 to 16 columns and rows, not by 0 and 17");
  CHECK(said([] { a_path_needs_a_port_to_come_from_and_a_port_to_go_to(3); }) ==
        "wsl: the path of color 3 needs at least one port on each side of >>, as in ramp >> east");
  CHECK(
      said([] { a_stream_enters_or_leaves_through_a_side_of_the_grid(3); }) ==
      "wsl: bind the host stream of color 3 to PEs at an edge of the grid, on the side where the grid ends");
  CHECK(said([] { the_grid_is_larger_than_the_machine("wse2", 751, 1, 750, 994); }) ==
        "wsl: a grid of 751 x 1 PEs does not fit wse2: make it at most 750 x 994");
  CHECK(said([] { a_grid_has_at_least_one_row_and_one_column(0, 3); }) ==
        "wsl: a grid of 0 x 3 PEs has no PE: give it a width and a height of at least 1");
  CHECK(said([] { the_layout_has_more_paths_than_it_can_hold(1024); }) ==
        "wsl: a layout holds at most 1024 paths: join equal ones with strided areas");
  CHECK(said([] { a_switch_starts_in_one_of_its_positions(3, 2, 2); }) ==
        "wsl: the switch of color 3 cannot start in position 2: it has positions 0 to 1");
  CHECK(said([] { a_filter_keeps_some_of_the_wavelets_it_counts(3, 1, 5, 4); }) ==
        "wsl: color 3: a filter cannot keep wavelets 1 to 5 of every 4: mind first <= last < period");
}

TEST_CASE("a fault can be caught as what it is: an error of the program") {
  CHECK_THROWS_AS(a_grid_has_at_least_one_row_and_one_column(0, 0), std::logic_error);
}
