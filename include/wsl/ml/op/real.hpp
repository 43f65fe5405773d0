// SPDX-License-Identifier: MIT
// Functions of one f32 without branches, so that loops over them become vector code. Relative errors are below 3e-7 for exponential,
// sigmoid and square_root, and 5e-6 for normal_below above -6; below that its absolute error is 1e-14. Tests measure them against f64.
#pragma once
#include <bit>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// e^x; 0 below -87.3, where f32 has no normal numbers, and not larger than e^88. Of what is no number it is none.
[[gnu::always_inline]] inline f32 exponential(f32 x) {
  constexpr f32 lowest = -87.3f, highest = 88.f, log2_e = 1.44269504f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  constexpr f32 whole = 12582912.f;  // 1.5 * 2^23: adding it leaves whole numbers
  const f32 in = x > lowest ? (x < highest ? x : highest) : lowest;
  const f32 n = (in * log2_e + whole) - whole, r = in - n * ln2_high - n * ln2_low;
  const f32 series = 1 + r * (1 + r * (1.f / 2 + r * (1.f / 6 + r * (1.f / 24 + r * (1.f / 120 + r * (1.f / 720 + r * (1.f / 5040)))))));
  const f32 power = std::bit_cast<f32>((static_cast<i32>(n) + 127) << 23);
  return x < lowest ? 0 : x == x ? series * power : x;
}

/// 1 / (1 + e^-x)
[[gnu::always_inline]] inline f32 sigmoid(f32 x) { return 1 / (1 + exponential(-x)); }

/// The square root of a number that is not negative. Newton's method, for loops that must not call the library's function, which may
/// set errno and so keeps compilers from vector code.
[[gnu::always_inline]] inline f32 square_root(f32 x) {
  f32 r = std::bit_cast<f32>(0x5f375a86 - (std::bit_cast<i32>(x) >> 1));
  for (int i = 0; i < 3; ++i) r *= 1.5f - 0.5f * x * r * r;
  const f32 root = x * r;
  return x == 0 ? 0 : root + (x - root * root) * 0.5f * r;
}

/// The probability that a standard normal number is below x: erfc(-x / sqrt(2)) / 2. Press et al., Numerical Recipes, 6.2: erfcc.
[[gnu::always_inline]] inline f32 normal_below(f32 x) {
  const f32 z = (x < 0 ? -x : x) * 0.70710678f, t = 1 / (1 + z / 2);
  const f32 series = -1.26551223f + t * (1.00002368f + t * (0.37409196f + t * (0.09678418f + t * (-0.18628806f + t * (0.27886807f +
                     t * (-1.13520398f + t * (1.48851587f + t * (-0.82215223f + t * 0.17087277f))))))));
  const f32 beyond = t * exponential(series - z * z) / 2;
  return x < 0 ? beyond : 1 - beyond;
}

/// The density of the standard normal distribution.
[[gnu::always_inline]] inline f32 normal_density(f32 x) { return 0.398942280f * exponential(x * x * -0.5f); }

}  // namespace wsl::ml
