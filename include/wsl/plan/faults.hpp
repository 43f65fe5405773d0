// SPDX-License-Identifier: MIT
// Faults of a floor plan, in the manner of core/builder_faults.hpp: the name states the mistake, the text the
// remedy; thrown at run time, printed by the compiler for a constant plan.
#pragma once
#include "../core/builder_faults.hpp"

namespace wsl::faults {

[[noreturn]] constexpr void a_region_has_at_least_one_row_and_one_column(auto name, auto width, auto height) {
  fail("region {} has {} x {} PEs: give it a width and a height of at least 1", {name, width, height});
}
[[noreturn]] constexpr void a_floor_plan_has_at_most_32000_regions(auto) {
  fail("a floor plan has at most 32000 regions: let one region have more PEs", {});
}
[[noreturn]] constexpr void the_region_is_of_another_floor_plan(auto number) {
  fail("there is no region {} in this floor plan: it is of another one", {number});
}
[[noreturn]] constexpr void a_port_is_at_a_side_of_its_region(auto name) {
  fail(
      "a port of region {} lets words through a side: east, west, north or south; where they come from or go "
      "to inside is said by .from(ramp) or .to(ramp)",
      {name});
}
[[noreturn]] constexpr void the_port_is_outside_of_its_region(auto name, auto width, auto height) {
  fail("a port of region {} is on PEs of the region, of which there are {} x {}", {name, width, height});
}
[[noreturn]] constexpr void outputs_come_from_and_inputs_go_to(auto) {
  fail("an output says .from(...), where its words come from; an input says .to(...), where they go", {});
}
[[noreturn]] constexpr void the_area_is_outside_of_its_region(auto name, auto width, auto height) {
  fail("programs and paths of region {} lie on PEs of the region, of which there are {} x {}",
       {name, width, height});
}
[[noreturn]] constexpr void a_path_has_one_filter(auto) {
  fail("a path of a region has one filter: its words pass one of them, not several", {});
}
[[noreturn]] constexpr void the_region_leaves_the_grid(auto name, auto x, auto y, auto width, auto height) {
  fail("region {} at PE({}, {}) leaves the grid of {} x {} PEs: place it elsewhere, or make the grid larger",
       {name, x, y, width, height});
}
[[noreturn]] constexpr void two_regions_overlap(auto one, auto other, auto x, auto y) {
  fail("regions {} and {} overlap at PE({}, {}): move one", {one, other, x, y});
}
[[noreturn]] constexpr void the_region_is_placed_twice(auto name) {
  fail("region {} has its place already: it can be placed once", {name});
}
[[noreturn]] constexpr void the_regions_do_not_fit_the_grid(auto name, auto width, auto height) {
  fail(
      "there is no room for region {} on the grid of {} x {} PEs: make the grid larger, or place the regions "
      "by hand",
      {name, width, height});
}
[[noreturn]] constexpr void an_output_is_connected_to_an_input(auto from, auto to) {
  fail("words go from an output of {} to an input of {}: connect(a.output(...), b.input(...))", {from, to});
}
[[noreturn]] constexpr void the_ports_have_different_numbers_of_pes(auto from, auto n, auto to, auto m) {
  fail(
      "the output of {} has {} PEs, the input of {} has {}: connect as many to as many, one to several, or, "
      "with the option merges or by_turns, several to one; or put a mux between them, or deal the words of "
      "one output out",
      {from, n, to, m});
}
[[noreturn]] constexpr void the_ports_are_connected_already(auto from, auto to) {
  fail("this output of {} is connected to this input of {} already: once is enough, with all its options",
       {from, to});
}
[[noreturn]] constexpr void one_output_deals_words(auto from) {
  fail("words of {} are dealt out by one PE, at least one to each PE of the input: deals{.words = 4}",
       {from});
}
[[noreturn]] constexpr void a_mux_grows_to_the_east_or_south(auto name) {
  fail("mux {} is a row or a column of PEs: it grows to the east or to the south", {name});
}
[[noreturn]] constexpr void several_outputs_lead_to_one_input(auto from, auto other, auto to) {
  fail(
      "words of {} and of {} come to one PE of {} in an order that nobody defines: connect both with the "
      "option merges if it does not matter, with by_turns if they say when the next one's turn is, or put a "
      "mux between them",
      {from, other, to});
}
[[noreturn]] constexpr void a_connection_forks_or_merges(auto from, auto to) {
  fail(
      "the connection from {} to {} has several outputs and several inputs: merge first, in a region of its "
      "own, and then go to several",
      {from, to});
}
[[noreturn]] constexpr void all_connections_of_a_port_take_turns(auto from, auto to) {
  fail(
      "the connection from {} to {} shares an output or an input with another, and one of the two has the "
      "option by_turns: give it to both, or to none; words that are dealt out, and streams of the host, take "
      "no turns",
      {from, to});
}
[[noreturn]] constexpr void each_turn_has_a_side(auto name, auto x, auto y, auto n, auto sides) {
  fail(
      "at PE({}, {}) of {}, {} connections take turns, and its port opens to other PEs through {} of its "
      "sides: each "
      "needs one of its own; open the port to every side, move the region off the edge, or put a mux between",
      {x, y, name, n, sides});
}
[[noreturn]] constexpr void the_program_does_not_end_its_turn(auto from, auto to, auto program, auto x,
                                                              auto y) {
  fail(
      "the connection from {} to {} takes turns, but program {} at PE({}, {}) does not say steers<color, "
      "switch_adv>: an output ends its turn with me.send_control(color, switch_adv)",
      {from, to, program, x, y});
}
[[noreturn]] constexpr void turns_at_a_port_have_one_inner_side(auto from, auto to) {
  fail(
      "the connection from {} to {} takes turns with another at one PE, and .from(...) or .to(...) of the "
      "two "
      "differ: a turn changes the side of the connection, not what lies inside of the region",
      {from, to});
}
[[noreturn]] constexpr void a_port_of_turns_has_its_own_switches(auto from, auto to) {
  fail(
      "the connection from {} to {} takes turns, so the plan gives its ports their switches: leave "
      ".switched(...) out",
      {from, to});
}
[[noreturn]] constexpr void a_region_overlaps_a_program_of_the_layout(auto name, auto x, auto y) {
  fail("region {} overlaps a program of the layout at PE({}, {}): place it elsewhere", {name, x, y});
}
[[noreturn]] constexpr void a_region_has_two_symbolic_colors_for_one(auto name, auto one, auto other) {
  fail(
      "symbolic colors {} and {} of region {} would be one color, because connections join them: connect "
      "them "
      "to different ports",
      {one, other, name});
}
[[noreturn]] constexpr void a_region_has_two_names_for_one_color(auto name, auto id, auto symbol) {
  fail(
      "color {} and symbolic color {} of region {} would be one color, because connections join them: "
      "connect "
      "them to different ports",
      {id, symbol, name});
}
[[noreturn]] constexpr void a_class_has_two_colors(auto name, auto one, auto other) {
  fail("a connection of region {} would have to be of color {} and of color {}: make one of them symbolic",
       {name, one, other});
}
[[noreturn]] constexpr void the_symbolic_color_is_connected_to_nothing(auto name, auto program, auto k) {
  fail(
      "in region {}, symbolic color {} of {} has neither a connection nor an inner path: connect it, or give "
      "it a path",
      {name, k, program});
}
[[noreturn]] constexpr void the_connection_finds_no_way(auto from, auto to, auto x, auto y) {
  fail(
      "the connection from {} to {} finds no way to PE({}, {}): leave a free row or column between the "
      "regions",
      {from, to, x, y});
}
[[noreturn]] constexpr void the_connections_need_more_colors(auto from, auto to, auto x, auto y,
                                                             auto colors) {
  fail(
      "no color is left for the connection from {} to {}: at PE({}, {}) it meets connections that have all "
      "{} "
      "colors of the machine: move the regions apart, so that fewer connections share PEs",
      {from, to, x, y, colors});
}

}  // namespace wsl::faults
