// SPDX-License-Identifier: MIT
// Dropout: each number becomes 0 with some probability, and is scaled up otherwise, so that its mean stays.
// Whether a number is dropped is a function of the step and of its place in the batch, not of a generator's
// state. However the batch is divided over workers, the same numbers are dropped, and the backward pass finds
// them without a mask in memory.
#pragma once
#include <span>

#include "loop.hpp"

namespace wsl::ml {

/// Every bit of the result depends on every bit of x. The constants are those of C. Wellons' lowbias32.
[[gnu::always_inline]] inline u32 mixed(u32 x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
/// A new key from a key and a number.
inline u32 mixed(u32 key, u64 with) {
  return mixed(mixed(key ^ static_cast<u32>(with)) + static_cast<u32>(with >> 32) * 0x9e3779b9u);
}

/// The source of dropout in a step, on one PE.
struct dropout_generator {
  bool on = false;         ///< whether the step trains; false: nothing is dropped, as in evaluation
  u32 key = 0;             ///< the key of the step
  i64 first_sequence = 0;  ///< number in the batch of the first sequence on this PE
  /// Tokens of a sequence of the batch on each axis, where those here have been shortened
  /// (model/padding.hpp); empty: as many.
  std::span<const int> lengths = {};
};

/// With which probability numbers of a row are dropped, and the key of the row.
struct dropout_rule {
  u32 below = 0;  ///< a number is dropped if its hash is below this; 0: never
  f32 scale = 1;
  u32 key = 0;

  /// Drops with a probability of at least 0 and below 1.
  static dropout_rule with(f32 probability, u32 key) {
    return {static_cast<u32>(static_cast<f64>(probability) * 0x1p32), 1 / (1 - probability), key};
  }
  dropout_rule of_row(u64 row) const { return {below, scale, mixed(key, row)}; }
};

namespace detail {

struct drop_loop {
  [[gnu::always_inline]] static void run(f32* y, const f32* x, u32 key, u32 below, f32 scale, int n) {
    for (int i = 0; i < n; ++i)
      y[i] = mixed(key + static_cast<u32>(i) * 0x9e3779b9u) < below ? 0 : x[i] * scale;
  }
};
struct drop_backward_loop {
  [[gnu::always_inline]] static void run(f32* dx, const f32* dy, u32 key, u32 below, f32 scale, int n) {
    for (int i = 0; i < n; ++i)
      dx[i] += mixed(key + static_cast<u32>(i) * 0x9e3779b9u) < below ? 0 : dy[i] * scale;
  }
};

}  // namespace detail

/// y = dropout(x) for n numbers of a row, which begin at number `from`; y may be x.
inline void drop(f32* y, const f32* x, const dropout_rule& how, int from, int n) {
  run_vectorized<detail::drop_loop>(y, x, how.key + static_cast<u32>(from) * 0x9e3779b9u, how.below,
                                    how.scale, n);
}
/// dx += the gradient through y = drop(x).
inline void drop_backward(f32* dx, const f32* dy, const dropout_rule& how, int from, int n) {
  run_vectorized<detail::drop_backward_loop>(dx, dy, how.key + static_cast<u32>(from) * 0x9e3779b9u,
                                             how.below, how.scale, n);
}

}  // namespace wsl::ml
