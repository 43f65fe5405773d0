// SPDX-License-Identifier: MIT
// What the compiler says of programs: between routers and tables, and of the limits of the machine. The
// sentences are those of fault.hpp.
#pragma once
#include "place.hpp"

namespace wsl::error {

template <color_id color, column x, row y>
constexpr bool no_router_takes_the_command() {
  static_assert(never<color>,
                "wsl: the program sends commands on this color, but none of its wavelets pass a router with "
                "a switch: give a "
                "path on the way switches{...}, or take steers<color, ...> out of the table");
  return true;
}

template <column x, row y>
constexpr bool two_programs_run_on_one_pe() {
  static_assert(never<x>, "wsl: a PE runs one program: make the areas of the two placements disjoint");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_takes_one_color_twice() {
  static_assert(never<color>,
                "wsl: a wavelet goes to one data task or to the descriptors that read its color, not to "
                "both: keep one of them, "
                "or use two colors");
  return true;
}

template <number id, column x, row y>
constexpr bool the_program_binds_one_control_id_twice() {
  static_assert(never<id>, "wsl: a control wavelet activates one task: give each control task its own id");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_program_takes_the_delivery() {
  static_assert(never<color>,
                "wsl: the path goes to the ramp of a PE without a program: place one that takes this color, "
                "or leave the ramp "
                "out of the path");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_does_not_take_the_color() {
  static_assert(never<color>,
                "wsl: the path goes to the ramp of a program that neither binds a data task to this color "
                "nor reads it: add the "
                "entry to the program's table, or leave the ramp out of the path");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_program_sends_into_the_path() {
  static_assert(never<color>,
                "wsl: the path comes from the ramp of a PE without a program: place one that sends this "
                "color, or leave the ramp "
                "out of the path");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_does_not_send_the_color() {
  static_assert(never<color>,
                "wsl: the path comes from the ramp of a program that does not send this color: add the entry "
                "to the program's "
                "table, or leave the ramp out of the path");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_takes_another_type() {
  static_assert(never<color>,
                "wsl: the path brings another type than the program takes from this color: give both the "
                "same color<T>");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_sends_another_type() {
  static_assert(
      never<color>,
      "wsl: the path carries another type than the program sends in this color: give both the same color<T>");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_path_feeds_the_program() {
  static_assert(never<color>,
                "wsl: the program takes this color, but on none of its PEs a path goes to the ramp: add one, "
                "or take the color "
                "out of the program's table");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_path_takes_what_the_program_sends() {
  static_assert(never<color>,
                "wsl: the program sends this color, but on none of its PEs a path comes from the ramp: add "
                "one, or take the "
                "color out of the program's table");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_path_feeds_the_program_on_this_pe() {
  static_assert(never<color>,
                "wsl: the program takes this color, but here no path goes to the ramp: add one, or place a "
                "program without the "
                "color here");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_path_takes_what_the_program_sends_on_this_pe() {
  static_assert(never<color>,
                "wsl: the program sends this color, but here no path comes from the ramp: add one, or place "
                "a program without "
                "the color here");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_program_has_too_many_local_tasks() {
  static_assert(never<have>,
                "wsl: the machine has fewer ids for local tasks: join tasks that run after each other");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_program_has_too_many_data_tasks() {
  static_assert(never<have>,
                "wsl: the machine has fewer ids for data tasks: read some of the colors with descriptors, or "
                "share a color");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_program_has_too_many_tasks() {
  static_assert(never<have>,
                "wsl: data and local tasks together have fewer ids: join tasks that run after each other");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_control_id_does_not_exist() {
  static_assert(never<have>,
                "wsl: the ids of control tasks begin at 0 and end below the machine's number of them: choose "
                "one of these");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_program_needs_too_many_input_queues() {
  static_assert(
      never<have>,
      "wsl: each of these colors needs an input queue of its own: let fewer colors arrive at one PE");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_program_needs_too_many_output_queues() {
  static_assert(
      never<have>,
      "wsl: each color that a PE sends needs an output queue of its own: send fewer colors from one PE");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_program_is_larger_than_the_memory() {
  static_assert(never<have>,
                "wsl: the members of the program need more bytes than a PE has: use smaller or fewer arrays, "
                "or more PEs");
  return true;
}

template <color_id color, column x, row y, color_mask waiting>
constexpr bool nobody_can_start_the_color() {
  static_assert(never<color>,
                "wsl: every program that sends this color first waits for colors that wait for it: give one "
                "of them a launch "
                "function or an active local task, or feed one of the colors from a stream_in");
  return true;
}

}  // namespace wsl::error
