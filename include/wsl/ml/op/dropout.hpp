// SPDX-License-Identifier: MIT
// Dropout: each number becomes 0 with a probability, and otherwise grows so that its mean stays. Whether one
// is dropped is a function of the step and of where the number stands in the batch, not of a generator's
// state: however the batch is shared out, the same are dropped, and the way back finds them without a mask in
// memory.
#pragma once
#include "loop.hpp"

namespace wsl::ml {

/// Every bit of the result depends on every bit of x. The constants are those of C. Wellons' lowbias32.
[[gnu::always_inline]] inline u32 mixed(u32 x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
/// A key made of a key and a number.
inline u32 mixed(u32 key, u64 with) {
  return mixed(mixed(key ^ static_cast<u32>(with)) + static_cast<u32>(with >> 32) * 0x9e3779b9u);
}

/// What decides in a step.
struct dropout_generator {
  bool on = false;         ///< off: nothing is dropped, as after training
  u32 key = 0;             ///< of the step
  i64 first_sequence = 0;  ///< of the place, in the batch
};

/// How often, and of which row.
struct dropping {
  u32 below = 0;  ///< 0: never
  f32 scale = 1;
  u32 key = 0;

  /// With a probability of at least 0 and below 1.
  static dropping with(f32 probability, u32 key) {
    return {static_cast<u32>(static_cast<f64>(probability) * 0x1p32), 1 / (1 - probability), key};
  }
  dropping of_row(u64 row) const { return {below, scale, mixed(key, row)}; }
};

namespace detail {

struct drop_loop {
  [[gnu::always_inline]] static void run(f32* y, const f32* x, u32 key, u32 below, f32 scale, int n) {
    for (int i = 0; i < n; ++i)
      y[i] = mixed(key + static_cast<u32>(i) * 0x9e3779b9u) < below ? 0 : x[i] * scale;
  }
};
struct drop_back_loop {
  [[gnu::always_inline]] static void run(f32* dx, const f32* dy, u32 key, u32 below, f32 scale, int n) {
    for (int i = 0; i < n; ++i)
      dx[i] += mixed(key + static_cast<u32>(i) * 0x9e3779b9u) < below ? 0 : dy[i] * scale;
  }
};

}  // namespace detail

/// y = x without those that are dropped, n numbers of a row from number `from` on; y may be x.
inline void drop(f32* y, const f32* x, const dropping& how, int from, int n) {
  run_vectorized<detail::drop_loop>(y, x, how.key + static_cast<u32>(from) * 0x9e3779b9u, how.below,
                                    how.scale, n);
}
/// dx += the gradient through y = drop(x).
inline void drop_back(f32* dx, const f32* dy, const dropping& how, int from, int n) {
  run_vectorized<detail::drop_back_loop>(dx, dy, how.key + static_cast<u32>(from) * 0x9e3779b9u, how.below,
                                         how.scale, n);
}

}  // namespace wsl::ml
