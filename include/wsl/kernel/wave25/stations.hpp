// SPDX-License-Identifier: MIT
// Sources and receivers as the lines of a PE meet them: a place between cells lies in several lines, and has
// a station in each.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "partition.hpp"

namespace wsl::wave25 {

/// The part of a source or a receiver in one line, with its samples of one launch: `count` cells along z from
/// `at` on.
inline constexpr int most_steps_a_launch = 64;
struct station {
  cells at;
  bool gives = false;
  int number = 0;  ///< the number of the source or receiver in its problem
  int count = 1;
  std::array<f32, std::size_t{most_taps}> weights{};
  std::array<f32, most_steps_a_launch> samples{};

  /// In step i of the launch, with the cell `at` of the field after it.
  void serve(f32* cells, std::size_t i) {
    if (gives) {
      for (int k = 0; k < count; ++k) cells[k] += weights[std::size_t(k)] * samples[i];
      return;
    }
    samples[i] = 0;
    for (int k = 0; k < count; ++k) samples[i] += weights[std::size_t(k)] * cells[k];
  }
  /// By lines; in a line sources come before receivers, each by number.
  friend bool operator<(const station& a, const station& b) {
    return std::tuple(a.at.x, a.at.y, !a.gives, a.number) < std::tuple(b.at.x, b.at.y, !b.gives, b.number);
  }
};

/// Calls f for the stations of a source or a receiver in some lines. Of a point source the weights are those
/// of the equation, with `scale` = dt / h; of all others the scale is 0.
template <class Placed, class F>
void each_station(const problem& p, const Placed& what, f64 scale, bool gives, std::size_t number,
                  const lines& where, F f) {
  const spread s = spread_of(what.position(p.spacing), p.size, p.spacing, p.free_surface);
  for (int i = 0; i < s.x.count; ++i)
    for (int j = 0; j < s.y.count; ++j) {
      const cells at{s.x.first + i, s.y.first + j, s.z.first};
      if (!where.has(at.x, at.y)) continue;
      station here{at, gives, static_cast<int>(number), s.z.count, {}, {}};
      for (int k = 0; k < s.z.count; ++k) {
        const f64 courant = p.velocity_at({at.x, at.y, at.z + k}) * scale,
                  share = scale > 0 ? courant * courant / p.spacing : 1;
        here.weights[std::size_t(k)] = static_cast<f32>(
            share * s.x.weight[std::size_t(i)] * s.y.weight[std::size_t(j)] * s.z.weight[std::size_t(k)]);
      }
      f(here);
    }
}

/// Calls f for the stations, sorted, that lie in some lines.
template <class F>
void each_in(std::span<station> sorted, const lines& where, F f) {
  auto s = std::lower_bound(sorted.begin(), sorted.end(), where.x.from,
                            [](const station& a, int x) { return a.at.x < x; });
  for (; s != sorted.end() && s->at.x < where.x.to; ++s)
    if (where.y.has(s->at.y)) f(*s);
}

}  // namespace wsl::wave25
