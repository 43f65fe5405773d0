// SPDX-License-Identifier: MIT
// Losses that are functions of single numbers and their targets. Each rule has the value and its slopes; the
// formulas are those of PyTorch.
#pragma once
#include <cmath>

#include "functions.hpp"
#include "loop.hpp"

namespace wsl::ml {

/// (x - y)^2, as torch.nn.MSELoss.
struct squared_error {
  static constexpr bool takes_classes = false;  ///< whether a target may be a class, 0 or 1
  static f64 value(f32 x, f32 y) {
    const f64 d = static_cast<f64>(x) - static_cast<f64>(y);
    return d * d;
  }
  static f32 slope(f32 x, f32 y) { return 2 * (x - y); }
  static f32 slope_of_target(f32 x, f32 y) { return 2 * (y - x); }
};

/// -y log sigmoid(x) - (1 - y) log(1 - sigmoid(x)), as torch.nn.BCEWithLogitsLoss.
struct binary_cross_entropy_of_logit {
  static constexpr bool takes_classes = true;
  static f64 value(f32 x, f32 y) {
    const f64 logit = static_cast<f64>(x);
    return std::max(logit, 0.) - logit * static_cast<f64>(y) + std::log1p(std::exp(-std::abs(logit)));
  }
  static f32 slope(f32 x, f32 y) { return sigmoid(x) - y; }
  static f32 slope_of_target(f32 x, f32) { return -x; }
};

/// Returns the sum of Rule::value(x[i], y[i]) for i below n, and adds `weight` times the slopes to dx, and to
/// dy, which may be null.
template <class Rule>
f64 elementwise_loss_of_row(f32* dx, f32* dy, const f32* x, const f32* y, int n, f32 weight) {
  f64 sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += Rule::value(x[i], y[i]);
    dx[i] += weight * Rule::slope(x[i], y[i]);
    if (dy) dy[i] += weight * Rule::slope_of_target(x[i], y[i]);
  }
  return sum;
}

}  // namespace wsl::ml
