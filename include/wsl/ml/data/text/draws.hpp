// SPDX-License-Identifier: MIT
// Random choices of an example, such as which of its words are hidden. Number n of an example is a hash of
// the key of the epoch, of the example and of n (SplitMix64 as a counter-based generator), so that it does
// not depend on the threads, the workers or the restarts of a run.
//   draws d(to.key, which);
//   if (d.uniform() < 0.8) ids[k] = mask;
#pragma once
#include <span>
#include <utility>

#include "../permutation.hpp"

namespace wsl::ml {

class draws {
 public:
  /// Those of example `which` in the epoch of a key (example::key).
  constexpr draws(u64 key, i64 which) : state_(scramble(key ^ scramble(static_cast<u64>(which)))) {}

  constexpr u64 bits() { return support::split_mixed(state_ += support::split_mix_step); }
  /// A number of [0, 1), a multiple of 2^-53.
  constexpr f64 uniform() { return static_cast<f64>(bits() >> 11) * 0x1p-53; }
  /// A number from 0 to n - 1, n from 1 to 2^32; the probabilities of two numbers differ by at most n / 2^32
  /// of either.
  constexpr i64 below(i64 n) { return static_cast<i64>(((bits() >> 32) * static_cast<u64>(n)) >> 32); }
  /// A random order, all orders alike (Fisher and Yates).
  template <class T>
  constexpr void shuffle(std::span<T> x) {
    for (std::size_t n = x.size(); n > 1; --n)
      std::swap(x[n - 1], x[static_cast<std::size_t>(below(static_cast<i64>(n)))]);
  }

 private:
  u64 state_;
};

}  // namespace wsl::ml
