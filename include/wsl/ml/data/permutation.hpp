// SPDX-License-Identifier: MIT
// A random permutation of n things that needs no memory: thing p(i) is the i-th. A Feistel network mixes the
// bits of i under keys from the seed, again and again until the result is below n (cycle walking: Black and
// Rogaway, "Ciphers with arbitrary finite domains", 2002). So an order can be resumed at any place, by any
// number of readers, and the same seed gives the same order everywhere.
#pragma once
#include <bit>

#include "../../core/scalar.hpp"
#include "../../support/split_mix.hpp"

namespace wsl::ml {

/// A hash of a number: the first number of SplitMix64 with this seed.
constexpr u64 scramble(u64 x) { return support::split_mixed(x + support::split_mix_step); }

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
