// SPDX-License-Identifier: MIT
// The table of faults in a layout. A row holds the name of a fault, which reads as a sentence, its locator,
// and its remedy. From the rows this header makes the enumeration `fault_kind`, the texts that a run throws
// (explain.hpp), and the class templates that print name, place and text where a constant layout is checked
// (check.hpp). tests/check/faults compares the rows with docs/errors.md and with the tests.
//
// The rows are a macro because nothing else turns one word into an enumerator, a string and a name that GCC
// 12 prints in a static_assert. It is undefined at the end of the header.
#pragma once
#include "../../core/coord.hpp"

// clang-format off
#define WSL_FAULTS(row) \
  /* paths */ \
  row(two_paths_of_one_color_cover_one_pe, color, \
      "a router has one route for each color: make the areas of the two paths disjoint, or give one of " \
      "them another color") \
  row(a_path_with_several_inputs_must_say_merge, color, \
      "no program decides the order of wavelets that come from several ports: say merges as the last " \
      "argument of the path if that is meant, or leave one port before >>") \
  row(the_path_leaves_the_grid, link, \
      "there is no PE on this side: end the path one PE earlier, as in columns(0, edge - 1), or bind a " \
      "stream_out to this side") \
  row(the_neighbour_does_not_listen, link, \
      "the neighbour on this side has no path of this color that comes from here: give it one, or do not " \
      "send to this side") \
  row(the_path_listens_beyond_the_grid, link, \
      "there is no PE on this side: begin the path one PE later, as in columns(1, edge), or bind a " \
      "stream_in to this side") \
  row(the_path_listens_to_silence, link, \
      "the neighbour on this side has no path of this color that goes here: give it one, or do not listen " \
      "to this side") \
  row(the_neighbour_expects_another_type, link, \
      "the path of the neighbour on this side carries another type in the same color: give both paths the " \
      "same color<T>") \
  row(the_stream_in_enters_no_path, link, \
      "no path of this color comes from the side of the stream_in: add one, or bind the stream where such " \
      "a path is") \
  row(the_stream_out_leaves_no_path, link, \
      "no path of this color goes to the side of the stream_out: add one, or bind the stream where such a " \
      "path is") \
  row(the_stream_carries_another_type, link, \
      "the path that the host stream meets carries another type in the same color: give both the same " \
      "color<T>") \
  row(two_streams_use_one_side_of_one_pe, link, \
      "two host streams of one color and direction share a link, so their words have no order: keep one, " \
      "or use two colors") \
  row(two_modules_claim_one_color, color, \
      "two library modules own the same color in the same place: give one of them other colors, or another " \
      "region") \
  row(the_paths_meet_too_often_to_check_while_compiling, color, \
      "the paths of this color meet in too many ways for a constant expression: give them strides that " \
      "divide each other or several colors, or check at run time with require(layout)") \
  /* cycles */ \
  row(the_route_goes_in_a_circle, link, \
      "a wavelet that leaves through this side comes back and never ends: let one path of the circle end " \
      "at the ramp") \
  row(a_fork_meets_itself_again, fork, \
      "two branches of one fork meet here, so every wavelet arrives twice: end one branch before, or give " \
      "it another color") \
  row(the_routes_turn_too_often_to_check_while_compiling, color_limit, \
      "too many PEs of this color may be part of a circle or of a fork that meets itself for a constant " \
      "expression: give each direction of travel its own color, or check at run time with require(layout)") \
  /* switches and phases */ \
  row(the_machine_cannot_switch_the_color, color, \
      "the machine has no switch for this color: choose one of those that it has (wse3: 0 to 9, 12, 13, " \
      "16, 17, 20 and 21), or leave the switches out of the path") \
  row(a_position_changes_both_sides, position, \
      "a switch position of this machine changes what the router listens to or where it sends, not both: " \
      "change one side, and the other one in the next position") \
  row(a_position_has_several_ports, position, \
      "the side that a switch position changes has one port: only position 0 may have several") \
  row(no_command_reaches_the_position, position, \
      "no control wavelet can bring the switch into this position: let a program whose path leads here say " \
      "steers<color, switch_adv> in its task list, make the switch a ring, or leave the position out") \
  row(no_router_takes_the_command, color, \
      "the program sends commands on this color, but none of its wavelets pass a router with a switch: " \
      "give a path on the way switches{...}, or take steers<color, ...> out of the task list") \
  row(no_program_reopens_the_color, color, \
      "the path is closed, or of a later phase, and the program of this PE cannot open it: give the " \
      "program on_teardown<color, &part::next> and let it call me.reopen(color, phase{n})") \
  row(the_phase_has_no_beginning, color, \
      "a router comes to a later phase of a color from phase 0: give this PE a path of phase 0, with " \
      "starts_closed if nothing may pass in it") \
  /* filters */ \
  row(the_filter_has_nothing_to_filter, color, \
      "a filter keeps some of the wavelets that a path brings to the ramp, and this path never goes there: " \
      "leave the filter out, or add the ramp") \
  row(the_payload_has_no_index, color, \
      "a range filter looks at the index in the high half of a wavelet, and this payload has two bytes: " \
      "use color<halves<T>> or another filter") \
  row(the_pe_has_too_many_filters, limit, \
      "the colors that are filtered on this PE need more filters than it has: filter fewer of them, or on " \
      "different PEs") \
  /* programs and paths */ \
  row(two_programs_run_on_one_pe, pe, \
      "a PE runs one program: make the areas of the two placements disjoint") \
  row(the_program_takes_one_color_twice, color, \
      "a wavelet goes to one data task or to the descriptors that read its color, not to both: keep one of " \
      "them, or use two colors") \
  row(the_program_binds_one_control_id_twice, id, \
      "a control wavelet activates one task: give each control task its own id") \
  row(no_program_takes_the_delivery, color, \
      "the path goes to the ramp of a PE without a program: place one that takes this color, or leave the " \
      "ramp out of the path") \
  row(the_program_does_not_take_the_color, color, \
      "the path goes to the ramp of a program that neither binds a data task to this color nor reads it: " \
      "add the entry to the program's task list, for a module's color use<&part::member>, or leave the " \
      "ramp out of the path") \
  row(no_program_sends_into_the_path, color, \
      "the path comes from the ramp of a PE without a program: place one that sends this color, or leave " \
      "the ramp out of the path") \
  row(the_program_does_not_send_the_color, color, \
      "the path comes from the ramp of a program that does not send this color: add the entry to the " \
      "program's task list, for a module's color use<&part::member>, or leave the ramp out of the path") \
  row(the_program_takes_another_type, color, \
      "the path brings another type than the program takes from this color: give both the same color<T>") \
  row(the_program_sends_another_type, color, \
      "the path carries another type than the program sends in this color: give both the same color<T>") \
  row(no_path_feeds_the_program, color, \
      "the program takes this color, but no path brings it to the ramp of any of its PEs: add one, for a " \
      "module's color .wire(module), or take the color out of the program's task list") \
  row(no_path_takes_what_the_program_sends, color, \
      "the program sends this color, but no path takes it from the ramp of any of its PEs: add one, for a " \
      "module's color .wire(module), or take the color out of the program's task list") \
  row(no_path_feeds_the_program_on_this_pe, color, \
      "the program takes this color, but no path brings it to the ramp here: add one, or place a program " \
      "without the color here") \
  row(no_path_takes_what_the_program_sends_on_this_pe, color, \
      "the program sends this color, but no path takes it from the ramp here: add one, or place a program " \
      "without the color here") \
  /* the limits of a PE */ \
  row(the_program_has_too_many_local_tasks, limit, \
      "the machine has fewer ids for local tasks: join tasks that run after each other") \
  row(the_program_has_too_many_data_tasks, limit, \
      "the machine has fewer ids for data tasks: read some of the colors with descriptors, or share a " \
      "color") \
  row(the_program_has_too_many_tasks, limit, \
      "the machine has fewer ids for data and local tasks together: join tasks that run after each other") \
  row(the_control_id_does_not_exist, id, \
      "the ids of control tasks begin at 0 and end below the machine's number of them: choose one of these") \
  row(the_program_needs_too_many_input_queues, limit, \
      "each color that arrives at a PE needs an input queue of its own: let fewer colors arrive at this PE") \
  row(the_program_needs_too_many_output_queues, limit, \
      "each color that a PE sends needs an output queue of its own: send fewer colors from this PE") \
  row(the_program_is_larger_than_the_memory, limit, \
      "the members of the program need more bytes than a PE has: use smaller or fewer arrays, or more PEs") \
  /* the first word */ \
  row(nobody_can_start_the_color, waiting, \
      "every program that sends this color first waits for colors that wait for it: give one of them a " \
      "launch function or an active local task, or feed one of the colors from a stream_in")
