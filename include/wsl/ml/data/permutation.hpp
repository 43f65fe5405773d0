// SPDX-License-Identifier: MIT
// A random permutation of n things that needs no memory: thing p(i) is the i-th. A Feistel network mixes the
// bits of i under keys from the seed, again and again until the result is below n (cycle walking: Black and
// Rogaway, "Ciphers with arbitrary finite domains", 2002). So an order can be resumed at any place, by any
// number of readers, and the same seed gives the same order everywhere.
#pragma once
#include <bit>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// A hash of a number: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// 2014).
constexpr u64 scramble(u64 x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

class permutation {
 public:
  /// A permutation of 0, ..., n - 1; n is at most 2^62.
  constexpr permutation(i64 n, u64 seed)
      : n_(static_cast<u64>(n)),
        half_((static_cast<int>(std::bit_width(n_ > 1 ? n_ - 1 : u64{1})) + 1) / 2),
        seed_(scramble(seed)) {}

  constexpr i64 operator()(i64 i) const {
    u64 x = static_cast<u64>(i);
    do x = mixed(x);
    while (x >= n_);
    return static_cast<i64>(x);
  }

 private:
  static constexpr int rounds = 8;

  constexpr u64 mixed(u64 x) const {
    const u64 mask = (u64{1} << half_) - 1;
    u64 left = x >> half_, right = x & mask;
    for (u64 r = 0; r < rounds; ++r) {
      const u64 next = left ^ (scramble(right ^ scramble(seed_ + r)) & mask);
      left = right, right = next;
    }
    return left << half_ | right;
  }

  u64 n_;
  int half_;  // half the number of bits
  u64 seed_;
};

}  // namespace wsl::ml
