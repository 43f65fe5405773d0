// SPDX-License-Identifier: MIT
// The distribution of a stencil's grid over a rectangle of PEs, and the cells that cross between them. A PE
// owns a block of cells. Before it marches `depth` steps on its own it needs the cells up to radius * depth
// away, and computes some of its neighbours' cells too instead of communicating after every step (overlapped
// temporal blocking). Where blocks are narrower than that, cells come from PEs further away, passed on in
// stages. Along an axis that goes around, positions below 0 and from n on are those of the other end.
//
// Axes are x, y and z here, of which z is contiguous in memory: the last axis of the user. A grid with two
// axes has x and z, one with a single axis z. Columns of PEs cut the first axis, rows the second one.
#pragma once
#include "../../core/port.hpp"
#include "grid.hpp"

namespace wsl::stencils {

using wsl::grid::range, wsl::grid::overlap;

inline constexpr int x_axis = 0, y_axis = 1, z_axis = 2;

/// Cells of a block, by axes.
struct box {
  range at[3];
  std::size_t count() const {
    return static_cast<std::size_t>(at[0].size()) * static_cast<std::size_t>(at[1].size()) *
           static_cast<std::size_t>(at[2].size());
  }
};

struct cut_axis {
  int n = 1, radius = 0;
  int parts = 1;  ///< PEs
  bool wraps =
      false;  ///< cells beyond an end are computed like others, from copies of those at the other end

  range share(int i) const {
    const int turn = i >= 0 ? i / parts : -((parts - 1 - i) / parts);
    const range r = wsl::grid::share(n, parts, i - turn * parts);
    return {r.from + turn * n, r.to + turn * n};
  }
  range grown(const range& r, int by) const { return wraps ? range{r.from - by, r.to + by} : r.grown(by, n); }
  /// Exchanges until cells from so far away have come.
  int rounds(int width) const {
    if (parts == 1 || width == 0) return 0;
    const int enough = (width - 1) / (n / parts) + 1;
    return wraps ? enough : std::min(parts - 1, enough);
  }
};

struct cut {
  cut_axis axis[3];
  int first = x_axis, second = y_axis;  ///< the axes along which PEs lie: across columns, and across rows
  int depth = 1;                        ///< steps between two exchanges
  bool diagonal = true;                 ///< whether the update reads diagonal neighbours

  int place(coord pe, int a) const { return a == first ? pe.x : a == second ? pe.y : 0; }
  box own(coord pe) const { return computed(pe, 0); }
  /// The cells that a PE computes in a step after which it marches `more` steps without an exchange.
  box computed(coord pe, int more) const {
    box b;
    for (int a = 0; a < 3; ++a) b.at[a] = axis[a].grown(axis[a].share(place(pe, a)), axis[a].radius * more);
    return b;
  }
  /// All cells of the grid whose values a PE has.
  box known(coord pe) const { return computed(pe, depth); }

  /// The positions along an axis for which a PE has memory: beyond a side of the grid as far as the update
  /// reads.
  range stored(coord pe, int a) const {
    const range mine = own(pe).at[a];
    const int r = axis[a].radius, width = r * depth;
    if (axis[a].wraps) return {mine.from - width, mine.to + width};
    return {std::max(mine.from - width, -r), std::min(mine.to + width, axis[a].n + r)};
  }

  /// The stages of an exchange. Without corners both axes proceed at once; otherwise the first axis goes
  /// first, and the second takes along the cells that came from the sides.
  int stages() const {
    const int a = rounds(first), b = rounds(second);
    return at_once() ? std::max(a, b) : a + b;
  }

  /// The cells that a PE receives from a side in a stage: the neighbour's own in the first round of an axis,
  /// those of the PE behind it in the second, and so on. `less` 1 is for the values of the step before, which
  /// are needed only where cells are computed.
  box incoming(coord pe, int stage, port side, int less) const {
    const bool along_first = side == east || side == west;
    const int a = along_first ? first : second;
    const int round = (along_first || at_once() ? stage : stage - rounds(first)) + 1;
    const int away = side == west || side == north ? -round : round, i = place(pe, a);
    if (round < 1 || round > rounds(a)) return {};
    if (!axis[a].wraps && (i + away < 0 || i + away >= axis[a].parts)) return {};
    box b = computed(pe, 0);
    if (!along_first && !at_once()) b.at[first] = computed(pe, depth - less).at[first];
    const range mine = axis[a].share(i), theirs = axis[a].share(i + away);
    const int width = axis[a].radius * (depth - less);
    b.at[a] =
        overlap(theirs, away < 0 ? range{mine.from - width, mine.from} : range{mine.to, mine.to + width});
    return b.count() == 0 ? box{} : b;
  }
  /// What the neighbour on a side receives, in this PE's positions.
  box outgoing(coord pe, int stage, port side, int less) const {
    const bool along_first = side == east || side == west;
    const int a = along_first ? first : second,
              next = place(pe, a) + (side == east || side == south ? 1 : -1);
    const int parts = axis[a].parts, turn = next < 0 ? -1 : next >= parts ? 1 : 0;
    if (turn != 0 && !axis[a].wraps) return {};
    coord there = pe;
    (along_first ? there.x : there.y) = next - turn * parts;
    box b = incoming(there, stage, opposite(side), less);
    if (b.count() == 0) return {};
    b.at[a] = {b.at[a].from + turn * axis[a].n, b.at[a].to + turn * axis[a].n};
    return b;
  }

 private:
  bool at_once() const { return depth == 1 && !diagonal; }
  int rounds(int a) const { return axis[a].rounds(axis[a].radius * depth); }
};

}  // namespace wsl::stencils
