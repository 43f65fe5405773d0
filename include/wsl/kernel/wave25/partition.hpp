// SPDX-License-Identifier: MIT
// The distribution of the grid's lines along z over a rectangle of PEs, and the lines that cross between
// them. A PE owns a block of x times y lines. Before it marches `depth` steps on its own it needs the lines
// up to 4 * depth cells away, and recomputes some of its neighbours' cells instead of communicating after
// every step (overlapped temporal blocking). Where blocks are narrower than that - on a wafer a block is one
// line - lines come from PEs further away, passed on in stages. With depth 1 this exchanges the same lines as
// the localized broadcast of arXiv 2204.03775. Where blocks have planes enough, nothing is recomputed in x:
// their borders drift there, see drift.hpp.
#pragma once
#include <array>

#include "../../core/port.hpp"
#include "problem.hpp"

namespace wsl::wave25 {

using grid::range, grid::lines, grid::overlap, grid::share;

/// How wide what crosses a border is: of the field now, of the one before it, and of what the border of the
/// grid remembers.
using widths = std::array<int, 3>;

struct partition {
  cells size;
  int wide = 1, high = 1;  ///< PEs
  int depth = 1;           ///< steps between two exchanges

  /// Whether the borders between blocks drift in x. A block must have the planes that its neighbours need.
  bool drifts() const { return wide > 1 && depth > 1 && size.x / wide >= 2 * reach * depth; }
  /// How far a border drifts, in planes: in the mean it is in the middle between its place and the end of its
  /// way to the west, and there blocks are equal.
  int way() const { return drifts() ? reach * depth : 0; }

  /// With the borders in their places.
  lines own(coord pe) const { return {{border(pe.x), border(pe.x + 1)}, share(size.y, high, pe.y)}; }
  /// The lines that a PE computes in a step after which it marches `more` steps without an exchange, if
  /// borders do not drift.
  lines computed(coord pe, int more) const { return grown(own(pe), reach * more); }
  /// Its own lines wherever the borders are; those that it computes in any step; and all whose cells it has.
  lines ever_own(coord pe) const { return {ever(pe, 0), own(pe).y}; }
  lines ever_computed(coord pe) const { return {ever(pe, depth - 1), computed(pe, depth - 1).y}; }
  lines known(coord pe) const { return {ever(pe, depth), computed(pe, depth).y}; }

  /// The stages of an exchange before a march. With depth 1 corners are not needed, and both axes proceed at
  /// once; otherwise x goes first, and y takes along the lines that came from the sides. Where borders drift,
  /// nothing is needed in x.
  int stages() const {
    return depth == 1 ? std::max(x_rounds(), rounds(size.y, high)) : x_rounds() + rounds(size.y, high);
  }

  /// What is exchanged before a march: afterwards the field is known 4 * depth cells around a block; the
  /// others are only needed where cells are computed.
  widths crossing() const {
    const int halo = reach * depth;
    return {halo, halo - reach, halo - reach};
  }
  /// The lines, within `width` cells of its block, that a PE receives from a side in a stage: the
  /// neighbour's own in the first round of an axis, those of the PE behind it in the second, and so on.
  /// Borders that drift are `drifted` planes west of their places.
  lines incoming(coord pe, int stage, port side, int width, int drifted = 0) const {
    const bool along_x = side == east || side == west;
    const int round = (along_x || depth == 1 ? stage : stage - x_rounds()) + 1;
    if (round < 1 || (along_x && round > x_rounds())) return {};
    const lines mine{planes(pe, drifted), own(pe).y};
    if (along_x) return {from_part(size.x, wide, pe.x, side == west ? -round : round, width), mine.y};
    return {mine.x.grown(drifts() ? 0 : reach * (depth - 1), size.x),
            from_part(size.y, high, pe.y, side == north ? -round : round, width)};
  }
  lines outgoing(coord pe, int stage, port side, int width, int drifted = 0) const {
    return incoming(pe + step(side), stage, opposite(side), width, drifted);
  }
  /// The planes of a PE's block while borders that drift are `drifted` planes west of their places.
  range planes(coord pe, int drifted) const {
    const range r = own(pe).x;
    return {pe.x == 0 ? r.from : r.from - drifted, pe.x + 1 == wide ? r.to : r.to - drifted};
  }

 private:
  lines grown(const lines& l, int by) const { return {l.x.grown(by, size.x), l.y.grown(by, size.y)}; }
  int border(int i) const {
    return (i < wide ? share(size.x, wide, i).from : size.x) + (0 < i && i < wide ? way() / 2 : 0);
  }
  range ever(coord pe, int steps) const {
    return drifts() ? range{planes(pe, way()).from, own(pe).x.to} : computed(pe, steps).x;
  }
  int x_rounds() const { return drifts() ? 0 : rounds(size.x, wide); }
  int rounds(int n, int parts) const { return std::min(parts - 1, (reach * depth - 1) / (n / parts) + 1); }
  static range from_part(int n, int parts, int i, int away, int width) {
    if (i + away < 0 || i + away >= parts) return {};
    const range mine = share(n, parts, i), theirs = share(n, parts, i + away);
    return overlap(theirs, away < 0 ? range{mine.from - width, mine.from} : range{mine.to, mine.to + width});
  }
};

}  // namespace wsl::wave25
