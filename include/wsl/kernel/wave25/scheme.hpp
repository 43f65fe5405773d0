// SPDX-License-Identifier: MIT
// The scheme of wave25: the acoustic wave equation u_tt = c^2 Lap u on a grid of equal spacing h, second
// order in time and eighth in space:
//   u+ = 2 u - u- + (c dt / h)^2 * sum over axes and distances of weight * u
// The stencil has 25 points: the centre and four neighbours on each side along three axes. Weights: Fornberg,
// Math. Comp. 51 (1988); the wafer's version of the kernel: Jacquelin et al., arXiv 2204.03775.
#pragma once
#include <cmath>

#include "../../core/scalar.hpp"

namespace wsl::wave25 {

/// The radius of the stencil, in cells.
inline constexpr int reach = 4;

/// Weights of the second derivative along one axis at distances 0 to 4, for a spacing of 1.
inline constexpr f64 weights[reach + 1] = {-205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560};

/// The sum of all absolute weights of the three axes: the largest eigenvalue of the operator for a spacing of
/// 1.
inline constexpr f64 spectral_radius =
    -3 * weights[0] + 6 * (weights[1] - weights[2] + weights[3] - weights[4]);

/// The largest time step in s at which the scheme is stable, for a velocity in m/s and a spacing in m.
inline f64 largest_stable_step(f64 fastest, f64 spacing) {
  return 2 * spacing / (fastest * std::sqrt(spectral_radius));
}

/// A Ricker wavelet with its peak at t = delay: the second derivative of a Gaussian, scaled to 1 there; t and
/// delay in s.
inline f64 ricker(f64 t, f64 peak_hz, f64 delay) {
  const f64 pi = 3.14159265358979323846, a = pi * peak_hz * (t - delay);
  return (1 - 2 * a * a) * std::exp(-a * a);
}

}  // namespace wsl::wave25
