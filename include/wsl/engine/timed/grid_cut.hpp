// SPDX-License-Identifier: MIT
// Where the timed engine may cut the grid into bands, each for a thread: between lines, which are rows, or
// columns if the grid is wider than high. The lines of a band are a multiple of two spans. No pipe crosses
// the border between two spans, except over the one link there, so that two threads never share a pipe. The
// cut depends on the layout only, and not on the number of threads.
#pragma once
#include <algorithm>

#include "../../layout/layout.hpp"

namespace wsl::engines {

struct grid_cut {
  bool columns = false;  ///< whether lines are columns
  int span = 0;          ///< lines; 0 if the grid is in one piece
  int lines = 0, length = 0;

  /// A grid of fewer than four spans stays in one piece.
  static grid_cut of(const layout& plan, int span) {
    grid_cut c{plan.width() > plan.height(), span, std::max(plan.width(), plan.height()),
               std::min(plan.width(), plan.height())};
    if (span < 2 || c.lines < 4 * span) c.span = 0;
    return c;
  }

  int line_of(coord c) const { return columns ? c.x : c.y; }
  /// Whether a border between spans is on this side of a router. Requires a router on the grid.
  bool is_between(coord c, port side) const {
    if (span == 0 || side == ramp || (side == east || side == west) != columns) return false;
    const int line = line_of(c), next = line_of(c + wsl::step(side));
    return std::max(line, next) % span == 0;
  }
  /// The greatest number of bands.
  int bands() const { return span ? lines / (2 * span) : 1; }
  /// The first line of a band; the grid's number of lines for the band after the last.
  int first_line(int band, int bands) const {
    return band == bands ? lines : band * this->bands() / bands * 2 * span;
  }
};

}  // namespace wsl::engines
