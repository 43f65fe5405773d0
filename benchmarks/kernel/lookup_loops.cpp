// SPDX-License-Identifier: MIT
// Compiled for this computer.
#include "lookup_loops.hpp"

namespace bench {

using namespace wsl;
using namespace wsl::monte_carlo;

lookup_totals hash_loop(const reactor& r, const hash_search& search, u64 lookups) {
  u64 largest = 0;
#pragma omp parallel for schedule(dynamic, 100) reduction(+ : largest)
  for (u64 i = 0; i < lookups; ++i) largest += static_cast<u64>(lookup_at(r, search, 2 * i).largest);
  return {lookups, largest};
}

fuel_loops::fuel_loops(const fuel& m) : fuel_(m) {
  for (std::size_t bin = 0; bin < bins; ++bin)
    for (int n = 0; n < m.nuclides(); ++n)
      places_.push_back(interval_of(m.grid(n), static_cast<f32>(bin) / static_cast<f32>(bins)));
  places_.insert(places_.end(), m.densities.size(), m.points_per_nuclide - 2);
}

fuel_loops::results fuel_loops::hash(std::span<const f32> energies) const {
  results found(energies.size());
  const std::size_t nuclides = fuel_.densities.size();
#pragma omp parallel for schedule(dynamic, 100)
  for (std::size_t p = 0; p < energies.size(); ++p) {
    const f32 energy = energies[p];
    const int* place =
        &places_[std::min(bins - 1, static_cast<std::size_t>(energy * static_cast<f32>(bins))) * nuclides];
    cross_sections<f32> sum{};
    for (std::size_t n = 0; n < nuclides; ++n) {
      const nuclide_grid<f32> grid = fuel_.grid(static_cast<int>(n));
      add_interpolated(sum, grid.data() + interval_of(grid, energy, place[n], place[n + nuclides] + 1),
                       energy, fuel_.densities[n]);
    }
    found[p] = sum;
  }
  return found;
}

fuel_loops::results fuel_loops::sort_and_sweep(std::vector<f32> energies) const {
  results found(energies.size());
  constexpr std::size_t chunk = 1000;  // particles whose sums stay in the first caches
  std::sort(energies.begin(), energies.end());
#pragma omp parallel for schedule(static)
  for (std::size_t first = 0; first < energies.size(); first += chunk) {
    const std::size_t last = std::min(energies.size(), first + chunk);
    for (int n = 0; n < fuel_.nuclides(); ++n) {
      const nuclide_grid<f32> grid = fuel_.grid(n);
      const grid_point<f32>*low = grid.data() + interval_of(grid, energies[first]),
            *end = grid.data() + grid.size() - 2;
      for (std::size_t p = first; p < last; ++p) {
        while (low < end && low[1].energy <= energies[p]) ++low;
        add_interpolated(found[p], low, energies[p], fuel_.densities[static_cast<std::size_t>(n)]);
      }
    }
  }
  return found;
}

}  // namespace bench
