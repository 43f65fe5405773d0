// SPDX-License-Identifier: MIT
// Loss scaling for 16-bit formats.
//   cstorch::amp::grad_scaler scaler(ml::grad_scaler_settings::float16());   // or a number
//   cstorch::amp::optimizer_step(loss, optimizer, scaler, {.max_gradient_norm = 1});
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "optim.hpp"

namespace wsl::ml::cstorch::amp {

class grad_scaler {
 public:
  /// A number, or the settings of a dynamic scale.
  explicit grad_scaler(loss_scaling_factor how) : how_(std::move(how)) {}
  const loss_scaling_factor& factor() const { return how_; }

 private:
  loss_scaling_factor how_;
};

/// Bounds of gradients; at most one of them. 0: none.
struct gradient_bounds {
  f64 max_gradient_norm = 0, max_gradient_value = 0;
};

/// Scales the loss, makes its gradients, bounds them, and lets the optimizer take a step, which is skipped
/// where a gradient is not finite. Throws std::invalid_argument for two bounds, or for one that is negative.
inline void optimizer_step(const tensor& loss, const optim::optimizer& by, const grad_scaler& scaler,
                           const gradient_bounds& most = {}) {
  if (most.max_gradient_norm < 0 || most.max_gradient_value < 0 ||
      (most.max_gradient_norm > 0 && most.max_gradient_value > 0))
    throw std::invalid_argument(
        fmt::format("wsl: max_gradient_norm {} and max_gradient_value {}: at most one is given, above 0",
                    most.max_gradient_norm, most.max_gradient_value));
  recording& r = recording::of("amp::optimizer_step");
  loss.backward();
  r.clip_norm = most.max_gradient_norm, r.clip_value = most.max_gradient_value;
  r.scaling = scaler.factor();
  by.step();
}

}  // namespace wsl::ml::cstorch::amp
