// SPDX-License-Identifier: MIT
// The problem of the lookups: nuclides with cross sections tabulated over energy, and materials that mix
// them. The reactor of XSBench (ANL-CESAR/XSBench, a proxy of the Hoogenboom-Martin core) consists of random
// numbers, the same ones there and here, so its results are compared by one number. See
// examples/34_lookups.cpp.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "../../support/bad_argument.hpp"
#include "random_stream.hpp"

namespace wsl::monte_carlo {

/// Reaction channels: total, elastic scattering, absorption, fission, nu-fission.
inline constexpr int channels = 5;

template <class T>
struct grid_point {
  T energy{};
  T xs[channels]{};
};

/// Macroscopic cross sections, one a channel.
template <class T>
using cross_sections = std::array<T, channels>;

/// The index of the largest channel, the first of equals: the number that verifications sum up.
template <class T>
constexpr int largest_channel(const cross_sections<T>& xs) {
  return static_cast<int>(std::max_element(xs.begin(), xs.end()) - xs.begin());
}

/// One nuclide's tabulated points, with ascending energies.
template <class T>
using nuclide_grid = std::span<const grid_point<T>>;

struct material {
  std::vector<int> nuclides;
  std::vector<f64> densities;  ///< the density of each nuclide
};

struct reactor {
  std::vector<grid_point<f64>> points;  ///< nuclide after nuclide
  int nuclides = 0, points_per_nuclide = 0;
  std::vector<material> materials;
  /// for nuclides of different lengths: where each begins, and the number of all points; otherwise empty
  std::vector<std::size_t> starts = {};

  nuclide_grid<f64> grid(int nuclide) const {
    if (!starts.empty()) {
      const std::size_t* at = &starts[static_cast<std::size_t>(nuclide)];
      return nuclide_grid<f64>(points).subspan(at[0], at[1] - at[0]);
    }
    const auto n = static_cast<std::size_t>(points_per_nuclide);
    return nuclide_grid<f64>(points).subspan(static_cast<std::size_t>(nuclide) * n, n);
  }
};

namespace detail {

inline std::vector<int> joined(std::initializer_list<std::initializer_list<int>> parts) {
  std::vector<int> all;
  for (const auto& part : parts) all.insert(all.end(), part);
  return all;
}

// Fuel, cladding, cold and hot water, pressure vessel, five reflectors and plates, two ends of fuel
// assemblies.
inline std::vector<std::vector<int>> xsbench_mixtures(int nuclides) {
  const std::initializer_list<int> water{24, 41, 4, 5}, cladding{63, 64, 65, 66, 67}, light{11, 12, 13, 14};
  const std::initializer_list<int> steel{19, 20, 21, 22, 35, 36, 37, 38, 39, 25}, heavy{49, 50, 51};
  std::vector<int> fuel{58, 59, 60, 61, 40, 42, 43, 44, 45, 46, 1,  2,  3,  7,  8,  9,  10,
                        29, 57, 47, 48, 0,  62, 15, 33, 34, 52, 53, 54, 55, 56, 18, 23, 41};
  for (int n = 68; n < nuclides; ++n)
    if (fuel.size() < 321) fuel.push_back(n);
  const std::vector<int> vessel = joined({steel, {27, 28, 29, 30, 31, 32, 26}, heavy, light, {6, 16, 17}});
  const std::vector<int> plate = joined({water, steel, heavy, light}), end = joined({water, cladding});
  return {fuel,
          joined({cladding}),
          joined({water}),
          joined({water}),
          vessel,
          plate,
          plate,
          plate,
          plate,
          plate,
          end,
          end};
}

}  // namespace detail

/// The reactor of XSBench: 68 nuclides ("small") or 355 ("large") with 11303 points each unless told
/// otherwise. Throws std::invalid_argument for fewer than 68 nuclides or 2 points.
inline reactor xsbench_reactor(int nuclides = 68, int points_per_nuclide = 11303) {
  if (nuclides < 68)
    support::bad_argument({"the reactor's materials name 68 nuclides; ", nuclides, " are too few"});
  if (points_per_nuclide < 2)
    support::bad_argument({"a nuclide needs 2 points to interpolate between, not ", points_per_nuclide});
  reactor r{.points = {}, .nuclides = nuclides, .points_per_nuclide = points_per_nuclide, .materials = {}};
  r.points.resize(static_cast<std::size_t>(nuclides) * static_cast<std::size_t>(points_per_nuclide));
  random_stream draw{42};
  for (grid_point<f64>& p : r.points) {
    p.energy = draw.next();
    for (f64& x : p.xs) x = draw.next();
  }
  for (auto at = r.points.begin(); at != r.points.end(); at += points_per_nuclide)
    std::sort(at, at + points_per_nuclide, [](const auto& a, const auto& b) { return a.energy < b.energy; });

  random_stream concentration{1070 * 1070};
  for (std::vector<int>& mixture : detail::xsbench_mixtures(nuclides)) {
    material& m = r.materials.emplace_back(material{std::move(mixture), {}});
    for (std::size_t i = 0; i < m.nuclides.size(); ++i) m.densities.push_back(concentration.next());
  }
  return r;
}

/// One of `count` materials for a random number from 0 to 1, all with the same probability.
constexpr int pick_evenly(f64 roll, std::size_t count) {
  return static_cast<int>(std::min(count - 1, static_cast<std::size_t>(roll * static_cast<f64>(count))));
}

/// The material for a random number: the probability of each is its share of the core.
constexpr int pick_material(f64 roll) {
  constexpr f64 share[] = {0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013};
  constexpr auto bounds = [share] {
    std::array<f64, std::size(share)> sums{};
    for (std::size_t i = 0; i < sums.size(); ++i)
      for (std::size_t j = i + 1; j-- > 0;) sums[i] += share[j];
    return sums;
  }();
  int below = 0;
  for (f64 bound : bounds) below += roll >= bound;
  return below == static_cast<int>(bounds.size()) ? 0 : below + 1;
}

}  // namespace wsl::monte_carlo
