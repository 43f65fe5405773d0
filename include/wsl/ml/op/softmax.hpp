// SPDX-License-Identifier: MIT
// Softmax of rows, and the cross-entropy of tokens. A row lies on one PE; the PEs add up one number, the
// loss.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
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

inline void require_class(int token, i32 target, int classes) {
  if (target < 0 || target >= classes)
    throw std::invalid_argument(
        fmt::format("wsl: token {} has target {} of {} classes", token, target, classes));
}

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

/// How a cross-entropy treats targets: see cross_entropy_settings.
struct cross_entropy_rule {
  f32 smoothing = 0, z_loss = 0;
  std::optional<i32> ignored = {};
};

/// Returns the cross-entropy of the logits of one row with n classes, times `of_loss`; the row becomes
/// `weight` times its gradient. With smoothing s it is (1 - s) times that of the target plus s times the mean
/// of those of all classes.
inline f64 cross_entropy_of_row(f32* row, int n, i32 target, f32 of_loss, f32 weight,
                                const cross_entropy_rule& rule = {}) {
  if (rule.ignored == target) {
    std::fill_n(row, n, 0.f);
    return 0;
  }
  const f32 of_right = row[target], smooth = rule.smoothing, size = static_cast<f32>(n);
  f64 sum_of_logits = 0;
  for (int i = 0; i < n && smooth > 0; ++i) sum_of_logits += static_cast<f64>(row[i]);
  f32 shift, total;
  run_vectorized<detail::exponentials_loop>(row, &shift, &total, static_cast<const f32*>(row), n);
  const f64 log_sum = std::log(static_cast<f64>(total)) + static_cast<f64>(shift);
  f64 loss = log_sum - static_cast<f64>(of_right);
  f32 of_softmax = 1;
  if (smooth > 0)
    loss += static_cast<f64>(smooth) * (static_cast<f64>(of_right) - sum_of_logits / static_cast<f64>(n));
  if (rule.z_loss > 0) {
    loss += static_cast<f64>(rule.z_loss) * log_sum * log_sum;
    of_softmax += 2 * rule.z_loss * static_cast<f32>(log_sum);
  }
  run_vectorized<detail::scale_loop>(row, of_loss * weight * of_softmax / total, n);
  for (int i = 0; i < n && smooth > 0; ++i) row[i] -= of_loss * weight * smooth / size;
  row[target] -= of_loss * weight * (1 - smooth);
  return static_cast<f64>(of_loss) * loss;
}

/// log softmax(logits)[target] of one row with n classes; `room` is for n numbers.
inline f64 log_softmax_of_row(const f32* logits, int n, i32 target, f32* room) {
  f32 shift, total;
  run_vectorized<detail::exponentials_loop>(room, &shift, &total, logits, n);
  return static_cast<f64>(logits[target]) - static_cast<f64>(shift) - std::log(static_cast<f64>(total));
}

/// Returns the sum over the tokens of -mask log softmax(logits)[target]; an empty mask counts 1 everywhere.
/// The logits, (tokens, classes), become the gradient of the loss times `weight`, which is 1 / (number of
/// tokens) for a mean. Throws std::invalid_argument for a target that is no class.
inline f64 cross_entropy(const matrix<f32>& logits, std::span<const i32> target, std::span<const f32> mask,
                         f32 weight) {
  f64 loss = 0;
  for (int t = 0; t < logits.rows(); ++t) {
    const std::size_t token = static_cast<std::size_t>(t);
    detail::require_class(t, target[token], logits.columns());
    loss += cross_entropy_of_row(logits.row(t), logits.columns(), target[token],
                                 mask.empty() ? 1 : mask[token], weight);
  }
  return loss;
}

}  // namespace wsl::ml
