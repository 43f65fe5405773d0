// SPDX-License-Identifier: MIT
// What the compiler says of switches and filters. The sentences are those of fault.hpp.
#pragma once
#include "report.hpp"

namespace wsl::error {

template <color_id color, column x, row y>
constexpr bool the_machine_cannot_switch_the_color() {
  static_assert(never<color>,
                "wsl: the machine has no switch for this color: choose one of those that it has (wse3: 0 to "
                "9, 12, 13, 16, "
                "17, 20 and 21), or leave the switches out of the path");
  return true;
}

template <color_id color, column x, row y, number position>
constexpr bool a_position_changes_both_sides() {
  static_assert(never<color>,
                "wsl: a switch position of this machine changes what the router listens to or where it "
                "sends, not both: "
                "change one side, and the other one in the next position");
  return true;
}

template <color_id color, column x, row y, number position>
constexpr bool a_position_has_several_ports() {
  static_assert(
      never<color>,
      "wsl: the side that a switch position changes has one port: only position 0 may have several");
  return true;
}

template <color_id color, column x, row y, number position>
constexpr bool no_command_reaches_the_position() {
  static_assert(never<color>,
                "wsl: no control wavelet can bring the switch into this position: let a program whose path "
                "leads here say "
                "steers<color, switch_adv> in its table, make the switch a ring, or leave the position out");
  return true;
}

template <color_id color, column x, row y>
constexpr bool no_program_reopens_the_color() {
  static_assert(never<color>,
                "wsl: the path is closed, or of a later phase, and the program of this PE cannot open it: "
                "give the program "
                "on_teardown<color, &part::next> and let it call me.reopen(color, phase{n})");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_phase_has_no_beginning() {
  static_assert(
      never<color>,
      "wsl: a router comes to a later phase of a color from phase 0: give this PE a path of phase 0, with "
      "starts_closed if nothing may pass in it");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_filter_has_nothing_to_filter() {
  static_assert(never<color>,
                "wsl: a filter keeps some of the wavelets that a path brings to the ramp, and this path "
                "never goes there: "
                "leave the filter out, or add the ramp");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_payload_has_no_index() {
  static_assert(never<color>,
                "wsl: a range filter looks at the index in the high half of a wavelet, and this payload has "
                "two bytes: use "
                "color<halves<T>> or another filter");
  return true;
}

template <number have, number limit, column x, row y>
constexpr bool the_pe_has_too_many_filters() {
  static_assert(never<have>,
                "wsl: the colors that are filtered on this PE need more filters than it has: filter fewer of "
                "them, or on "
                "different PEs");
  return true;
}

template <const diagnostic& D>
constexpr bool report_change() {
  constexpr color_id color{D.color};
  constexpr column x{D.at.x};
  constexpr row y{D.at.y};
  constexpr number have{D.have}, limit{D.limit};
  if constexpr (D.what == fault_kind::the_machine_cannot_switch_the_color)
    return the_machine_cannot_switch_the_color<color, x, y>();
  else if constexpr (D.what == fault_kind::a_position_changes_both_sides)
    return a_position_changes_both_sides<color, x, y, have>();
  else if constexpr (D.what == fault_kind::a_position_has_several_ports)
    return a_position_has_several_ports<color, x, y, have>();
  else if constexpr (D.what == fault_kind::no_command_reaches_the_position)
    return no_command_reaches_the_position<color, x, y, have>();
  else if constexpr (D.what == fault_kind::no_program_reopens_the_color)
    return no_program_reopens_the_color<color, x, y>();
  else if constexpr (D.what == fault_kind::the_phase_has_no_beginning)
    return the_phase_has_no_beginning<color, x, y>();
  else if constexpr (D.what == fault_kind::the_filter_has_nothing_to_filter)
    return the_filter_has_nothing_to_filter<color, x, y>();
  else if constexpr (D.what == fault_kind::the_payload_has_no_index)
    return the_payload_has_no_index<color, x, y>();
  else if constexpr (D.what == fault_kind::the_pe_has_too_many_filters)
    return the_pe_has_too_many_filters<have, limit, x, y>();
  else return true;
}

}  // namespace wsl::error
