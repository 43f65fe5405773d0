// SPDX-License-Identifier: MIT
// Tables of nuclear data in the form of the lookups' problems: a reactor of several materials in double
// precision, or the fuel of a wafer in single precision. Energies are in eV, cross sections in barns,
// densities in atoms/(barn cm), and what is looked up is in 1/cm. See lookups.hpp and wafer.hpp.
#pragma once
#include <cstddef>

#include "fuel.hpp"
#include "transport_medium.hpp"

namespace wsl::monte_carlo {

/// A reactor of materials, each of nuclides of its own.
inline reactor reactor_of(std::span<const std::vector<medium_nuclide>> materials) {
  reactor r;
  r.starts.push_back(0);
  for (const std::vector<medium_nuclide>& some : materials) {
    material& m = r.materials.emplace_back();
    for (const medium_nuclide& n : some) {
      m.nuclides.push_back(r.nuclides++), m.densities.push_back(n.density);
      r.points.insert(r.points.end(), n.points.begin(), n.points.end());
      r.starts.push_back(r.points.size());
    }
  }
  return r;
}

/// The fuel of one material. Of points whose energies are the same number in single precision the first is
/// taken, and the last point of a table. Throws std::invalid_argument for a table of which fewer than two
/// points are left.
inline fuel fuel_of(std::span<const medium_nuclide> nuclides) {
  fuel f;
  f.starts.push_back(0);
  for (const medium_nuclide& n : nuclides) {
    const std::size_t begin = f.points.size();
    for (const grid_point<f64>& p : n.points) {
      grid_point<f32> rounded{.energy = static_cast<f32>(p.energy)};
      for (std::size_t k = 0; k < channels; ++k) rounded.xs[k] = static_cast<f32>(p.xs[k]);
      if (f.points.size() > begin && f.points.back().energy >= rounded.energy) {
        if (&p == &n.points.back() && f.points.size() > begin + 1) f.points.back() = rounded;
        continue;
      }
      f.points.push_back(rounded);
    }
    if (f.points.size() < begin + 2)
      support::bad_argument({"the table of nuclide ", f.densities.size() + 1,
                             " has fewer than two energies in single precision"});
    f.densities.push_back(static_cast<f32>(n.density));
    f.starts.push_back(f.points.size());
  }
  return f;
}

}  // namespace wsl::monte_carlo
