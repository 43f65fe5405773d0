// SPDX-License-Identifier: MIT
// Links between each PE of a rectangle and its neighbours on the four sides: a lane (lane.hpp) to each side,
// with eight colors in all. The module is a constant that wires a layout and tells programs which color leads
// where. On a torus, in one axis or both, the lanes are rings, which take three colors each.
//   constexpr neighbours<f32> halo{0};   // colors 0 to 7
// See examples/09_heat_stencil.cpp.
#pragma once
#include "lane.hpp"

namespace wsl {

template <payload T>
struct neighbours {
  int first;         ///< the first of its colors: eight, and one more for each lane that is a ring
  area where = all;  ///< the rectangle, without strides
  /// the PEs at the west and the east edge are neighbours, and those at the north and the south edge
  bool around_x = false, around_y = false;

  /// The lane that leads to a side.
  constexpr collective::lane<T> to(port side) const {
    const bool in_x = side == east || side == west, around = in_x ? around_x : around_y;
    const int color = index_of(side) - 1,
              more = (around_x ? in_x ? color : 2 : 0) + (around_y && !in_x ? color - 2 : 0);
    return {first + 2 * color + more, side, where,
            around ? collective::lane_ends::ring : collective::lane_ends::closed};
  }

  constexpr support::inplace_vector<color<T>, 12> colors() const {
    support::inplace_vector<color<T>, 12> found;
    for (port side : every_side)
      for (color<T> c : to(side).colors()) found.push_back(c);
    return found;
  }
  /// The side from which wavelets of the i-th color arrive. A task may ask for it: `void receive(pe& me,
  /// f32 x, port from)`.
  constexpr port arrives_from(int i) const {
    for (port side : every_side)
      if ((i -= to(side).colors().size()) < 0) return opposite(side);
    return ramp;
  }

  /// `as` names the module for which it works, in messages.
  constexpr void wire(layout& l, const char* as = "neighbours") const {
    l.claim_colors(as, first, colors().size(), collective::rectangle_of(l, where, as));
    for (port side : every_side) to(side).wire_paths(l, as);
  }

  /// The rectangle ends on this side of the PE.
  bool edge(const pe& me, port side) const { return !to(side).has_next(me); }
  /// The number of neighbours of the PE.
  int degree(const pe& me) const {
    int n = 0;
    for (port side : every_side) n += !edge(me, side);
    return n;
  }
  /// The color on which this PE sends toward a side, and the one on which its neighbour on that side sends
  /// to it. Throws fault where there is no neighbour.
  color<T> out(const pe& me, port side) const { return to(side).out(me); }
  color<T> in(const pe& me, port side) const { return to(opposite(side)).in(me); }

  /// One value to each neighbour.
  void send(pe& me, T value) const {
    for (port side : every_side)
      if (!edge(me, side)) me.send(out(me, side), value);
  }
  /// A number of another type becomes the payload, as in lane::send.
  template <detail::other_than<T> Value>
  void send(pe& me, const Value& value) const {
    send(me, detail::as_payload<T>(value));
  }
  /// Words to the neighbour on a side as the destination of an operation, and its words as a source.
  fabric_output<T> fabout(const pe& me, port side, int count = as_many_as_others) const {
    return to(side).fabout(me, count);
  }
  fabric_input<T> fabin(const pe& me, port side, int count = as_many_as_others) const {
    return to(opposite(side)).fabin(me, count);
  }
};

}  // namespace wsl
