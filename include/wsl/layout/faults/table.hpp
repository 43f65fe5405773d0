// SPDX-License-Identifier: MIT
// What can be wrong with a layout. A fault has a name that reads as a sentence, a text that says how to mend
// it, and a diagnostic that says where. The compiler prints name, place and text (errors.hpp); a run throws
// the same (explain.hpp); docs/errors.md explains each with an example.
#pragma once
#include "../../core/coord.hpp"

namespace wsl {

enum class fault_kind : u8 {
  none,
  // paths
  two_paths_of_one_color_cover_one_pe,
  a_path_with_several_inputs_must_say_merge,
  the_path_leaves_the_grid,
  the_neighbour_does_not_listen,
  the_path_listens_beyond_the_grid,
  the_path_listens_to_silence,
  the_neighbour_expects_another_type,
  the_stream_in_enters_no_path,
  the_stream_out_leaves_no_path,
  the_stream_carries_another_type,
  two_streams_use_one_side_of_one_pe,
  two_modules_claim_one_color,
  the_paths_meet_too_often_to_check_while_compiling,
  // cycles
  the_route_goes_in_a_circle,
  a_fork_meets_itself_again,
  the_routes_turn_too_often_to_check_while_compiling,
  // switches
  the_machine_cannot_switch_the_color,
  a_position_changes_both_sides,
  a_position_has_several_ports,
  no_command_reaches_the_position,
  no_router_takes_the_command,
  no_program_reopens_the_color,
  the_phase_has_no_beginning,
  // filters
  the_filter_has_nothing_to_filter,
  the_payload_has_no_index,
  the_pe_has_too_many_filters,
  // tasks
  two_programs_run_on_one_pe,
  the_program_takes_one_color_twice,
  the_program_binds_one_control_id_twice,
  no_program_takes_the_delivery,
  the_program_does_not_take_the_color,
  no_program_sends_into_the_path,
  the_program_does_not_send_the_color,
  the_program_takes_another_type,
  the_program_sends_another_type,
  no_path_feeds_the_program,
  no_path_takes_what_the_program_sends,
  no_path_feeds_the_program_on_this_pe,
  no_path_takes_what_the_program_sends_on_this_pe,
  // budget
  the_program_has_too_many_local_tasks,
  the_program_has_too_many_data_tasks,
  the_program_has_too_many_tasks,
  the_control_id_does_not_exist,
  the_program_needs_too_many_input_queues,
  the_program_needs_too_many_output_queues,
  the_program_is_larger_than_the_memory,
  // liveness
  nobody_can_start_the_color,
};

inline constexpr int fault_count = static_cast<int>(fault_kind::nobody_can_start_the_color) + 1;

/// The first fault a rule found, and what its sentence needs. Fields that a fault does not use keep their
/// defaults.
struct diagnostic {
  fault_kind what = fault_kind::none;
  int color = -1;
  coord at{-1, -1};         ///< the PE; of a program the first one it is placed on
  port side = port::ramp;   ///< the side of that PE
  coord fork{-1, -1};       ///< the PE where branches part
  int have = 0, limit = 0;  ///< how many there are and how many there may be
  u64 colors = 0;           ///< the colors that wait for each other, as a mask
  const char* name = "";    ///< a program, a module or a payload ...
  const char* other = "";   ///< ... and the one it conflicts with
  constexpr bool found() const { return what != fault_kind::none; }
};

struct fault_text {
  fault_kind what;
  const char* name;
  const char* text;
};

/// One entry per fault, in the order of the enumeration. The texts are those of errors.hpp.
inline constexpr fault_text fault_texts[] = {
    {fault_kind::none, "none", "the layout has no fault"},
    {fault_kind::two_paths_of_one_color_cover_one_pe, "two_paths_of_one_color_cover_one_pe",
     "a router has one route for each color: make the areas of the two paths disjoint, or give one of them "
     "another color"},
    {fault_kind::a_path_with_several_inputs_must_say_merge, "a_path_with_several_inputs_must_say_merge",
     "no program decides the order of wavelets that come from several ports: say merges as the last argument "
     "of the path if that is "
     "meant, or leave one port before >>"},
    {fault_kind::the_path_leaves_the_grid, "the_path_leaves_the_grid",
     "there is no PE on this side: end the path one PE earlier, as in columns(0, edge - 1), or bind a "
     "stream_out to this side"},
    {fault_kind::the_neighbour_does_not_listen, "the_neighbour_does_not_listen",
     "the neighbour on this side has no path of this color that comes from here: give it one, or do not send "
     "to this side"},
    {fault_kind::the_path_listens_beyond_the_grid, "the_path_listens_beyond_the_grid",
     "there is no PE on this side: begin the path one PE later, as in columns(1, edge), or bind a stream_in "
     "to this side"},
    {fault_kind::the_path_listens_to_silence, "the_path_listens_to_silence",
     "the neighbour on this side has no path of this color that goes here: give it one, or do not listen to "
     "this side"},
    {fault_kind::the_neighbour_expects_another_type, "the_neighbour_expects_another_type",
     "the path of the neighbour on this side carries another type in the same color: give both paths the "
     "same color<T>"},
    {fault_kind::the_stream_in_enters_no_path, "the_stream_in_enters_no_path",
     "no path of this color comes from the side of the stream_in: add one, or bind the stream where such a "
     "path is"},
    {fault_kind::the_stream_out_leaves_no_path, "the_stream_out_leaves_no_path",
     "no path of this color goes to the side of the stream_out: add one, or bind the stream where such a "
     "path is"},
    {fault_kind::the_stream_carries_another_type, "the_stream_carries_another_type",
     "the path that the host stream meets carries another type in the same color: give both the same "
     "color<T>"},
    {fault_kind::two_streams_use_one_side_of_one_pe, "two_streams_use_one_side_of_one_pe",
     "two host streams of one color and direction share a link, so their words have no order: keep one, or "
     "use two colors"},
    {fault_kind::two_modules_claim_one_color, "two_modules_claim_one_color",
     "two library modules own the same color in the same place: give one of them other colors, or another "
     "region"},
    {fault_kind::the_paths_meet_too_often_to_check_while_compiling,
     "the_paths_meet_too_often_to_check_while_compiling",
     "the paths of this color meet in too many ways for a constant expression: give them strides that divide "
     "each other or several "
     "colors, or check at run time with require(layout)"},
    {fault_kind::the_route_goes_in_a_circle, "the_route_goes_in_a_circle",
     "a wavelet that leaves through this side comes back and never ends: let one path of the circle end at "
     "the ramp"},
    {fault_kind::a_fork_meets_itself_again, "a_fork_meets_itself_again",
     "two branches of one fork meet here, so every wavelet arrives twice: end one branch before, or give it "
     "another color"},
    {fault_kind::the_routes_turn_too_often_to_check_while_compiling,
     "the_routes_turn_too_often_to_check_while_compiling",
     "too many PEs of this color may be part of a circle or of a fork that meets itself for a constant "
     "expression: give each "
     "direction of travel its own color, or check at run time with require(layout)"},
    {fault_kind::the_machine_cannot_switch_the_color, "the_machine_cannot_switch_the_color",
     "the machine has no switch for this color: choose one of those that it has (wse3: 0 to 9, 12, 13, 16, "
     "17, 20 and 21), "
     "or leave the switches out of the path"},
    {fault_kind::a_position_changes_both_sides, "a_position_changes_both_sides",
     "a switch position of this machine changes what the router listens to or where it sends, not both: "
     "change one side, and "
     "the other one in the next position"},
    {fault_kind::a_position_has_several_ports, "a_position_has_several_ports",
     "the side that a switch position changes has one port: only position 0 may have several"},
    {fault_kind::no_command_reaches_the_position, "no_command_reaches_the_position",
     "no control wavelet can bring the switch into this position: let a program whose path leads here say "
     "steers<color, switch_adv> in its table, make the switch a ring, or leave the position out"},
    {fault_kind::no_router_takes_the_command, "no_router_takes_the_command",
     "the program sends commands on this color, but none of its wavelets pass a router with a switch: give a "
     "path on the way "
     "switches{...}, or take steers<color, ...> out of the table"},
    {fault_kind::no_program_reopens_the_color, "no_program_reopens_the_color",
     "the path is closed, or of a later phase, and the program of this PE cannot open it: give the program "
     "on_teardown<color, &part::next> and let it call me.reopen(color, phase{n})"},
    {fault_kind::the_phase_has_no_beginning, "the_phase_has_no_beginning",
     "a router comes to a later phase of a color from phase 0: give this PE a path of phase 0, with "
     "starts_closed if nothing "
     "may pass in it"},
    {fault_kind::the_filter_has_nothing_to_filter, "the_filter_has_nothing_to_filter",
     "a filter keeps some of the wavelets that a path brings to the ramp, and this path never goes there: "
     "leave the filter "
     "out, or add the ramp"},
    {fault_kind::the_payload_has_no_index, "the_payload_has_no_index",
     "a range filter looks at the index in the high half of a wavelet, and this payload has two bytes: use "
     "color<halves<T>> "
     "or another filter"},
    {fault_kind::the_pe_has_too_many_filters, "the_pe_has_too_many_filters",
     "the colors that are filtered on this PE need more filters than it has: filter fewer of them, or on "
     "different PEs"},
    {fault_kind::two_programs_run_on_one_pe, "two_programs_run_on_one_pe",
     "a PE runs one program: make the areas of the two placements disjoint"},
    {fault_kind::the_program_takes_one_color_twice, "the_program_takes_one_color_twice",
     "a wavelet goes to one data task or to the descriptors that read its color, not to both: keep one of "
     "them, or use two colors"},
    {fault_kind::the_program_binds_one_control_id_twice, "the_program_binds_one_control_id_twice",
     "a control wavelet activates one task: give each control task its own id"},
    {fault_kind::no_program_takes_the_delivery, "no_program_takes_the_delivery",
     "the path goes to the ramp of a PE without a program: place one that takes this color, or leave the "
     "ramp out of the path"},
    {fault_kind::the_program_does_not_take_the_color, "the_program_does_not_take_the_color",
     "the path goes to the ramp of a program that neither binds a data task to this color nor reads it: add "
     "the entry to the "
     "program's table, or leave the ramp out of the path"},
    {fault_kind::no_program_sends_into_the_path, "no_program_sends_into_the_path",
     "the path comes from the ramp of a PE without a program: place one that sends this color, or leave the "
     "ramp out of the path"},
    {fault_kind::the_program_does_not_send_the_color, "the_program_does_not_send_the_color",
     "the path comes from the ramp of a program that does not send this color: add the entry to the "
     "program's table, or leave the "
     "ramp out of the path"},
    {fault_kind::the_program_takes_another_type, "the_program_takes_another_type",
     "the path brings another type than the program takes from this color: give both the same color<T>"},
    {fault_kind::the_program_sends_another_type, "the_program_sends_another_type",
     "the path carries another type than the program sends in this color: give both the same color<T>"},
    {fault_kind::no_path_feeds_the_program, "no_path_feeds_the_program",
     "the program takes this color, but on none of its PEs a path goes to the ramp: add one, or take the "
     "color out of the program's "
     "table"},
    {fault_kind::no_path_takes_what_the_program_sends, "no_path_takes_what_the_program_sends",
     "the program sends this color, but on none of its PEs a path comes from the ramp: add one, or take the "
     "color out of the "
     "program's table"},
    {fault_kind::no_path_feeds_the_program_on_this_pe, "no_path_feeds_the_program_on_this_pe",
     "the program takes this color, but here no path goes to the ramp: add one, or place a program without "
     "the color here"},
    {fault_kind::no_path_takes_what_the_program_sends_on_this_pe,
     "no_path_takes_what_the_program_sends_on_this_pe",
     "the program sends this color, but here no path comes from the ramp: add one, or place a program "
     "without the color here"},
    {fault_kind::the_program_has_too_many_local_tasks, "the_program_has_too_many_local_tasks",
     "the machine has fewer ids for local tasks: join tasks that run after each other"},
    {fault_kind::the_program_has_too_many_data_tasks, "the_program_has_too_many_data_tasks",
     "the machine has fewer ids for data tasks: read some of the colors with descriptors, or share a color"},
    {fault_kind::the_program_has_too_many_tasks, "the_program_has_too_many_tasks",
     "data and local tasks together have fewer ids: join tasks that run after each other"},
    {fault_kind::the_control_id_does_not_exist, "the_control_id_does_not_exist",
     "the ids of control tasks begin at 0 and end below the machine's number of them: choose one of these"},
    {fault_kind::the_program_needs_too_many_input_queues, "the_program_needs_too_many_input_queues",
     "each of these colors needs an input queue of its own: let fewer colors arrive at one PE"},
    {fault_kind::the_program_needs_too_many_output_queues, "the_program_needs_too_many_output_queues",
     "each color that a PE sends needs an output queue of its own: send fewer colors from one PE"},
    {fault_kind::the_program_is_larger_than_the_memory, "the_program_is_larger_than_the_memory",
     "the members of the program need more bytes than a PE has: use smaller or fewer arrays, or more PEs"},
    {fault_kind::nobody_can_start_the_color, "nobody_can_start_the_color",
     "every program that sends this color first waits for colors that wait for it: give one of them a launch "
     "function or an active "
     "local task, or feed one of the colors from a stream_in"},
};

constexpr const fault_text& text_of(fault_kind what) { return fault_texts[static_cast<int>(what)]; }

}  // namespace wsl
