// SPDX-License-Identifier: MIT
// The pencil decomposition of a transform. An array (n0, n1, n2) is transformed axis by axis, and a line
// stays on one PE while it is transformed: in each phase a PE has whole lines along one axis and a part of
// the other two. Between two phases the PEs of a column, or of a row, exchange blocks all to all. See
// pencil.hpp.
#pragma once
#include <algorithm>

#include "../../core/scalar.hpp"

namespace wsl::fft {

/// From .. to - 1.
struct range {
  int from, to;
};

/// The parts of an array on a grid of wide x high PEs. Along n0 a PE has a part of n1 and one of n2; along
/// n1 the same part of n2, and one of n0; along n2 the same part of n0, and one of n1. Lines lie `width`
/// side by side, along n2 in the first two phases and along n1 in the last.
struct decomposition {
  int n0, n1, n2;
  int wide, high;
  int width;
  int max_parts = 1;
  /// So many of the first axes are not transformed: arrays of fewer axes lie side by side, and a PE has whole
  /// ones.
  int batched = 0;
  /// Groups of lines along n2 that one PE transforms together.
  int together = 1;

  static constexpr int share(int n, int parts, int width) {
    return ((n + parts - 1) / parts + width - 1) / width * width;
  }
  /// The planes of n0 are distributed in `parts` rounds, in each of which every PE of a column gets `turn`
  /// of them.
  constexpr int parts() const { return max_parts * high <= n0 ? max_parts : 1; }
  constexpr int turn() const { return share(n0, high * parts(), 1); }
  constexpr int part0() const { return parts() * turn(); }
  /// The plane that is the nth of the PEs in row y.
  constexpr int plane_of(int y, int nth) const { return (nth / turn() * high + y) * turn() + nth % turn(); }
  /// the length of a part of n1, one for each PE of a column
  constexpr int part1() const { return share(n1, high, 1); }
  /// the length of a part of n1, one for each PE of a row, in whole groups
  constexpr int lines1() const { return share(n1, wide, width * together); }
  /// the length of a part of n2, one for each PE of a row, in whole groups
  constexpr int lines2() const { return share(n2, wide, width); }

  /// The PEs of a row, and of a column, that have lines in at least one phase.
  constexpr int most_wide() const { return batched == 2 ? n1 : std::max(n1, n2); }
  constexpr int most_high() const { return batched ? n0 : std::max(n0, n1); }

  /// Whether lines along n1 come from the host, or go there, because none along n0 are transformed.
  constexpr bool flat() const { return n0 == 1 || batched > 0; }
  /// The real numbers that a PE sends to its column: in each round an array (turn, part1, lines2) of complex
  /// numbers for each of its PEs.
  constexpr i64 volume() const { return batched ? 0 : i64{2} * high * part0() * row0(); }
  /// The complex numbers from one plane of n0 to the next: not a multiple of a page, as planes would then
  /// compete for the same sets of a cache.
  constexpr i64 row0() const { return i64{part1()} * lines2() + (width > 1 ? 4 * width : 0); }
  /// The real numbers that a PE sends to its row, for one plane: an array (lines1, lines2) of complex numbers
  /// for each of its PEs.
  constexpr i64 plane() const { return batched == 2 ? 0 : i64{2} * wide * lines1() * lines2(); }

  static constexpr range part(int n, int share, int which) {
    const int from = which * share < n ? which * share : n;
    return {from, from + share < n ? from + share : n};
  }
};

}  // namespace wsl::fft
