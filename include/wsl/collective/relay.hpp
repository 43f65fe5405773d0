// SPDX-License-Identifier: MIT
// A relay passes words from PE to PE along a line, as gathers, all-to-alls and chains do. A PE cannot receive
// and send on the same color, so colors alternate along the line: two are enough between neighbours, and h +
// 1 for hops over h links.
#pragma once
#include "line.hpp"

namespace wsl::collective {

inline constexpr int most_stride = 16;  ///< the largest stride of an area

/// PEs at distances from, from + every, ... last send one color over `hop` links toward the root.
template <payload T>
constexpr void wire_senders(layout& l, const arm& a, color<T> c, int from, int last, int every, int hop) {
  l.path(c, a.cells(from, last + 1, every), ramp >> a.inward());
  if (from == last) l.path(c, a.cells(from - hop + 1, from), a.outward >> a.inward());
  else
    for (int d = 1; d < hop; ++d) l.path(c, a.cells(from - d, last - d + 1, every), a.outward >> a.inward());
  l.path(c, a.cells(from - hop, last - hop + 1, every), a.outward >> ramp);
}

/// The same for distances below `to` and any stride.
template <payload T>
constexpr void wire_hops(layout& l, const arm& a, color<T> c, int from, int to, int every, int hop) {
  if (to > a.reach + 1) to = a.reach + 1;
  if (from >= to) return;
  const int last = from + (to - 1 - from) / every * every;
  if (every > most_stride)  // one area for each
    for (; from < last; from += every) wire_senders(l, a, c, from, from, 1, hop);
  wire_senders(l, a, c, from, last, every > most_stride ? 1 : every, hop);
}

/// The relay between the root of a line and both its ends, in either direction. Toward the root every PE
/// receives from the PE beyond it and sends to the one before it; outward it is the reverse.
struct relay {
  lines where;
  int first = 0;  ///< the first of two colors

  /// The color between the PE at a distance and the one before it. The arms begin with different colors,
  /// because the root uses both.
  constexpr int color_of(int side, int distance) const { return first + (distance + side) % 2; }

  template <payload T>
  constexpr void wire(layout& l) const {
    for (int side : {0, 1})
      for (int d : {1, 2})
        wire_hops<T>(l, where.side(side), {color_of(side, d)}, d, where.reach(side) + 1, 2, 1);
  }
  template <payload T>
  constexpr void wire_outward(layout& l) const {
    for (int side : {0, 1})
      for (int d : {1, 2}) {
        const arm a = where.side(side);
        l.path(color<T>{color_of(side, d)}, a.cells(d - 1, a.reach, 2), ramp >> a.outward);
        l.path(color<T>{color_of(side, d)}, a.cells(d, a.reach + 1, 2), a.inward() >> ramp);
      }
  }
};

}  // namespace wsl::collective
