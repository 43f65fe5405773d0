// SPDX-License-Identifier: MIT
// A random number generator for a PE program (CSL's <random>), a member of eight bytes. Seeded with its PE,
// equal programs draw different numbers on each PE, and the same numbers in every run and on every engine.
// See examples/46_random_and_time.cpp.
// The generator is SplitMix64.
#pragma once
#include <cmath>
#include <string>
#include <utility>

#include "../support/split_mix.hpp"
#include "convert.hpp"
#include "pe.hpp"

namespace wsl {

namespace detail {
[[noreturn]] inline void no_number_is_below(const std::string& n) {
  throw fault("wsl: below(n) of a prng draws one of the numbers 0 to n - 1, n from 1 to 4294967295, not " +
              n);
}
}  // namespace detail

class prng {
 public:
  constexpr prng() = default;
  constexpr explicit prng(u64 seed) : state_(seed) {}

  constexpr void seed(u64 n) { state_ = n; }
  /// Seeds the generator with n and the PE's position: each PE gets a stream of its own.
  void seed(u64 n, const pe& me) {
    using support::split_mixed;
    state_ = split_mixed(n + split_mixed(static_cast<u64>(me.y()) << 32 | static_cast<u64>(me.x())));
  }

  constexpr u64 bits64() { return support::split_mixed(state_ += support::split_mix_step); }
  constexpr u32 bits() { return static_cast<u32>(bits64() >> 32); }
  /// A number from 0 to n - 1; the probabilities of two numbers differ by at most n / 2^32 of either. Throws
  /// fault if n is less than 1 or more than a u32 holds.
  template <detail::whole N>
  constexpr u32 below(N n) {
    if (n < 1 || !std::in_range<u32>(n)) [[unlikely]]
      detail::no_number_is_below(std::to_string(n));
    return static_cast<u32>((u64{bits()} * static_cast<u32>(n)) >> 32);
  }
  /// A number of [0, 1), a multiple of 2^-24.
  constexpr f32 uniform() { return static_cast<f32>(bits() >> 8) * 0x1p-24f; }
  /// A number of [low, high); rounding may reach `high`.
  constexpr f32 uniform(f32 low, f32 high) { return low + (high - low) * uniform(); }
  /// A number of the normal distribution with this mean and standard deviation (Box and Muller), at most 5.8
  /// standard deviations from the mean.
  f32 normal(f32 mean = 0, f32 deviation = 1) {
    const f32 radius = std::sqrt(-2 * std::log(1 - uniform()));
    return mean + deviation * radius * std::cos(6.2831853f * uniform());
  }

 private:
  u64 state_ = 0;
};

}  // namespace wsl
