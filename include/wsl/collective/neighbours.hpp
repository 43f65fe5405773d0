// SPDX-License-Identifier: MIT
// Links between each PE of a rectangle and its neighbours on the four sides. They take eight colors, one for
// each direction and parity, so that no PE sends and receives on one color. The module is a constant that
// wires a layout and tells programs which color leads where.
//   constexpr neighbours<f32> halo{0};   // colors 0 to 7
// See examples/09_heat_stencil.cpp.
#pragma once
#include <array>

#include "line.hpp"

namespace wsl {

template <payload T>
struct neighbours {
  int first;         ///< the first of eight colors
  area where = all;  ///< the rectangle, without strides

  /// Toward east, west, north and south, from even and from odd PEs.
  constexpr color<T> toward(port side, int parity) const {
    return {first + 2 * (index_of(side) - 1) + parity};
  }

  constexpr std::array<color<T>, 8> colors() const {
    std::array<color<T>, 8> all_eight{};
    for (int i = 0; i < 8; ++i) all_eight[static_cast<std::size_t>(i)] = {first + i};
    return all_eight;
  }
  /// The side from which wavelets of the i-th color arrive. A task may ask for it: `void receive(pe& me,
  /// f32 x, port from)`.
  constexpr port arrives_from(int i) const { return opposite(every_side[i / 2]); }

  /// `as` names the module for which it works, in messages.
  constexpr void wire(layout& l, const char* as = "neighbours") const {
    const region r = collective::rectangle_of(l, where, as);
    l.claim_colors(as, first, 8, r);
    for (int p = 0; p < 2; ++p) {
      link(l, r, east, p, columns(p, wsl::edge - 1, 2), columns(p + 1, wsl::edge, 2));
      link(l, r, west, p, columns(p ? 1 : 2, wsl::edge, 2), columns(p ? 0 : 1, wsl::edge - 1, 2));
      link(l, r, south, p, rows(p, wsl::edge - 1, 2), rows(p + 1, wsl::edge, 2));
      link(l, r, north, p, rows(p ? 1 : 2, wsl::edge, 2), rows(p ? 0 : 1, wsl::edge - 1, 2));
    }
  }

  /// The rectangle ends on this side of the PE.
  bool edge(const pe& me, port side) const { return !inside(me).has(me.at() + step(side)); }
  /// How many neighbours the PE has.
  int degree(const pe& me) const {
    int n = 0;
    for (port side : every_side) n += !edge(me, side);
    return n;
  }
  /// The color on which this PE sends toward a side, and the one on which its neighbour on that side sends
  /// to it.
  color<T> out(const pe& me, port side) const { return toward(side, parity(me, side)); }
  color<T> in(const pe& me, port side) const { return toward(opposite(side), 1 - parity(me, side)); }

  /// One value to each neighbour.
  void send(pe& me, T value) const {
    for (port side : every_side)
      if (!edge(me, side)) me.send(out(me, side), value);
  }

 private:
  constexpr void link(layout& l, const region& r, port side, int p, const area& from, const area& to) const {
    l.path(toward(side, p), resolve(from, r), ramp >> side);
    l.path(toward(side, p), resolve(to, r), opposite(side) >> ramp);
  }
  region inside(const pe& me) const { return resolve(where, {0, me.width(), 0, me.height()}); }
  int parity(const pe& me, port side) const {
    const region r = inside(me);
    return (side == east || side == west ? me.x() - r.x0 : me.y() - r.y0) % 2;
  }
};

}  // namespace wsl
