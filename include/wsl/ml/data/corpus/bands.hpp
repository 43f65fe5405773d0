// SPDX-License-Identifier: MIT
// Locality-sensitive hashing of signatures: a signature is divided into bands of some rows, and two texts are
// candidates if a band of theirs is equal. Texts of the similarity s are candidates with the probability
// 1 - (1 - s^rows)^bands (Leskovec, Rajaraman, Ullman, "Mining of massive datasets", chapter 3).
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

struct band_shape {
  int bands = 0, rows = 0;

  friend bool operator==(const band_shape&, const band_shape&) = default;
  /// The probability that texts of a similarity are candidates.
  f64 finds(f64 similarity) const { return 1 - std::pow(1 - std::pow(similarity, rows), bands); }
};

namespace detail {

inline void check_threshold(f64 threshold) {
  if (!(threshold > 0 && threshold <= 1))
    throw std::invalid_argument(
        fmt::format("wsl: a threshold of similarity is above 0 and at most 1, not {}", threshold));
}

}  // namespace detail

/// The bands that separate best by themselves: the probability of candidates below the threshold, plus that
/// of texts above it that are none, each integrated over similarities, is the least. For 128 permutations and
/// the threshold 0.8 these are 9 bands of 13 rows, which SlimPajama has. Throws std::invalid_argument for a
/// threshold that is not above 0 and at most 1.
inline band_shape separating_bands(int permutations, f64 threshold) {
  detail::check_threshold(threshold);
  const auto area = [](f64 from, f64 to, auto f) {
    constexpr int parts = 1000;
    const f64 step = (to - from) / parts;
    f64 sum = 0;
    for (int i = 0; i < parts; ++i) sum += f(from + (i + 0.5) * step);
    return sum * step;
  };
  band_shape best;
  f64 least = 2;
  for (int bands = 1; bands <= permutations; ++bands)
    for (int rows = 1; bands * rows <= permutations; ++rows) {
      const band_shape now{bands, rows};
      const f64 wrong = area(0, threshold, [&](f64 s) { return now.finds(s); }) +
                        area(threshold, 1, [&](f64 s) { return 1 - now.finds(s); });
      if (wrong < least) least = wrong, best = now;
    }
  return best;
}

/// The bands for candidates that are compared afterwards: the longest rows with which texts of the
/// threshold's similarity are candidates with a probability of at least `sure`. For 128 permutations and the
/// threshold 0.8 these are 18 bands of 7 rows. Throws std::invalid_argument for a threshold that is not above
/// 0 and at most 1, and if no bands of so few permutations are so sure.
inline band_shape searching_bands(int permutations, f64 threshold, f64 sure = 0.95) {
  detail::check_threshold(threshold);
  for (int rows = permutations; rows > 0; --rows)
    if (const band_shape now{permutations / rows, rows}; now.finds(threshold) >= sure) return now;
  throw std::invalid_argument(fmt::format(
      "wsl: texts of the similarity {} are not found by {} permutations with a probability of {}: "
      "give more permutations or a higher threshold",
      threshold, permutations, sure));
}

}  // namespace wsl::ml
