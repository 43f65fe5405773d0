// SPDX-License-Identifier: MIT
// What the compiler says of a faulty layout. Each fault is a function template whose name is the fault, whose arguments are the
// place, and whose static_assert is the sentence: compilers print all three, and they print numbers and enumerators readably where
// they print structures as digits. Names of programs do not fit there; require(layout) tells them at run time.
#pragma once
#include "fault.hpp"

namespace wsl::error {

enum class color_id : int {};
enum class column : int {};
enum class row : int {};
enum class number : int {};
enum class color_mask : u64 {};

template <auto...>
inline constexpr bool never = false;

template <color_id color, column x, row y>
constexpr bool two_paths_of_one_color_cover_one_pe() {
  static_assert(never<color>,
                "wsl: a router has one route for each color: make the areas of the two paths disjoint, or give one of them "
                "another color");
  return true;
}

template <color_id color, column x, row y>
constexpr bool a_path_with_several_inputs_must_say_merge() {
  static_assert(never<color>,
                "wsl: no program decides the order of wavelets that come from several ports: say merge as the last argument of "
                "the path if that is meant, or leave one port before >>");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_path_leaves_the_grid() {
  static_assert(never<color>,
                "wsl: there is no PE on this side: end the path one PE earlier, as in columns(0, end - 1), or bind a stream_out "
                "to this side");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_neighbour_does_not_listen() {
  static_assert(never<color>,
                "wsl: the neighbour on this side has no path of this color that comes from here: give it one, or do not send to "
                "this side");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_path_listens_beyond_the_grid() {
  static_assert(never<color>,
                "wsl: there is no PE on this side: begin the path one PE later, as in columns(1, end), or bind a stream_in to "
                "this side");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_path_listens_to_silence() {
  static_assert(never<color>,
                "wsl: the neighbour on this side has no path of this color that goes here: give it one, or do not listen to this "
                "side");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_neighbour_expects_another_type() {
  static_assert(never<color>,
                "wsl: the path of the neighbour on this side carries another type in the same color: give both paths the same "
                "color<T>");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_stream_in_enters_no_path() {
  static_assert(never<color>,
                "wsl: no path of this color comes from the side of the stream_in: add one, or bind the stream where such a path "
                "is");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_stream_out_leaves_no_path() {
  static_assert(never<color>,
                "wsl: no path of this color goes to the side of the stream_out: add one, or bind the stream where such a path is");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_stream_carries_another_type() {
  static_assert(never<color>,
                "wsl: the path that the host stream meets carries another type in the same color: give both the same color<T>");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool two_streams_use_one_side_of_one_pe() {
  static_assert(never<color>,
                "wsl: two host streams of one color and direction share a link, so their words have no order: keep one, or use "
                "two colors");
  return true;
}

template <color_id color, column x, row y>
constexpr bool two_modules_claim_one_color() {
  static_assert(never<color>,
                "wsl: two library modules own the same color in the same place: give one of them other colors, or another region");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_paths_meet_too_often_to_check_while_compiling() {
  static_assert(never<color>,
                "wsl: the paths of this color meet in too many ways for a constant expression: give them strides that divide "
                "each other or several colors, or check at run time with require(layout)");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_route_goes_in_a_circle() {
  static_assert(never<color>,
                "wsl: a wavelet that leaves through this side comes back and never ends: let one path of the circle end at the "
                "ramp");
  return true;
}

template <color_id color, column x, row y, column fork_x, row fork_y>
constexpr bool a_fork_meets_itself_again() {
  static_assert(never<color>,
                "wsl: two branches of one fork meet here, so every wavelet arrives twice: end one branch before, or give it "
                "another color");
  return true;
}

template <color_id color, column x, row y, number have, number limit>
constexpr bool the_routes_turn_too_often_to_check_while_compiling() {
  static_assert(never<color>,
                "wsl: too many PEs of this color may be part of a circle or of a fork that meets itself for a constant "
                "expression: give each direction of travel its own color, or check at run time with require(layout)");
  return true;
}

template <column x, row y>
constexpr bool two_programs_run_on_one_pe() {
  static_assert(never<x>,
                "wsl: a PE runs one program: make the areas of the two placements disjoint");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_takes_one_color_twice() {
  static_assert(never<color>,
                "wsl: a wavelet goes to one data task or to the descriptors that read its color, not to both: keep one of them, "
                "or use two colors");
  return true;
}

template <number id, column x, row y>
constexpr bool the_program_binds_one_control_id_twice() {
  static_assert(never<id>,
                "wsl: a control wavelet activates one task: give each control task its own id");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_program_takes_the_delivery() {
  static_assert(never<color>,
                "wsl: the path goes to the ramp of a PE without a program: place one that takes this color, or leave the ramp "
                "out of the path");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_does_not_take_the_color() {
  static_assert(never<color>,
                "wsl: the path goes to the ramp of a program that neither binds a data task to this color nor reads it: add the "
                "entry to the program's table, or leave the ramp out of the path");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_program_sends_into_the_path() {
  static_assert(never<color>,
                "wsl: the path comes from the ramp of a PE without a program: place one that sends this color, or leave the ramp "
                "out of the path");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_does_not_send_the_color() {
  static_assert(never<color>,
                "wsl: the path comes from the ramp of a program that does not send this color: add the entry to the program's "
                "table, or leave the ramp out of the path");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_takes_another_type() {
  static_assert(never<color>,
                "wsl: the path brings another type than the program takes from this color: give both the same color<T>");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_program_sends_another_type() {
  static_assert(never<color>,
                "wsl: the path carries another type than the program sends in this color: give both the same color<T>");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_path_feeds_the_program() {
  static_assert(never<color>,
                "wsl: the program takes this color, but on none of its PEs a path goes to the ramp: add one, or take the color "
                "out of the program's table");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_path_takes_what_the_program_sends() {
  static_assert(never<color>,
                "wsl: the program sends this color, but on none of its PEs a path comes from the ramp: add one, or take the "
                "color out of the program's table");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_path_feeds_the_program_on_this_pe() {
  static_assert(never<color>,
                "wsl: the program takes this color, but here no path goes to the ramp: add one, or place a program without the "
                "color here");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_path_takes_what_the_program_sends_on_this_pe() {
  static_assert(never<color>,
                "wsl: the program sends this color, but here no path comes from the ramp: add one, or place a program without "
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
                "wsl: the machine has fewer ids for data tasks: read some of the colors with descriptors, or share a color");
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
                "wsl: the ids of control tasks begin at 0 and end below the machine's number of them: choose one of these");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_program_needs_too_many_input_queues() {
  static_assert(never<have>,
                "wsl: each of these colors needs an input queue of its own: let fewer colors arrive at one PE");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_program_needs_too_many_output_queues() {
  static_assert(never<have>,
                "wsl: each color that a PE sends needs an output queue of its own: send fewer colors from one PE");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_program_is_larger_than_the_memory() {
  static_assert(never<have>,
                "wsl: the members of the program need more bytes than a PE has: use smaller or fewer arrays, or more PEs");
  return true;
}

template <color_id color, column x, row y, color_mask waiting>
constexpr bool nobody_can_start_the_color() {
  static_assert(never<color>,
                "wsl: every program that sends this color first waits for colors that wait for it: give one of them a launch "
                "function or an active local task, or feed one of the colors from a stream_in");
  return true;
}

/// Stops the compilation with the sentence of the diagnostic.
template <const diagnostic& D>
constexpr bool report() {
  constexpr color_id color{D.color};
  constexpr column x{D.at.x};
  constexpr row y{D.at.y};
  constexpr number have{D.have}, limit{D.limit};
  if constexpr (D.what == fault::two_paths_of_one_color_cover_one_pe) return two_paths_of_one_color_cover_one_pe<color, x, y>();
  else if constexpr (D.what == fault::a_path_with_several_inputs_must_say_merge) return a_path_with_several_inputs_must_say_merge<color, x, y>();
  else if constexpr (D.what == fault::the_path_leaves_the_grid) return the_path_leaves_the_grid<color, x, y, D.side>();
  else if constexpr (D.what == fault::the_neighbour_does_not_listen) return the_neighbour_does_not_listen<color, x, y, D.side>();
  else if constexpr (D.what == fault::the_path_listens_beyond_the_grid) return the_path_listens_beyond_the_grid<color, x, y, D.side>();
  else if constexpr (D.what == fault::the_path_listens_to_silence) return the_path_listens_to_silence<color, x, y, D.side>();
  else if constexpr (D.what == fault::the_neighbour_expects_another_type) return the_neighbour_expects_another_type<color, x, y, D.side>();
  else if constexpr (D.what == fault::the_stream_in_enters_no_path) return the_stream_in_enters_no_path<color, x, y, D.side>();
  else if constexpr (D.what == fault::the_stream_out_leaves_no_path) return the_stream_out_leaves_no_path<color, x, y, D.side>();
  else if constexpr (D.what == fault::the_stream_carries_another_type) return the_stream_carries_another_type<color, x, y, D.side>();
  else if constexpr (D.what == fault::two_streams_use_one_side_of_one_pe) return two_streams_use_one_side_of_one_pe<color, x, y, D.side>();
  else if constexpr (D.what == fault::two_modules_claim_one_color) return two_modules_claim_one_color<color, x, y>();
  else if constexpr (D.what == fault::the_paths_meet_too_often_to_check_while_compiling) return the_paths_meet_too_often_to_check_while_compiling<color, x, y>();
  else if constexpr (D.what == fault::the_route_goes_in_a_circle) return the_route_goes_in_a_circle<color, x, y, D.side>();
  else if constexpr (D.what == fault::a_fork_meets_itself_again) return a_fork_meets_itself_again<color, x, y, column{D.fork.x}, row{D.fork.y}>();
  else if constexpr (D.what == fault::the_routes_turn_too_often_to_check_while_compiling) return the_routes_turn_too_often_to_check_while_compiling<color, x, y, have, limit>();
  else if constexpr (D.what == fault::two_programs_run_on_one_pe) return two_programs_run_on_one_pe<x, y>();
  else if constexpr (D.what == fault::the_program_takes_one_color_twice) return the_program_takes_one_color_twice<color, x, y>();
  else if constexpr (D.what == fault::the_program_binds_one_control_id_twice) return the_program_binds_one_control_id_twice<have, x, y>();
  else if constexpr (D.what == fault::no_program_takes_the_delivery) return no_program_takes_the_delivery<color, x, y>();
  else if constexpr (D.what == fault::the_program_does_not_take_the_color) return the_program_does_not_take_the_color<color, x, y>();
  else if constexpr (D.what == fault::no_program_sends_into_the_path) return no_program_sends_into_the_path<color, x, y>();
  else if constexpr (D.what == fault::the_program_does_not_send_the_color) return the_program_does_not_send_the_color<color, x, y>();
  else if constexpr (D.what == fault::the_program_takes_another_type) return the_program_takes_another_type<color, x, y>();
  else if constexpr (D.what == fault::the_program_sends_another_type) return the_program_sends_another_type<color, x, y>();
  else if constexpr (D.what == fault::no_path_feeds_the_program) return no_path_feeds_the_program<color, x, y>();
  else if constexpr (D.what == fault::no_path_takes_what_the_program_sends) return no_path_takes_what_the_program_sends<color, x, y>();
  else if constexpr (D.what == fault::no_path_feeds_the_program_on_this_pe) return no_path_feeds_the_program_on_this_pe<color, x, y>();
  else if constexpr (D.what == fault::no_path_takes_what_the_program_sends_on_this_pe) return no_path_takes_what_the_program_sends_on_this_pe<color, x, y>();
  else if constexpr (D.what == fault::the_program_has_too_many_local_tasks) return the_program_has_too_many_local_tasks<have, limit, x, y>();
  else if constexpr (D.what == fault::the_program_has_too_many_data_tasks) return the_program_has_too_many_data_tasks<have, limit, x, y>();
  else if constexpr (D.what == fault::the_program_has_too_many_tasks) return the_program_has_too_many_tasks<have, limit, x, y>();
  else if constexpr (D.what == fault::the_control_id_does_not_exist) return the_control_id_does_not_exist<have, limit, x, y>();
  else if constexpr (D.what == fault::the_program_needs_too_many_input_queues) return the_program_needs_too_many_input_queues<have, limit, x, y>();
  else if constexpr (D.what == fault::the_program_needs_too_many_output_queues) return the_program_needs_too_many_output_queues<have, limit, x, y>();
  else if constexpr (D.what == fault::the_program_is_larger_than_the_memory) return the_program_is_larger_than_the_memory<have, limit, x, y>();
  else if constexpr (D.what == fault::nobody_can_start_the_color) return nobody_can_start_the_color<color, x, y, color_mask{D.colors}>();
  else return true;
}

}  // namespace wsl::error
