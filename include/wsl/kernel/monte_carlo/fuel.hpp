// SPDX-License-Identifier: MIT
// The problem of the particles: one material of many nuclides in single precision, and particles that need
// its cross sections (Tramm et al., "Efficient algorithms for Monte Carlo particle transport on AI
// accelerator hardware", Computer Physics Communications 298, 2024). Its numbers are random, the same as in
// its authors' code (hpc-science/mc_on_accelerators), so its checksum can be compared. See
// examples/35_particles.cpp.
#pragma once
#include "../../support/bad_argument.hpp"
#include "reference.hpp"

namespace wsl::monte_carlo {

/// The numbers of that problem: a linear congruential stream of 32 bits whose product wraps before it is
/// reduced.
struct fuel_stream {
  u32 state = 42;
  constexpr f32 next() {
    constexpr u32 modulus = 4294967291u;  // 2^32 - 5
    state = (1588635695u * state + 12345u) % modulus;
    return static_cast<f32>(state) / static_cast<f32>(modulus);
  }
};

/// Nuclides with the same number of points each, and how dense each is in the material.
struct fuel {
  std::vector<grid_point<f32>> points;  ///< nuclide after nuclide
  std::vector<f32> densities;
  int points_per_nuclide = 0;
  /// for nuclides of different lengths: where each begins, and the number of all points; otherwise empty
  std::vector<std::size_t> starts = {};

  int nuclides() const { return static_cast<int>(densities.size()); }
  nuclide_grid<f32> grid(int nuclide) const {
    if (!starts.empty()) {
      const std::size_t* at = &starts[static_cast<std::size_t>(nuclide)];
      return nuclide_grid<f32>(points).subspan(at[0], at[1] - at[0]);
    }
    const auto n = static_cast<std::size_t>(points_per_nuclide);
    return nuclide_grid<f32>(points).subspan(static_cast<std::size_t>(nuclide) * n, n);
  }
};

struct fuel_problem {
  fuel material;
  std::vector<f32> energies;  ///< the energies of the particles
};

namespace detail {

/// Ascending energies, all different: of equal ones all but the first are drawn again.
inline void draw_energies(std::span<grid_point<f32>> grid, fuel_stream& draw) {
  const auto less = [](const auto& a, const auto& b) { return a.energy < b.energy; };
  for (auto& p : grid) p.energy = draw.next();
  for (bool repeated = true; repeated;) {
    std::sort(grid.begin(), grid.end(), less);
    repeated = false;
    for (std::size_t i = 1; i < grid.size(); ++i)
      if (grid[i].energy == grid[i - 1].energy) grid[i].energy = draw.next(), repeated = true;
  }
}

}  // namespace detail

/// Throws std::invalid_argument unless there is a nuclide, with at least two points.
inline fuel_problem make_fuel_problem(std::size_t particles, int nuclides = 250,
                                      int points_per_nuclide = 10'000) {
  if (nuclides < 1) support::bad_argument({"a material has at least one nuclide, not ", nuclides});
  if (points_per_nuclide < 2)
    support::bad_argument({"a nuclide needs 2 points to interpolate between, not ", points_per_nuclide});
  fuel_problem problem;
  fuel& m = problem.material;
  fuel_stream draw;
  m.points_per_nuclide = points_per_nuclide;
  m.points.resize(static_cast<std::size_t>(nuclides) * static_cast<std::size_t>(points_per_nuclide));
  for (std::size_t at = 0; at < m.points.size(); at += static_cast<std::size_t>(points_per_nuclide))
    detail::draw_energies(std::span(m.points).subspan(at, static_cast<std::size_t>(points_per_nuclide)),
                          draw);
  for (auto& p : m.points)
    for (f32& x : p.xs) x = draw.next();
  for (int n = 0; n < nuclides; ++n) m.densities.push_back(draw.next());
  for (std::size_t p = 0; p < particles; ++p) problem.energies.push_back(draw.next());
  return problem;
}

/// The macroscopic cross sections at an energy, summed up in the precision T.
template <class T>
cross_sections<T> look_up(const fuel& m, f32 energy) {
  cross_sections<T> sum{};
  for (int n = 0; n < m.nuclides(); ++n) {
    const nuclide_grid<f32> grid = m.grid(n);
    const auto low = static_cast<std::size_t>(interval_of(grid, energy));
    grid_point<T> between[2];
    for (std::size_t i = 0; i < 2; ++i) {
      between[i].energy = static_cast<T>(grid[low + i].energy);
      std::copy(std::begin(grid[low + i].xs), std::end(grid[low + i].xs), between[i].xs);
    }
    add_interpolated(sum, between, static_cast<T>(energy),
                     static_cast<T>(m.densities[static_cast<std::size_t>(n)]));
  }
  return sum;
}

/// The sum of the indices of the particles' largest channels, counted from zero: the checksum of the
/// problem's authors. Sums in f32 are rounded, so two correct programs may choose differently where a
/// particle's two largest channels are nearly equal. `smallest` and `largest` are the checksums if all of
/// these near-ties go one way or the other.
struct checksum {
  u64 value = 0, smallest = 0, largest = 0;
  u64 near_ties = 0;  ///< particles with such a choice

  /// Whether another correct program may have got this one.
  constexpr bool agrees_with(u64 other) const { return smallest <= other && other <= largest; }
};

/// Channels whose difference is at most this part of the larger one are a near-tie: eight units of f32
/// rounding, 4.8e-7. Flips between formulas have been seen up to 2.2e-7.
inline constexpr f64 near_tie = 0x1p-21;

template <class T>
checksum checksum_of(std::span<const cross_sections<T>> found) {
  checksum sum;
  for (const cross_sections<T>& xs : found) {
    const int chosen = largest_channel(xs);
    int first = chosen, last = chosen;
    for (int k = 0; k < channels; ++k)
      if (const f64 best = xs[static_cast<std::size_t>(chosen)];
          best - xs[static_cast<std::size_t>(k)] <= near_tie * best)
        first = std::min(first, k), last = std::max(last, k);
    sum.value += static_cast<u64>(chosen);
    sum.smallest += static_cast<u64>(first), sum.largest += static_cast<u64>(last);
    sum.near_ties += first != last;
  }
  return sum;
}

}  // namespace wsl::monte_carlo
