// SPDX-License-Identifier: MIT
// The serial reference of the lookups, in double precision: XSBench's problem as its authors state it. A
// lookup adds up, over the nuclides of a material, each nuclide's table at one energy. There are three ways
// to find the place in the tables: search each of them, hash the energy into bins, or search the union of all
// tables once. See examples/34_lookups.cpp.
#pragma once
#include "../../support/bad_argument.hpp"
#include "reactor.hpp"
#include "spectrum.hpp"

namespace wsl::monte_carlo {

/// The interval of `grid` that contains an energy, by its lower point, searched between the points `from`
/// and `to`. Energies outside belong to the first or last interval.
template <class T>
constexpr int interval_of(nuclide_grid<T> grid, T energy, int from, int to) {
  while (to - from > 1) {
    const int middle = from + (to - from) / 2;
    (grid[static_cast<std::size_t>(middle)].energy > energy ? to : from) = middle;
  }
  return from;
}
template <class T>
constexpr int interval_of(nuclide_grid<T> grid, T energy) {
  return interval_of(grid, energy, 0, static_cast<int>(grid.size()) - 1);
}

/// Searches each nuclide's own grid.
class nuclide_search {
 public:
  explicit nuclide_search(const reactor& r) : reactor_(r) {}
  std::size_t start(f64) const { return 0; }
  int interval(std::size_t, int nuclide, f64 energy) const {
    return interval_of(reactor_.grid(nuclide), energy);
  }

 private:
  const reactor& reactor_;
};

/// A hash grid: the interval of each nuclide at the lower edge of equal energy bins; the search ends at
/// that of the next bin.
class hash_search {
 public:
  explicit hash_search(const reactor& r, int bins = 10'000)
      : reactor_(r), bins_(static_cast<std::size_t>(bins)) {
    if (bins < 1) support::bad_argument({"a hash grid has at least one bin, not ", bins});
    for (std::size_t bin = 0; bin < bins_; ++bin)
      for (int n = 0; n < r.nuclides; ++n)
        index_.push_back(interval_of(r.grid(n), static_cast<f64>(bin) / static_cast<f64>(bins_)));
    for (int n = 0; n < r.nuclides; ++n) index_.push_back(static_cast<int>(r.grid(n).size()) - 2);
  }
  std::size_t start(f64 energy) const {
    return std::min(bins_ - 1, static_cast<std::size_t>(energy * static_cast<f64>(bins_)));
  }
  int interval(std::size_t bin, int nuclide, f64 energy) const {
    const int* low =
        &index_[bin * static_cast<std::size_t>(reactor_.nuclides) + static_cast<std::size_t>(nuclide)];
    return interval_of(reactor_.grid(nuclide), energy, low[0], low[reactor_.nuclides] + 1);
  }

 private:
  const reactor& reactor_;
  std::size_t bins_;
  std::vector<int> index_;  // (bins + 1, nuclides)
};

/// The unionized grid: the interval of each nuclide in every interval of the union of all grids, which is
/// searched once. It takes 4 * points * nuclides bytes: 209 MB for XSBench's small reactor.
class unionized_search {
 public:
  explicit unionized_search(const reactor& r) : nuclides_(static_cast<std::size_t>(r.nuclides)) {
    for (const auto& p : r.points) energies_.push_back(p.energy);
    std::sort(energies_.begin(), energies_.end());
    index_.reserve(energies_.size() * nuclides_);
    std::vector<int> at(nuclides_);
    for (f64 energy : energies_)
      for (std::size_t n = 0; n < nuclides_; ++n) {
        const nuclide_grid<f64> grid = r.grid(static_cast<int>(n));
        while (static_cast<std::size_t>(at[n]) + 2 < grid.size() &&
               grid[static_cast<std::size_t>(at[n]) + 1].energy <= energy)
          ++at[n];
        index_.push_back(at[n]);
      }
  }
  std::size_t start(f64 energy) const {
    const auto above = std::upper_bound(energies_.begin(), energies_.end(), energy);
    return above == energies_.begin() ? 0 : static_cast<std::size_t>(above - energies_.begin()) - 1;
  }
  int interval(std::size_t position, int nuclide, f64) const {
    return index_[position * nuclides_ + static_cast<std::size_t>(nuclide)];
  }

