// SPDX-License-Identifier: MIT
// A word from any PE of the grid to any other: along the row on the color of the receiver's column, from
// there along the column on the color of its row. Senders of a color merge, so words of different senders
// arrive in no defined order: each must stand for itself.
//   constexpr dispatch<u32, 8, 4> post{0};   // for grids of up to 8 x 4 PEs: colors 0 to 11
// See lookup_pe.hpp.
#pragma once
#include <array>

#include "../../wsl.hpp"

namespace wsl::monte_carlo {

template <payload T, int max_columns, int max_rows>
struct dispatch {
  int first;  ///< the first of max_columns + max_rows colors

  static constexpr int count = max_columns + max_rows;
  constexpr color<T> to_column(int x) const { return {first + x}; }
  constexpr color<T> to_row(int y) const { return {first + max_columns + y}; }

  constexpr std::array<color<T>, static_cast<std::size_t>(count)> colors() const {
    std::array<color<T>, static_cast<std::size_t>(count)> every{};
    for (int i = 0; i < count; ++i) every[static_cast<std::size_t>(i)] = {first + i};
    return every;
  }

  constexpr void wire(layout& l) const {
    l.claim_colors("dispatch", first, count, l.grid());
    for (int x = 0; x < max_columns; ++x) lead_to(l, to_column(x), x, l.width(), east, west);
    for (int y = 0; y < max_rows; ++y) lead_to(l, to_row(y), y, l.height(), south, north);
  }

 private:
  /// Everyone on a line of n PEs may send to the one at `to`; `onward` leads away from the line's start.
  static constexpr void lead_to(layout& l, color<T> c, int to, int n, port onward, port back) {
    const auto line = [&](int from, int end_of) {
      return onward == east ? columns(from, end_of) : rows(from, end_of);
    };
    if (to >= n || n == 1) return void(l.path(c, region{}, ramp >> onward));
    if (to > 0) l.path(c, line(0, 1), ramp >> onward);
    if (to > 1) l.path(c, line(1, to), (ramp | back) >> onward, merges);
    if (to + 1 < n) l.path(c, line(n - 1, n), ramp >> back);
    if (to + 2 < n) l.path(c, line(to + 1, n - 1), (ramp | onward) >> back, merges);
    if (to == 0) l.path(c, line(to, to + 1), onward >> ramp);
    else if (to + 1 == n) l.path(c, line(to, to + 1), back >> ramp);
    else l.path(c, line(to, to + 1), (back | onward) >> ramp, merges);
  }
};

}  // namespace wsl::monte_carlo
