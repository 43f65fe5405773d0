// SPDX-License-Identifier: MIT
// The inner loop of all lookups on the fabric. Lookups are sorted by energy, so a sweep over them walks once
// along each nuclide's table: there is no search, and the rows that are read stay in the first cache. It
// handles a vector of lookups at a time and keeps their sums in registers while it passes through the
// nuclides of their material; every nuclide is interpolated for every lookup. See lookup_pe.hpp and
// wafer.hpp.
#pragma once
#include <limits>

#include "../../linalg/vector_code.hpp"
#include "../../support/bad_argument.hpp"
#include "reactor.hpp"

namespace wsl::monte_carlo {

/// A tabulated point with the constants of the interval above it; in double precision it fills a cache
/// line.
template <class T>
struct alignas(8 * sizeof(T)) table_row {
  T energy{};
  T xs[channels]{};
  T inverse{};  ///< 1 / (energy of the next row - energy)
  /// energies from here on belong to a later interval: the next row's, or infinity in the last interval
  T bound{};
};

/// Fills rows with points of a grid, of whatever precision. Throws std::invalid_argument unless the energies
/// ascend.
template <class T, class P>
void fill_rows(std::span<table_row<T>> rows, nuclide_grid<P> points) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].energy = static_cast<T>(points[i].energy);
    for (std::size_t k = 0; k < channels; ++k) rows[i].xs[k] = static_cast<T>(points[i].xs[k]);
  }
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    if (!(rows[i].energy < rows[i + 1].energy))
      support::bad_argument(
          {"the energies of a nuclide's table ascend, but point ", i + 1, " is not above point ", i});
    rows[i].inverse = 1 / (rows[i + 1].energy - rows[i].energy);
    rows[i].bound = i + 2 < rows.size() ? rows[i + 1].energy : std::numeric_limits<T>::infinity();
  }
}

/// A nuclide as part of a material, and how far a sweep has come in its table.
template <class T>
struct ingredient {
  const table_row<T>* at = nullptr;
  T density = 0;
};

/// Lookups that are done together.
template <class T>
inline constexpr int lanes = 64 / static_cast<int>(sizeof(T));

/// Calls f(i) for every lane.
template <class T, class F>
[[gnu::always_inline]] inline void each_lane(F f) {
#pragma GCC unroll 1  // GCC does not vectorise a loop that it has unrolled first
  for (int i = 0; i < lanes<T>; ++i) f(i);
}

/// The sums of `lanes` lookups, channel by channel.
template <class T>
struct lane_sums {
  alignas(64) T of[channels][lanes<T>];

  constexpr cross_sections<T> lane(int i) const {
    cross_sections<T> xs{};
    for (std::size_t k = 0; k < channels; ++k) xs[k] = of[k][i];
    return xs;
  }
};

/// Linear interpolation between two points.
struct interpolated {
  /// Weights of the lower and the upper point, where f is 1 at the lower one.
  template <class T>
  [[gnu::always_inline]] void operator()(T weight, T f, int, T& low, T& high) const {
    low = weight * f;
    high = weight - low;
  }
};

/// Stochastic interpolation: chooses one of the two points, the nearer with the higher probability. It is
/// right on average, and needs no division on a machine that has a generator of random numbers.
class chosen_at_random {
 public:
  explicit chosen_at_random(u32 seed) {
    for (u32& s : state_) s = (seed = seed * 747796405u + 2891336453u) | 1;
  }
  template <class T>
  [[gnu::always_inline]] void operator()(T weight, T f, int lane, T& low, T& high) {
    u32 s = state_[lane];
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    state_[lane] = s;
    low = static_cast<T>(static_cast<i32>(s >> 8)) * T(0x1p-24) < f ? weight : T{};
    high = weight - low;
  }

 private:
  u32 state_[lanes<f32>];
};

namespace detail {

template <class T, class Between>
[[gnu::always_inline]] inline void add_interval(lane_sums<T>& sums, const T* energy, const T* weight,
                                                const table_row<T>* low, Between& between) {
  const table_row<T>* high = low + 1;
  T of_low[lanes<T>], of_high[lanes<T>];
  each_lane<T>([&](int i) {
    between(weight[i], (high->energy - energy[i]) * low->inverse, i, of_low[i], of_high[i]);
  });
  for (int k = 0; k < channels; ++k)
    each_lane<T>([&](int i) { sums.of[k][i] += of_high[i] * high->xs[k] + of_low[i] * low->xs[k]; });
}

/// Adds one nuclide to the sums of `lanes` lookups with ascending energies, which may lie in several
/// intervals: then each interval adds with weight zero to the lookups that are not its own.
template <class T, class Between>
[[gnu::always_inline]] inline void add_nuclide(lane_sums<T>& sums, const T* energy, ingredient<T>& nuclide,
                                               Between& between) {
  const T last = energy[lanes<T> - 1], density = nuclide.density;
  const table_row<T>* low = nuclide.at;
  T weight[lanes<T>];
  if (last < low->bound) {
    each_lane<T>([&](int i) { weight[i] = density; });
    return add_interval(sums, energy, weight, low, between);
  }
  T done[lanes<T>] = {};
  for (;; ++low) {
    // The sweep walks along more tables than the hardware prefetcher can follow.
    __builtin_prefetch(low + 4);
    each_lane<T>([&](int i) {
      const T below = energy[i] < low->bound ? density : T{};
      weight[i] = below - done[i];
      done[i] = below;
    });
    add_interval(sums, energy, weight, low, between);
    if (last < low->bound) break;
  }
  nuclide.at = low;
}

template <class T, class Use, class Between>
struct sweep_loop {
  std::span<const T> energies;
  std::span<ingredient<T>> nuclides;
  Use& use;
  Between& between;

  /// nuclides that are added up before they are added to the rest: rounding grows less
  static constexpr std::size_t group = 16;

  template <int>
  [[gnu::always_inline]] static void run(const sweep_loop& all) {
    const std::span<const T> energies = all.energies;
    for (std::size_t first = 0; first < energies.size(); first += lanes<T>) {
      const int count = static_cast<int>(std::min<std::size_t>(lanes<T>, energies.size() - first));
      alignas(64) T energy[lanes<T>];
      const T* from = energies.data() + first;
      each_lane<T>([&](int i) { energy[i] = from[std::min(i, count - 1)]; });
      lane_sums<T> sums{};
      for (std::size_t n = 0; n < all.nuclides.size(); n += group) {
        lane_sums<T> part{};
        for (ingredient<T>& one : all.nuclides.subspan(n, std::min(group, all.nuclides.size() - n)))
          add_nuclide(part, energy, one, all.between);
        for (int k = 0; k < channels; ++k) each_lane<T>([&](int i) { sums.of[k][i] += part.of[k][i]; });
      }
      all.use(first, count, sums);
    }
  }
};

}  // namespace detail

/// Looks up every energy, which ascend, in every nuclide, and calls use(first, count, sums) for each vector
/// of lookups; `use` should be always inlined. It leaves each nuclide where its sweep ended: a later sweep
/// with higher energies continues there. `processor` is the number of f32 for an instruction: 4, 8 or 16.
template <class T, class Use, class Between = interpolated>
void sweep(std::span<const T> energies, std::span<ingredient<T>> nuclides, Use&& use, Between&& between = {},
           int processor = processor_lanes()) {
  using loop = detail::sweep_loop<T, std::remove_reference_t<Use>, std::remove_reference_t<Between>>;
  vector_code<loop, const loop&>::with(processor)(loop{energies, nuclides, use, between});
}

}  // namespace wsl::monte_carlo
