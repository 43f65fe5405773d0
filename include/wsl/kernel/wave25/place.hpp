// SPDX-License-Identifier: MIT
// Places of sources and receivers: a cell, or a position in metres between cells. What stands between cells
// is spread along each axis over the eight nearest ones, with the weights of a sinc under a Kaiser window
// (Hicks, Geophysics 67, 2002), so that waves of more than four cells are emitted and recorded as if the grid
// were continuous. Above a free surface the field is the negative of its mirror image, and so are the weights
// there: they are folded into the cells below. Beyond the other sides of the grid the field is zero, and
// weights there are left out.
//   p.receivers = {{12, 30, 4}, point{251.5, 600, 37.25}};
#pragma once
#include <array>
#include <cmath>
#include <optional>

#include "../stencil/grid.hpp"

namespace wsl::wave25 {

using grid::cells;

/// A position in m. The middle of cell (i, j, k) is at (i, j, k) times the spacing.
struct point {
  f64 x = 0, y = 0, z = 0;
  friend bool operator==(const point&, const point&) = default;
};

/// Where a receiver records: in a cell, or at a point.
struct receiver {
  cells at{};                  ///< its cell, if it has no place between cells
  std::optional<point> place;  ///< m

  receiver(const cells& c) : at(c) {}
  receiver(int x, int y, int z) : at{x, y, z} {}
  receiver(const point& p) : place(p) {}

  /// Its position in m.
  point position(f64 spacing) const {
    return place ? *place : point{at.x * spacing, at.y * spacing, at.z * spacing};
  }
};

/// The number of cells along an axis over which a place is spread at most.
inline constexpr int most_taps = 8;

/// The cells of an axis over which a place is spread: `count` of them from `first` on.
struct taps {
  int first = 0, count = 0;
  std::array<f64, std::size_t{most_taps}> weight{};
};

namespace checks {

/// The modified Bessel function of the first kind of order zero, by its power series.
inline f64 bessel_i0(f64 x) {
  f64 sum = 1, term = 1;
  for (int k = 1; k < 60 && term > 1e-17 * sum; ++k) term *= x * x / (4. * k * k), sum += term;
  return sum;
}

/// The windowed sinc at a distance in cells. The shape of the window is that of Hicks for four cells on each
/// side and waves of at least four cells.
inline f64 windowed_sinc(f64 distance) {
  constexpr f64 pi = 3.14159265358979323846, shape = 6.31, half = most_taps / 2;
  const f64 inside = 1 - distance * distance / (half * half);
  if (inside < 0) return 0;
  if (distance == 0) return 1;
  return std::sin(pi * distance) / (pi * distance) * bessel_i0(shape * std::sqrt(inside)) / bessel_i0(shape);
}

}  // namespace checks

/// The weights of a place at `at` cells on an axis of n cells; a place within a millionth of a cell of its
/// middle is there. With `mirrored` cell 0 is a free surface.
inline taps taps_of(f64 at, int n, bool mirrored) {
  const f64 nearest = std::round(at);
  const bool on_grid = std::abs(at - nearest) < 1e-6;
  const int base = static_cast<int>(on_grid ? nearest : std::floor(at));
  const int from = on_grid ? base : base - most_taps / 2 + 1,
            to = on_grid ? base + 1 : base + most_taps / 2 + 1;
  taps t;
  t.first = std::clamp(from, 0, n - 1);
  for (int i = from; i < to; ++i) {
    const f64 w = on_grid ? 1 : checks::windowed_sinc(at - i);
    const int where = mirrored && i < 0 ? -i : i;
    if (where < 0 || where >= n || (mirrored && where == 0)) continue;
    const int k = where - t.first;
    t.weight[static_cast<std::size_t>(k)] += where == i ? w : -w;
    t.count = std::max(t.count, k + 1);
  }
  return t;
}

/// A place as the taps of the three axes.
struct spread {
  taps x, y, z;
};

inline spread spread_of(const point& p, const cells& size, f64 spacing, bool free_surface) {
  return {taps_of(p.x / spacing, size.x, false), taps_of(p.y / spacing, size.y, false),
          taps_of(p.z / spacing, size.z, free_surface)};
}

}  // namespace wsl::wave25
