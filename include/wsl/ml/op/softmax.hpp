// SPDX-License-Identifier: MIT
// Softmax of rows, and the cross-entropy of tokens. A row lies on one PE; the PEs add up one number, the
// loss.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

#include "functions.hpp"
#include "loop.hpp"

namespace wsl::ml {

namespace detail {

/// y = e^(x - largest x); `*total` becomes the sum of y, `*shift` the largest x.
struct exponentials_loop {
  [[gnu::always_inline]] static void run(f32* y, f32* shift, f32* total, const f32* x, int n) {
    const f32 largest = largest_of(n, [x](int i) { return x[i]; });
    for (int i = 0; i < n; ++i) y[i] = exponential(x[i] - largest);
    *shift = largest;
    *total = sum_of(n, [y](int i) { return y[i]; });
  }
};
struct scale_loop {
  [[gnu::always_inline]] static void run(f32* y, f32 by, int n) {
    for (int i = 0; i < n; ++i) y[i] *= by;
  }
};
struct softmax_backward_loop {
  [[gnu::always_inline]] static void run(f32* dx, const f32* dy, const f32* y, int n) {
    const f32 mean = sum_of(n, [=](int i) { return dy[i] * y[i]; });
    for (int i = 0; i < n; ++i) dx[i] += (dy[i] - mean) * y[i];
  }
};

}  // namespace detail

/// y = e^x / sum of e^x, row by row; y may be x.
inline void softmax(const matrix<f32>& y, const matrix<const f32>& x) {
  for (int t = 0; t < x.rows(); ++t) {
    f32 shift, total;
    run_vectorized<detail::exponentials_loop>(y.row(t), &shift, &total, x.row(t), x.columns());
    run_vectorized<detail::scale_loop>(y.row(t), 1 / total, x.columns());
  }
}
/// dx += the gradient through y = softmax(x).
inline void softmax_backward(const matrix<f32>& dx, const matrix<const f32>& dy, const matrix<const f32>& y) {
  for (int t = 0; t < y.rows(); ++t)
    run_vectorized<detail::softmax_backward_loop>(dx.row(t), dy.row(t), y.row(t), y.columns());
}

/// Returns the sum over the tokens of -mask log softmax(logits)[target]; an empty mask counts 1 everywhere.
/// The logits, (tokens, classes), become the gradient of the loss times `weight`, which is 1 / (number of
/// tokens) for a mean. Throws std::invalid_argument for a target that is no class.
inline f64 cross_entropy(const matrix<f32>& logits, std::span<const i32> target, std::span<const f32> mask,
                         f32 weight) {
  f64 loss = 0;
  for (int t = 0; t < logits.rows(); ++t) {
    const std::size_t token = static_cast<std::size_t>(t);
    const i32 right = target[token];
    if (right < 0 || right >= logits.columns())
      throw std::invalid_argument(
          fmt::format("wsl: token {} has target {} of {} classes", t, right, logits.columns()));
    const f32 of_loss = mask.empty() ? 1 : mask[token];
    f32* row = logits.row(t);
    const f32 of_right = row[right];
    f32 shift, total;
    run_vectorized<detail::exponentials_loop>(row, &shift, &total, static_cast<const f32*>(row),
                                              logits.columns());
    loss += static_cast<f64>(of_loss) *
            (std::log(static_cast<f64>(total)) + static_cast<f64>(shift) - static_cast<f64>(of_right));
    run_vectorized<detail::scale_loop>(row, of_loss * weight / total, logits.columns());
    row[right] -= of_loss * weight;
  }
  return loss;
}

}  // namespace wsl::ml
