// SPDX-License-Identifier: MIT
// Random numbers of a PE (CSL's <random>): a generator of eight bytes as a member of the program. Seeded with
// its PE, equal programs draw different numbers, the same in every run and on every engine. See
// examples/46_random_and_time.cpp.
//
// The generator is SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA
// 2014): it passes the usual tests, has the period 2^64, and a step is an addition and two multiplications.
#pragma once
#include <cmath>

#include "pe.hpp"

namespace wsl {

class prng {
 public:
  constexpr prng() = default;
  constexpr explicit prng(u64 seed) : state_(seed) {}

  constexpr void seed(u64 n) { state_ = n; }
  /// Another stream on each PE.
  void seed(u64 n, const pe& me) {
    state_ = mixed(n + mixed(static_cast<u64>(me.y()) << 32 | static_cast<u64>(me.x())));
  }

  constexpr u64 bits64() { return mixed(state_ += step); }
  constexpr u32 bits() { return static_cast<u32>(bits64() >> 32); }
  /// 0 to n - 1, for n from 1 on; for no n does a number come more often than another by more than n / 2^32.
  constexpr u32 below(u32 n) { return static_cast<u32>((u64{bits()} * n) >> 32); }
  /// From 0 up to, not including, 1: a multiple of 2^-24.
  constexpr f32 uniform() { return static_cast<f32>(bits() >> 8) * 0x1p-24f; }
  /// From `low` up to `high`, which rounding may reach.
  constexpr f32 uniform(f32 low, f32 high) { return low + (high - low) * uniform(); }
  /// Of the normal distribution with this mean and standard deviation (Box and Muller); at most 5.8
  /// deviations from the mean.
  f32 normal(f32 mean = 0, f32 deviation = 1) {
    const f32 radius = std::sqrt(-2 * std::log(1 - uniform()));
    return mean + deviation * radius * std::cos(6.2831853f * uniform());
  }

 private:
  static constexpr u64 step = 0x9e3779b97f4a7c15;
  static constexpr u64 mixed(u64 x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  u64 state_ = 0;
};

}  // namespace wsl