// clang-format on

namespace wsl {

#define WSL_ENUMERATOR(name, locator, text) name,
enum class fault_kind : u8 { none, WSL_FAULTS(WSL_ENUMERATOR) };
#undef WSL_ENUMERATOR

/// The first fault that a rule found, with the details of its sentence. Fields that a fault does not use keep
/// their defaults.
struct diagnostic {
  fault_kind kind = fault_kind::none;
  int color = -1;
  coord at{-1, -1};         ///< the PE
  port side = port::ramp;   ///< the side of that PE
  coord fork{-1, -1};       ///< the PE where branches part
  int have = 0, limit = 0;  ///< how many there are and how many there may be, or a number and the largest one
  u64 colors = 0;           ///< the colors that wait for each other, as a mask
  const char* name = "";    ///< a program, a module or a payload ...
  const char* other = "";   ///< ... and the one it conflicts with
  constexpr bool found() const { return kind != fault_kind::none; }
};

namespace faults {

/// The details that locate a fault in addition to the PE.
enum class fault_locator : u8 { pe, color, link, fork, limit, color_limit, position, id, waiting };

struct fault_text {
  fault_kind kind;
  const char* name;
  fault_locator locator;
  const char* text;
};

/// One entry for each enumerator, in the same order.
#define WSL_TEXT(name, locator, text) {fault_kind::name, #name, fault_locator::locator, text},
inline constexpr fault_text fault_texts[] = {
    {fault_kind::none, "none", fault_locator::pe, "the layout has no fault"}, WSL_FAULTS(WSL_TEXT)};
#undef WSL_TEXT

inline constexpr int fault_count = sizeof fault_texts / sizeof fault_texts[0];
constexpr const fault_text& text_of(fault_kind kind) { return fault_texts[static_cast<int>(kind)]; }

}  // namespace faults

/// Compilers print the name of a class template with its arguments, and numbers as arguments of these
/// readably where they would print structures as digits.
namespace faults {

// The arguments of the templates below; they are never defined.
// clang-format off
template <int id> class color_id;
template <int x> class column;
template <int y> class row;
template <port p> class side;
template <int x> class fork_column;
template <int y> class fork_row;
template <int n> class has;
template <int n> class limit;
template <int n> class position;
template <int id> class control_id;
template <u64 mask> class waits_for;
// clang-format on

/// The answer to `routed<L>()`: true, after the compiler has printed a sentence as well, so that there is no
/// second.
struct verdict {
  constexpr operator bool() const { return true; }
};
struct none : verdict {};

template <class...>
inline constexpr bool never = false;

/// The layout's initializer is not a constant expression, so there is nothing to check.
template <const auto& Layout>
struct the_layout_is_not_a_constant : verdict {
  static_assert(&Layout == nullptr,
                "wsl: the layout is not a constant: mend the error above, or declare the layout constexpr");
};

// A line of the table; GCC prints it with every fault.
#define WSL_MESSAGE(name, locator, text)          \
  template <class... Where>                       \
  struct name : verdict {                         \
    static_assert(never<Where...>, "wsl: " text); \
  };
WSL_FAULTS(WSL_MESSAGE)
#undef WSL_MESSAGE

/// A type, named without being completed: only its completion prints the sentence.
template <class T>
struct named {
  using type = T;
};

template <const diagnostic& D, template <class...> class Fault>
consteval auto located() {
  using x = column<D.at.x>;
  using y = row<D.at.y>;
  using c = color_id<D.color>;
  constexpr fault_locator l = text_of(D.kind).locator;
  if constexpr (l == fault_locator::pe) return named<Fault<x, y>>{};
  else if constexpr (l == fault_locator::color) return named<Fault<c, x, y>>{};
  else if constexpr (l == fault_locator::link) return named<Fault<c, x, y, side<D.side>>>{};
  else if constexpr (l == fault_locator::fork)
    return named<Fault<c, x, y, fork_column<D.fork.x>, fork_row<D.fork.y>>>{};
  else if constexpr (l == fault_locator::limit) return named<Fault<has<D.have>, limit<D.limit>, x, y>>{};
  else if constexpr (l == fault_locator::color_limit)
    return named<Fault<c, x, y, has<D.have>, limit<D.limit>>>{};
  else if constexpr (l == fault_locator::position) return named<Fault<c, x, y, position<D.have>>>{};
  else if constexpr (l == fault_locator::id) return named<Fault<control_id<D.have>, x, y>>{};
  else return named<Fault<c, x, y, waits_for<D.colors>>>{};
}

/// The type whose completion prints the sentence of a diagnostic.
template <const diagnostic& D>
consteval auto sentence_of() {
#define WSL_CASE(name, locator, text)                                  \
  if constexpr (D.kind == fault_kind::name) return located<D, name>(); \
  else
  WSL_FAULTS(WSL_CASE) return named<none>{};
#undef WSL_CASE
}

}  // namespace faults
}  // namespace wsl

#undef WSL_FAULTS
