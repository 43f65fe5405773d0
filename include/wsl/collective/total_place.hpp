// SPDX-License-Identifier: MIT
// Where an all-reduce forms its total: in the last PE of a line, or in its centre. The choice by cost is made
// without the size of the rectangle, because the colors of a layout follow from it: for each axis it is the
// least number of PEs from which on the centre is cheaper.
#pragma once
#include "reduce_cost.hpp"

namespace wsl::collective {

/// In the last PE of a row, of a column, or of the rectangle; in its centre, to which all ways are half as
/// long but which receives from both sides; or, axis by axis, in whichever is the cheaper by the cost model
/// on a line of as many PEs. The centre of a rectangle takes one color more than the corner.
enum class total_at : int { corner, centre, cheaper };

/// Whether the total of a line of PEs and its broadcast take less time from the centre, by a reduce of the
/// same words and tactic. The word that travels farthest in the broadcast has the rest of the line before it.
template <class Reduce>
constexpr bool is_cheaper_in_the_centre(const Reduce& joins, int pes) {
  const auto cycles = [&](int root) {
    return reduce_cost{joins.on({{0, pes, 0, 1}, axis::x, root}), joins.words}.cycles() + root;
  };
  return cycles(pes / 2) < cycles(pes - 1);
}

/// The least number of PEs of a line that has its total in the centre. On a single color no line has. Lines
/// longer than any wafer's sides have it there, or none has.
template <class Reduce>
constexpr int centred_from(total_at place, const Reduce& joins, const char* module) {
  int too_few = 1, enough = 2048;
  if (place == total_at::centre && joins.colors == 1) faults::a_single_color_totals_in_the_corner(module);
  if (place == total_at::centre) return 1;
  if (place == total_at::corner || joins.colors == 1) return root_position::never;
  if (!is_cheaper_in_the_centre(joins, enough)) return root_position::never;
  while (enough - too_few > 1) {
    const int pes = (too_few + enough) / 2;
    (is_cheaper_in_the_centre(joins, pes) ? enough : too_few) = pes;
  }
  return enough;
}

}  // namespace wsl::collective
