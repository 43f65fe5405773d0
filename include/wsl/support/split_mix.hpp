// SPDX-License-Identifier: MIT
// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): a state
// that grows by a constant, and a function that mixes its bits. It passes the usual tests, has the period
// 2^64, and a step is an addition and two multiplications. program/random.hpp uses it as a generator,
// ml/data/permutation.hpp as a hash.
#pragma once
#include <cstdint>

#include "cxx20.hpp"

namespace wsl::support {

inline constexpr std::uint64_t split_mix_step = 0x9e3779b97f4a7c15u;

/// The number that the generator gives for a state.
constexpr std::uint64_t split_mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace wsl::support