 private:
  std::size_t nuclides_;
  std::vector<f64> energies_;
  std::vector<int> index_;  // (points, nuclides)
};

/// Adds a nuclide's cross sections times its density, linearly interpolated between its points low and low
/// + 1.
template <class T>
constexpr void add_interpolated(cross_sections<T>& sum, const grid_point<T>* low, T energy, T density) {
  const grid_point<T>* high = low + 1;
  const T f = (high->energy - energy) / (high->energy - low->energy);
  for (std::size_t k = 0; k < channels; ++k)
    sum[k] += density * (high->xs[k] - f * (high->xs[k] - low->xs[k]));
}

/// The macroscopic cross sections of a material at an energy.
template <class Search>
cross_sections<f64> look_up(const reactor& r, const Search& search, const material& m, f64 energy) {
  cross_sections<f64> sum{};
  const std::size_t start = search.start(energy);
  for (std::size_t i = 0; i < m.nuclides.size(); ++i) {
    const int nuclide = m.nuclides[i];
    add_interpolated(sum, r.grid(nuclide).data() + search.interval(start, nuclide, energy), energy,
                     m.densities[i]);
  }
  return sum;
}

/// The result of a run: the number of lookups, and the sum of the indices of their largest channels,
/// counted from one.
struct lookup_totals {
  u64 lookups = 0, largest = 0;
  /// The number that XSBench compares.
  constexpr u64 verification() const { return largest % 999'983; }
  friend constexpr lookup_totals operator+(lookup_totals a, lookup_totals b) {
    return {a.lookups + b.lookups, a.largest + b.largest};
  }
  friend constexpr bool operator==(lookup_totals, lookup_totals) = default;
};

/// The result of one lookup: the index of its largest channel, counted from one, and the position of its
/// particle's next lookup.
struct lookup_result {
  int largest = 0;
  u64 next = 0;
};

/// Draws an energy and a material at a position and looks them up. The next position is one number further
/// for each channel above 1. With a spectrum the first number stands for an energy in it, and materials have
/// the same probability.
template <class Search>
lookup_result lookup_at(const reactor& r, const Search& search, u64 position,
                        const spectrum* energies = nullptr) {
  random_stream draw{steps(position)(lookup_origin)};
  const f64 number = draw.next(), energy = energies ? energies->energy(number) : number, roll = draw.next();
  const auto material =
      static_cast<std::size_t>(energies ? pick_evenly(roll, r.materials.size()) : pick_material(roll));
  const cross_sections<f64> xs = look_up(r, search, r.materials[material], energy);
  return {largest_channel(xs) + 1,
          position + 2 + static_cast<u64>(std::count_if(xs.begin(), xs.end(), [](f64 x) { return x > 1; }))};
}

/// Independent lookups first .. first + count - 1 (XSBench: event mode).
template <class Search>
lookup_totals events(const reactor& r, const Search& search, u64 first, u64 count,
                     const spectrum* energies = nullptr) {
  lookup_totals t{count};
  for (u64 i = first; i < first + count; ++i)
    t.largest += static_cast<u64>(lookup_at(r, search, 2 * i, energies).largest);
  return t;
}

/// Particles that draw their next lookup after each (XSBench: history mode).
template <class Search>
lookup_totals histories(const reactor& r, const Search& search, u64 first, u64 count, int lookups_each = 34,
                        const spectrum* energies = nullptr) {
  lookup_totals t{count * static_cast<u64>(lookups_each)};
  for (u64 p = first; p < first + count; ++p) {
    lookup_result v{0, p * static_cast<u64>(lookups_each) * 10};
    for (int i = 0; i < lookups_each; ++i)
      t.largest += static_cast<u64>((v = lookup_at(r, search, v.next, energies)).largest);
  }
  return t;
}

}  // namespace wsl::monte_carlo
