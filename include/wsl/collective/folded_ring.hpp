// SPDX-License-Identifier: MIT
// A ring on a line of PEs without a long way back: the line is folded, 0 -> 2 -> 4 -> ... -> 5 -> 3 -> 1 ->
// 0, and every step of the ring crosses at most two links. Three colors in turn separate the words that a PE
// sends from those that it receives and those that pass it. kernel/gemm/cannon.hpp uses one ring along the
// rows and one along the columns. After MeshGEMM (WaferLLM, arXiv 2502.04563).
#pragma once
#include <array>

#include "../wsl.hpp"
#include "relay.hpp"

namespace wsl {

/// Rings along the rows, or along the columns, of a whole grid; three colors from `first` on.
template <payload T>
struct folded_ring {
  enum class axis : u8 { rows, columns };

  int first;
  axis along;

  constexpr std::array<color<T>, 3> colors() const { return {nth(0), nth(1), nth(2)}; }

  /// The place on the ring of the PE `at` of a line of n: 0, 1, 2, ... from one PE to the one that it sends
  /// to.
  static constexpr int place(int at, int n) { return at % 2 ? n - (at + 1) / 2 : at / 2; }

  /// The PE of a line of n at a place of the ring.
  static constexpr int pe_at(int place, int n) { return 2 * place < n ? 2 * place : 2 * (n - place) - 1; }

  /// The color on which the PE `at` of a line of n, two or more, sends to the next of the ring.
  constexpr color<T> out(int at, int n) const {
    return at % 2 ? nth(at - 1) : at == n - 1 ? nth(at) : nth(at + 1);
  }
  /// The color on which it receives from the one before.
  constexpr color<T> in(int at, int n) const {
    if (at % 2) return at == n - 1 ? nth(at) : nth(at + 1);
    return at == 0 ? nth(0) : nth(at - 1);
  }

  constexpr void wire(layout& l) const {
    const bool rows = along == axis::rows;
    l.claim_colors("folded_ring", first, 3, l.grid());
    // A line of one or two PEs uses fewer colors.
    for (color<T> c : colors()) l.path(c, columns(0, 0), ramp >> ramp);
    wire(l, all, rows ? l.width() : l.height());
  }
  /// The same for rings of n PEs one after the other in the rows of an area, or in its columns: the layout's
  /// width, or height, is a multiple of n.
  constexpr void wire(layout& l, const area& lines, int n) const {
    const bool rows = along == axis::rows;
    const port back = rows ? west : north, ahead = rows ? east : south;
    const auto places = [&](int from, bound to, int step) {
      return rows ? lines.columns(from, to, step) : lines.rows(from, to, step);
    };
    for (int at = 0; at < n && n > 1; ++at) {
      const bool odd = at % 2, last = at == n - 1;
      const auto wire_at = [&](const area& line) {
        l.path(out(at, n), line, ramp >> (odd || last ? back : ahead));
        l.path(in(at, n), line, (at == 0 || (odd && !last) ? ahead : back) >> ramp);
        if (at > 0 && !last) l.path(nth(at), line, odd ? back >> ahead : ahead >> back);
      };
      if (n <= collective::most_stride) wire_at(places(at, edge, n));
      else
        for (int from = 0; from < (rows ? l.width() : l.height()); from += n)
          wire_at(places(from + at, from + at + 1, 1));
    }
  }

 private:
  constexpr color<T> nth(int k) const { return {first + k % 3}; }
};

/// The entries of a ring in a program's table, for descriptors that send and receive on it.
template <auto ring>
using ring_entries = task_list<sends<ring>, reads<ring>>;

}  // namespace wsl
