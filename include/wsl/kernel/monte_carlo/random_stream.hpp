// SPDX-License-Identifier: MIT
// The random numbers of XSBench: one linear congruential stream, modulo 2^63, with skip-ahead. A position of
// the stream fits one wavelet and stands for all numbers that a lookup will ever draw. See
// examples/34_lookups.cpp.
#pragma once
#include "../../core/scalar.hpp"

namespace wsl::monte_carlo {

/// What n steps of the stream do to its state: s -> factor * s + offset.
struct stride {
  u64 factor = 1, offset = 0;

  static constexpr u64 mask = (u64{1} << 63) - 1;

  constexpr u64 operator()(u64 state) const { return (factor * state + offset) & mask; }
  /// First this, then `next`.
  constexpr stride then(stride next) const {
    return {next.factor * factor & mask, (next.factor * offset + next.offset) & mask};
  }
};

inline constexpr stride one_step{2806196910506780709u, 1};

/// n steps at once, in about log2 n operations.
constexpr stride steps(u64 n) {
  stride all, power = one_step;
  for (; n; n >>= 1, power = power.then(power))
    if (n & 1) all = all.then(power);
  return all;
}

/// The number in [0, 1) of a state.
constexpr f64 uniform(u64 state) { return static_cast<f64>(static_cast<i64>(state)) * 0x1p-63; }

/// The stream from a state on.
struct random_stream {
  u64 state;
  constexpr f64 next() { return uniform(state = one_step(state)); }
  constexpr void skip(u64 n) { state = steps(n)(state); }
};

/// The states of the stream from `origin` on, by their position from 0 to 2^32 - 1, from four small tables:
/// one access costs three products.
class stream_positions {
 public:
  explicit constexpr stream_positions(u64 origin) : tops_{} {
    for (int level = 0; level < 3; ++level) {
      const stride power = steps(u64{1} << (8 * level));
      for (int i = 1; i < 256; ++i) table_[level][i] = table_[level][i - 1].then(power);
    }
    const stride top = steps(u64{1} << 24);
    tops_[0] = origin;
    for (int i = 1; i < 256; ++i) tops_[i] = top(tops_[i - 1]);
  }

  constexpr u64 operator[](u32 position) const {
    return table_[0][position & 255](
        table_[1][position >> 8 & 255](table_[2][position >> 16 & 255](tops_[position >> 24])));
  }

 private:
  stride table_[3][256];
  u64 tops_[256];
};

/// The seed of XSBench's lookups.
inline constexpr u64 lookup_origin = 1070;
inline constexpr stream_positions lookup_states{lookup_origin};

static_assert(lookup_states[0] == lookup_origin && lookup_states[70'000] == steps(70'000)(lookup_origin));

}  // namespace wsl::monte_carlo
