// SPDX-License-Identifier: MIT
// The levels of a tree on both arms of a line, and their colors: at level k every odd multiple of 2^k sends
// to the multiple before it, on a color of its own. A root receives all of them, so where it would receive
// more colors than a PE has queues, the lowest levels are chains, all on the first two colors.
#pragma once
#include "../core/machine.hpp"

namespace wsl::collective {

class tree_levels {
 public:
  /// For arms of so many PEs.
  constexpr tree_levels(int before, int behind) : reach_{before, behind} {
    while (inputs(0) + inputs(1) > most_inputs) ++chained_;
  }

  /// The PEs of a chain; 1 is none.
  constexpr int chain() const { return 1 << chained_; }
  constexpr bool is_chained(int distance) const { return distance % chain() != 0; }
  constexpr int colors() const { return first_of(1) + levels(1); }
  /// The color that the PE at a distance from the root sends. The first PEs of the chains that begin at the
  /// root send different ones.
  constexpr int color_of(int side, int distance) const {
    if (is_chained(distance)) return (distance + side) % 2;
    int k = chained_;
    while (distance % (2 << k) == 0) ++k;
    return first_of(side) + k - chained_;
  }

 private:
  static constexpr int most_inputs =
      wse2.input_queues < wse3.input_queues ? wse2.input_queues : wse3.input_queues;

  /// The levels of an arm above the chains, and what the root receives from it.
  constexpr int levels(int side) const {
    int n = 0;
    while (chain() << n <= reach_[side]) ++n;
    return n;
  }
  constexpr int inputs(int side) const { return levels(side) + (chained_ > 0 && reach_[side] > 0); }
  constexpr int first_of(int side) const { return (chained_ > 0 ? 2 : 0) + (side ? levels(0) : 0); }

  int reach_[2];
  int chained_ = 0;
};

}  // namespace wsl::collective
