// SPDX-License-Identifier: MIT
// Derivatives along one axis, of eighth order.
#pragma once
#include "scheme.hpp"

namespace wsl::wave25 {

/// First derivative along an axis at distances 1 to 4, for a spacing of 1; as the weights of scheme.hpp.
inline constexpr f64 slopes[reach + 1] = {0, 4. / 5, -1. / 5, 4. / 105, -1. / 280};

/// The first derivative of a field along an axis in the words of a stencil's update, for a spacing of 1.
template <int axis>
constexpr auto slope_of(const auto& u) {
  const auto pair = [&](int r) {
    return f32(slopes[r]) * (u(r * (axis == 0), r * (axis == 1), r * (axis == 2)) -
                             u(-r * (axis == 0), -r * (axis == 1), -r * (axis == 2)));
  };
  return (pair(1) + pair(2)) + (pair(3) + pair(4));
}
/// And the second derivative.
template <int axis>
constexpr auto curve_of(const auto& u) {
  const auto pair = [&](int r) {
    return f32(weights[r]) * (u(r * (axis == 0), r * (axis == 1), r * (axis == 2)) +
                              u(-r * (axis == 0), -r * (axis == 1), -r * (axis == 2)));
  };
  return f32(weights[0]) * u(0, 0, 0) + ((pair(1) + pair(2)) + (pair(3) + pair(4)));
}

}  // namespace wsl::wave25
