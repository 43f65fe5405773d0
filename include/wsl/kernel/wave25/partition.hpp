// SPDX-License-Identifier: MIT
// The distribution of the grid's lines along z over a rectangle of PEs, and the lines that cross between
// them. A PE owns a block of x times y lines. Before it marches `depth` steps on its own it needs the lines
// up to 4 * depth cells away, and recomputes some of its neighbours' cells instead of communicating after
// every step (overlapped temporal blocking). Where blocks are narrower than that - on a wafer a block is one
// line - lines come from PEs further away, passed on in stages. With depth 1 this exchanges the same lines as
// the localized broadcast of arXiv 2204.03775.
#pragma once
#include "../../core/port.hpp"
#include "problem.hpp"

namespace wsl::wave25 {

using grid::range, grid::lines, grid::overlap, grid::share;

struct partition {
  cells size;
  int wide = 1, high = 1;  ///< PEs
  int depth = 1;           ///< steps between two exchanges

  lines own(coord pe) const { return {share(size.x, wide, pe.x), share(size.y, high, pe.y)}; }
  /// The lines that a PE computes in a step after which it marches `more` steps without an exchange.
  lines computed(coord pe, int more) const { return grown(own(pe), reach * more); }
  /// All lines whose cells a PE has.
  lines known(coord pe) const { return grown(own(pe), reach * depth); }

  /// The stages of an exchange. With depth 1 corners are not needed, and both axes proceed at once;
  /// otherwise x goes first, and y takes along the lines that came from the sides.
  int stages() const {
    return depth == 1 ? std::max(rounds(size.x, wide), rounds(size.y, high))
                      : rounds(size.x, wide) + rounds(size.y, high);
  }

  /// The lines, within `width` cells of its block, that a PE receives from a side in a stage: the
  /// neighbour's own in the first round of an axis, those of the PE behind it in the second, and so on.
  lines incoming(coord pe, int stage, port side, int width) const {
    const bool along_x = side == east || side == west;
    const int round = (along_x || depth == 1 ? stage : stage - rounds(size.x, wide)) + 1;
    if (round < 1 || (along_x && round > rounds(size.x, wide))) return {};
    const lines mine = own(pe);
    if (along_x) return {from_part(size.x, wide, pe.x, side == west ? -round : round, width), mine.y};
    return {mine.x.grown(reach * (depth - 1), size.x),
            from_part(size.y, high, pe.y, side == north ? -round : round, width)};
  }
  lines outgoing(coord pe, int stage, port side, int width) const {
    return incoming(pe + step(side), stage, opposite(side), width);
  }

 private:
  lines grown(const lines& l, int by) const { return {l.x.grown(by, size.x), l.y.grown(by, size.y)}; }
  int rounds(int n, int parts) const { return std::min(parts - 1, (reach * depth - 1) / (n / parts) + 1); }
  static range from_part(int n, int parts, int i, int away, int width) {
    if (i + away < 0 || i + away >= parts) return {};
    const range mine = share(n, parts, i), theirs = share(n, parts, i + away);
    return overlap(theirs, away < 0 ? range{mine.from - width, mine.from} : range{mine.to, mine.to + width});
  }
};

}  // namespace wsl::wave25
