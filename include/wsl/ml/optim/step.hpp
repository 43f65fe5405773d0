// SPDX-License-Identifier: MIT
// One step of an optimizer, as the PEs that own parameters carry it out: the rule, the learning rate of this
// step, its number, and how gradients are clipped.
#pragma once
#include <fmt/format.h>

#include <stdexcept>

#include "optimizer.hpp"

namespace wsl::ml {

/// Bounds of the gradients; 0 means no bound. `norm` bounds the norm of all gradients together, `value` the
/// absolute value of each.
struct clipping {
  f64 norm = 0, value = 0;

  /// Throws std::invalid_argument if both bounds are given, or if one is negative or NaN.
  static clipping checked(f64 norm, f64 value) {
    if (!(norm >= 0) || !(value >= 0))
      throw std::invalid_argument(
          fmt::format("wsl: gradients are clipped by a positive norm or value, or by 0 for none, not by {}",
                      norm >= 0 ? value : norm));
    if (norm > 0 && value > 0)
      throw std::invalid_argument("wsl: gradients are clipped by their norm or by their values, not by both");
    return {norm, value};
  }
};

struct optimizer_step {
  optimizer rule;
  f32 rate = 0;
  i64 number = 1;  ///< 1, 2, ...
  clipping clip = {};

  /// Whether a parameter is updated as soon as its own gradient is complete. If the norm is clipped, every
  /// update waits for the norm of all gradients.
  bool updates_at_once() const { return clip.norm == 0; }

  /// Updates n numbers of parameter p by their gradients times `scale`. The gradients are clipped by value
  /// first, in place.
  void apply(const parameter& p, f32* numbers, const moments& kept, f32* gradient, f32 scale, int n) const {
    if (clip.value > 0) clip_by_value(gradient, static_cast<f32>(clip.value), n);
    update(rule, numbers, kept, gradient, scale, rate * p.rate_factor, does_decay(rule.which, p), number, n);
  }
};

}  // namespace wsl::ml
