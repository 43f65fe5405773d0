// SPDX-License-Identifier: MIT
// A march of blocks whose borders drift in x, so that nothing is computed twice there. In one march all
// borders between blocks move west by four planes a step, in the next one they move back. Of the neighbour
// toward which they move, a PE needs the fields of all steps in the planes next to the border of each step.
// That neighbour computes them while it needs nothing of others, and does not touch these planes afterwards;
// and this PE does not come to them before it has received them. So one message carries them, from memory to
// memory:
//
//   steps |  \  grows   /   shrinks     \  grows   /       Borders move west. First each PE computes what
//     ^   |   \        /                 \        /        shrinks, from the neighbour's border on; then the
//         |    \      /                   \      /         lines at its borders cross them; then it computes
//         |     \    /                     \    /          what grows.
//         +------------------------------------------> x
#pragma once
#include "partition.hpp"

namespace wsl::wave25 {

/// Planes between borders that move by whole planes a step.
struct moving_planes {
  range start;
  int from_step = 0, to_step = 0;

  range after(int steps) const { return {start.from + steps * from_step, start.to + steps * to_step}; }
};

/// A march of `steps` steps: toward the west if borders are in their places before it, and else to the east.
struct drift {
  range block;                       ///< the PE's planes when the march begins
  bool first = false, last = false;  ///< whether the block is that at the western, eastern end of the grid
  port toward = west;
  int steps = 0;
  bool marches = true;  ///< otherwise nothing is computed, and cells change their owner

  drift() = default;
  /// With borders that are `drifted` planes west of their places.
  drift(const partition& cut, coord pe, int drifted, int n)
      : block(cut.planes(pe, drifted)),
        first(pe.x == 0),
        last(pe.x + 1 == cut.wide),
        toward(drifted == 0 ? west : east),
        steps(n) {}
  /// All borders return to their places at once.
  static drift back(const partition& cut, coord pe, int drifted) {
    drift d(cut, pe, drifted, drifted / reach);
    d.marches = false;
    return d;
  }
  /// How far the borders are west of their places afterwards, when they were `drifted` planes before.
  int drifted_after(int drifted) const { return drifted + reach * (toward == west ? steps : -steps); }

  /// What is computed without a neighbour, and what is computed when its lines have come. A block for which
  /// none come leaves as much for then as the others do: PEs compute at the same time.
  moving_planes shrinking() const {
    const int low = first ? left_over(west) : block.from, high = last ? block.to - left_over(east) : block.to;
    return {{low, high}, first && toward == east ? 0 : reach, last && toward == west ? 0 : -reach};
  }
  moving_planes growing() const {
    if (toward == west)
      return {{first ? 0 : block.from, first ? left_over(west) : block.from}, first ? 0 : -reach, reach};
    return {{last ? block.to - left_over(east) : block.to, block.to}, -reach, last ? 0 : reach};
  }

  /// The planes that cross a border: of the field at the begin of the march, of the one before it, and of
  /// what the border of the grid remembers. A step needs the field in the 8 planes beyond, and the others in
  /// 4. Those of all steps lie next to each other, in one or the other of the two fields: of one step 8 and 4
  /// planes, of two 8 and 12, of three 16 and 12.
  widths crossing() const {
    const int odd = steps % 2, all = reach * steps;
    if (!marches) return {all, all, all};
    return {reach * (steps + odd), reach * (steps + 1 - odd), all};
  }
  /// Of so many planes those that leave by a side or enter by it, against the direction of the borders.
  range outgoing(port side, int planes) const {
    if (side != opposite(toward)) return {};
    return side == east ? range{block.to - planes, block.to} : range{block.from, block.from + planes};
  }
  range incoming(port side, int planes) const {
    if (side != toward) return {};
    return side == west ? range{block.from - planes, block.from} : range{block.to, block.to + planes};
  }

 private:
  // What grows between two moving borders has eight planes more in each step, and what is left over at an
  // end of the grid four: in the mean of the steps these are as many.
  int left_over(port end) const { return end == toward ? reach * steps / 2 : 0; }
};

}  // namespace wsl::wave25
