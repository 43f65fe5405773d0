// SPDX-License-Identifier: MIT
// Functions of one f32 without branches, so that loops over them become vector code, which
// tests/check/vectors looks at. Relative errors are below 3e-7 for exponential, sigmoid and square_root, and
// below 2e-6 for normal_cdf above -6; below that its absolute error is 1e-14. The tests measure them against
// f64.
#pragma once
#include <bit>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// a if `c` is true, else b. Compilers move what only one side of a ?: needs behind a branch, and then GCC 12
/// makes no vector code for AVX2 of the loop; here both sides are needed.
[[gnu::always_inline]] inline f32 select(bool c, f32 a, f32 b) {
  const u32 mask = 0u - static_cast<u32>(c);
  return std::bit_cast<f32>((std::bit_cast<u32>(a) & mask) | (std::bit_cast<u32>(b) & ~mask));
}

/// e^x; 0 below -87.3, where f32 has no normal numbers, and at most e^88. NaN gives NaN.
[[gnu::always_inline]] inline f32 exponential(f32 x) {
  constexpr f32 lowest = -87.3f, highest = 88.f, log2_e = 1.44269504f, ln2_high = 0.693359375f,
                ln2_low = -2.12194440e-4f;
  constexpr f32 whole = 12582912.f;  // 1.5 * 2^23: adding it leaves whole numbers, in the last bits
  const f32 in = select(x < lowest, lowest, select(x > highest, highest, x));  // a NaN stays one
  const f32 shifted = in * log2_e + whole, n = shifted - whole, r = in - n * ln2_high - n * ln2_low;
  const f32 series =
      1 +
      r * (1 + r * (1.f / 2 +
                    r * (1.f / 6 + r * (1.f / 24 + r * (1.f / 120 + r * (1.f / 720 + r * (1.f / 5040)))))));
  const f32 power = std::bit_cast<f32>((std::bit_cast<u32>(shifted) + 127) << 23);
  return select(x < lowest, 0, series * power);
}

/// 1 / (1 + e^-x)
[[gnu::always_inline]] inline f32 sigmoid(f32 x) { return 1 / (1 + exponential(-x)); }

/// The square root of a number that is not negative (-0 may be one), by Newton's method: std::sqrt may set
/// errno, which keeps compilers from making vector code.
[[gnu::always_inline]] inline f32 square_root(f32 x) {
  f32 r = std::bit_cast<f32>(0x5f375a86u - (std::bit_cast<u32>(x) >> 1));
  for (int i = 0; i < 3; ++i) r *= 1.5f - 0.5f * x * r * r;
  const f32 root = x * r;
  return select(x == 0, 0, root + (x - root * root) * 0.5f * r);
}

/// e^(-x^2 / 2), the common factor of the two functions below.
[[gnu::always_inline]] inline f32 gaussian(f32 x) { return exponential(x * x * -0.5f); }

/// The probability that a standard normal number is below x, given gaussian(x). The tail beyond |x| is the
/// gaussian times a polynomial in 1 / (1 + 0.42 |x| / sqrt(2)), fitted to a relative error of 4e-8 for |x|
/// below 7.
[[gnu::always_inline]] inline f32 normal_cdf(f32 x, f32 bell_of_x) {
  const f32 t = 1 / (1 + (x < 0 ? -x : x) * 0.296984848f);
  const f32 series =
      0.118368961f +
      t * (0.12041349f +
           t * (0.0937040895f +
                t * (0.14586401f +
                     t * (-0.0860851929f + t * (0.242156699f + t * (-0.172409356f + t * 0.0379873253f))))));
  const f32 beyond = t * series * bell_of_x;
  return select(x < 0, beyond, 1 - beyond);
}
[[gnu::always_inline]] inline f32 normal_cdf(f32 x) { return normal_cdf(x, gaussian(x)); }

/// The density of the standard normal distribution.
[[gnu::always_inline]] inline f32 normal_density(f32 x) { return 0.398942280f * gaussian(x); }

}  // namespace wsl::ml
