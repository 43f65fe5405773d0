// SPDX-License-Identifier: MIT
// What the compiler says of paths, streams, claims and cycles. The sentences are those of fault.hpp.
#pragma once
#include "place.hpp"

namespace wsl::error {

template <color_id color, column x, row y>
constexpr bool two_paths_of_one_color_cover_one_pe() {
  static_assert(never<color>,
                "wsl: a router has one route for each color: make the areas of the two paths disjoint, or "
                "give one of them "
                "another color");
  return true;
}

template <color_id color, column x, row y>
constexpr bool a_path_with_several_inputs_must_say_merge() {
  static_assert(never<color>,
                "wsl: no program decides the order of wavelets that come from several ports: say merges as "
                "the last argument of "
                "the path if that is meant, or leave one port before >>");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_path_leaves_the_grid() {
  static_assert(never<color>,
                "wsl: there is no PE on this side: end the path one PE earlier, as in columns(0, edge - 1), "
                "or bind a stream_out "
                "to this side");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_neighbour_does_not_listen() {
  static_assert(never<color>,
                "wsl: the neighbour on this side has no path of this color that comes from here: give it "
                "one, or do not send to "
                "this side");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_path_listens_beyond_the_grid() {
  static_assert(never<color>,
                "wsl: there is no PE on this side: begin the path one PE later, as in columns(1, edge), or "
                "bind a stream_in to "
                "this side");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_path_listens_to_silence() {
  static_assert(never<color>,
                "wsl: the neighbour on this side has no path of this color that goes here: give it one, or "
                "do not listen to this "
                "side");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_neighbour_expects_another_type() {
  static_assert(never<color>,
                "wsl: the path of the neighbour on this side carries another type in the same color: give "
                "both paths the same "
                "color<T>");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_stream_in_enters_no_path() {
  static_assert(never<color>,
                "wsl: no path of this color comes from the side of the stream_in: add one, or bind the "
                "stream where such a path "
                "is");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_stream_out_leaves_no_path() {
  static_assert(never<color>,
                "wsl: no path of this color goes to the side of the stream_out: add one, or bind the stream "
                "where such a path is");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_stream_carries_another_type() {
  static_assert(never<color>,
                "wsl: the path that the host stream meets carries another type in the same color: give both "
                "the same color<T>");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool two_streams_use_one_side_of_one_pe() {
  static_assert(never<color>,
                "wsl: two host streams of one color and direction share a link, so their words have no "
                "order: keep one, or use "
                "two colors");
  return true;
}

template <color_id color, column x, row y>
constexpr bool two_modules_claim_one_color() {
  static_assert(never<color>,
                "wsl: two library modules own the same color in the same place: give one of them other "
                "colors, or another region");
  return true;
}

template <color_id color, column x, row y>
constexpr bool the_paths_meet_too_often_to_check_while_compiling() {
  static_assert(never<color>,
                "wsl: the paths of this color meet in too many ways for a constant expression: give them "
                "strides that divide "
                "each other or several colors, or check at run time with require(layout)");
  return true;
}

template <color_id color, column x, row y, port side>
constexpr bool the_route_goes_in_a_circle() {
  static_assert(never<color>,
                "wsl: a wavelet that leaves through this side comes back and never ends: let one path of the "
                "circle end at the "
                "ramp");
  return true;
}

template <color_id color, column x, row y, column fork_x, row fork_y>
constexpr bool a_fork_meets_itself_again() {
  static_assert(never<color>,
                "wsl: two branches of one fork meet here, so every wavelet arrives twice: end one branch "
                "before, or give it "
                "another color");
  return true;
}

template <color_id color, column x, row y, number have, number limit>
constexpr bool the_routes_turn_too_often_to_check_while_compiling() {
  static_assert(
      never<color>,
      "wsl: too many PEs of this color may be part of a circle or of a fork that meets itself for a constant "
      "expression: give each direction of travel its own color, or check at run time with require(layout)");
  return true;
}

}  // namespace wsl::error
