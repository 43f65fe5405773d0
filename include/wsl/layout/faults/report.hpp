// SPDX-License-Identifier: MIT
// What the compiler says of a faulty layout. Each fault is a function template whose name is the fault, whose
// arguments are the place, and whose static_assert is the sentence: compilers print all three, and they print
// numbers and enumerators readably where they print structures as digits. Names of programs do not fit there;
// require(layout) tells them at run time.
#pragma once
#include "programs.hpp"
#include "routes.hpp"

namespace wsl::error {

/// Of a fault that only a layout with routes that change can have: in errors/switches.hpp, which comes with
/// such routes.
template <const diagnostic& D>
constexpr bool report_change();

/// Stops the compilation with the sentence of the diagnostic.
template <const diagnostic& D>
constexpr bool report() {
  constexpr color_id color{D.color};
  constexpr column x{D.at.x};
  constexpr row y{D.at.y};
  constexpr number have{D.have}, limit{D.limit};
  if constexpr (D.what == fault_kind::two_paths_of_one_color_cover_one_pe)
    return two_paths_of_one_color_cover_one_pe<color, x, y>();
  else if constexpr (D.what == fault_kind::a_path_with_several_inputs_must_say_merge)
    return a_path_with_several_inputs_must_say_merge<color, x, y>();
  else if constexpr (D.what == fault_kind::the_path_leaves_the_grid)
    return the_path_leaves_the_grid<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::the_neighbour_does_not_listen)
    return the_neighbour_does_not_listen<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::the_path_listens_beyond_the_grid)
    return the_path_listens_beyond_the_grid<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::the_path_listens_to_silence)
    return the_path_listens_to_silence<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::the_neighbour_expects_another_type)
    return the_neighbour_expects_another_type<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::the_stream_in_enters_no_path)
    return the_stream_in_enters_no_path<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::the_stream_out_leaves_no_path)
    return the_stream_out_leaves_no_path<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::the_stream_carries_another_type)
    return the_stream_carries_another_type<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::two_streams_use_one_side_of_one_pe)
    return two_streams_use_one_side_of_one_pe<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::two_modules_claim_one_color)
    return two_modules_claim_one_color<color, x, y>();
  else if constexpr (D.what == fault_kind::the_paths_meet_too_often_to_check_while_compiling)
    return the_paths_meet_too_often_to_check_while_compiling<color, x, y>();
  else if constexpr (D.what == fault_kind::the_route_goes_in_a_circle)
    return the_route_goes_in_a_circle<color, x, y, D.side>();
  else if constexpr (D.what == fault_kind::a_fork_meets_itself_again)
    return a_fork_meets_itself_again<color, x, y, column{D.fork.x}, row{D.fork.y}>();
  else if constexpr (D.what == fault_kind::the_routes_turn_too_often_to_check_while_compiling)
    return the_routes_turn_too_often_to_check_while_compiling<color, x, y, have, limit>();
  else if constexpr (D.what == fault_kind::no_router_takes_the_command)
    return no_router_takes_the_command<color, x, y>();
  else if constexpr (D.what == fault_kind::two_programs_run_on_one_pe)
    return two_programs_run_on_one_pe<x, y>();
  else if constexpr (D.what == fault_kind::the_program_takes_one_color_twice)
    return the_program_takes_one_color_twice<color, x, y>();
  else if constexpr (D.what == fault_kind::the_program_binds_one_control_id_twice)
    return the_program_binds_one_control_id_twice<have, x, y>();
  else if constexpr (D.what == fault_kind::no_program_takes_the_delivery)
    return no_program_takes_the_delivery<color, x, y>();
  else if constexpr (D.what == fault_kind::the_program_does_not_take_the_color)
    return the_program_does_not_take_the_color<color, x, y>();
  else if constexpr (D.what == fault_kind::no_program_sends_into_the_path)
    return no_program_sends_into_the_path<color, x, y>();
  else if constexpr (D.what == fault_kind::the_program_does_not_send_the_color)
    return the_program_does_not_send_the_color<color, x, y>();
  else if constexpr (D.what == fault_kind::the_program_takes_another_type)
    return the_program_takes_another_type<color, x, y>();
  else if constexpr (D.what == fault_kind::the_program_sends_another_type)
    return the_program_sends_another_type<color, x, y>();
  else if constexpr (D.what == fault_kind::no_path_feeds_the_program)
    return no_path_feeds_the_program<color, x, y>();
  else if constexpr (D.what == fault_kind::no_path_takes_what_the_program_sends)
    return no_path_takes_what_the_program_sends<color, x, y>();
  else if constexpr (D.what == fault_kind::no_path_feeds_the_program_on_this_pe)
    return no_path_feeds_the_program_on_this_pe<color, x, y>();
  else if constexpr (D.what == fault_kind::no_path_takes_what_the_program_sends_on_this_pe)
    return no_path_takes_what_the_program_sends_on_this_pe<color, x, y>();
  else if constexpr (D.what == fault_kind::the_program_has_too_many_local_tasks)
    return the_program_has_too_many_local_tasks<have, limit, x, y>();
  else if constexpr (D.what == fault_kind::the_program_has_too_many_data_tasks)
    return the_program_has_too_many_data_tasks<have, limit, x, y>();
  else if constexpr (D.what == fault_kind::the_program_has_too_many_tasks)
    return the_program_has_too_many_tasks<have, limit, x, y>();
  else if constexpr (D.what == fault_kind::the_control_id_does_not_exist)
    return the_control_id_does_not_exist<have, limit, x, y>();
  else if constexpr (D.what == fault_kind::the_program_needs_too_many_input_queues)
    return the_program_needs_too_many_input_queues<have, limit, x, y>();
  else if constexpr (D.what == fault_kind::the_program_needs_too_many_output_queues)
    return the_program_needs_too_many_output_queues<have, limit, x, y>();
  else if constexpr (D.what == fault_kind::the_program_is_larger_than_the_memory)
    return the_program_is_larger_than_the_memory<have, limit, x, y>();
  else if constexpr (D.what == fault_kind::nobody_can_start_the_color)
    return nobody_can_start_the_color<color, x, y, color_mask{D.colors}>();
  else if constexpr (D.found()) return report_change<D>();
  else return true;
}

}  // namespace wsl::error
