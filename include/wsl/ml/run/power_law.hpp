// SPDX-License-Identifier: MIT
// A scaling law: loss = a C^b + c, in which C is what training costs, c what no model learns, and b, below
// 0, how fast the rest of the loss falls (Kaplan et al., arXiv 2001.08361). It is fitted to the runs of
// small models, and says what a larger one will reach:
//   const power_law law = fit_power_law(costs, losses);
//   law(1e20)
// See docs/guide/scaling_laws.md.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>

#include "../../core/scalar.hpp"

namespace wsl::ml {

struct power_law {
  f64 a = 0, b = 0, c = 0;
  f64 error = 0;  ///< the root of the mean square of what the law misses of the fitted losses

  f64 operator()(f64 x) const { return a * std::pow(x, b) + c; }
};

namespace detail {

/// Throws std::invalid_argument unless there are so many different positive numbers with finite values.
inline void require_points(std::span<const f64> x, std::span<const f64> y, std::size_t fewest,
                           const char* what) {
  if (x.size() != y.size())
    throw std::invalid_argument(fmt::format(
        "wsl: {} is fitted to as many values as there are places, not {} to {}", what, y.size(), x.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i] > 0) || std::isinf(x[i]) || !std::isfinite(y[i]))
      throw std::invalid_argument(fmt::format(
          "wsl: {} is fitted at positive places to finite values, not at {} to {}", what, x[i], y[i]));
  if (const std::set<f64> different(x.begin(), x.end()); different.size() < fewest)
    throw std::invalid_argument(fmt::format("wsl: {} is fitted at {} different places at least, not {}", what,
                                            fewest, different.size()));
}

/// The law of this exponent with the least sum of squares: a is at least 0, and c between 0 and the least
/// loss. `middle` is the unit of x, so that no power is too large for an f64.
inline power_law law_with(f64 b, std::span<const f64> x, std::span<const f64> y, f64 middle) {
  const f64 n = static_cast<f64>(x.size()), most = *std::min_element(y.begin(), y.end());
  f64 sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const f64 p = std::pow(x[i] / middle, b);
    sx += p, sy += y[i], sxx += p * p, sxy += p * y[i];
  }
  const f64 variance = sxx - sx * sx / n;
  f64 a = variance > 0 ? (sxy - sx * sy / n) / variance : 0, c = (sy - a * sx) / n;
  if (c < 0 || c > most) {
    c = std::clamp(c, 0., most);
    a = (sxy - c * sx) / sxx;
  }
  power_law law{std::max(a, 0.), b, c};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const f64 miss = law.a * std::pow(x[i] / middle, b) + law.c - y[i];
    law.error += miss * miss;
  }
  return law;
}

}  // namespace detail

/// Fits loss = a C^b + c by least squares: for each exponent b the best a >= 0 and c >= 0 follow from a
/// linear system, and b is looked for from -2 to -0.001, first on a grid and then by golden sections. Throws
/// std::invalid_argument for fewer than 3 different costs, and for costs and losses that are not positive
/// and finite.
inline power_law fit_power_law(std::span<const f64> costs, std::span<const f64> losses) {
  detail::require_points(costs, losses, 3, "a power law");
  for (const f64 y : losses)
    if (!(y > 0))
      throw std::invalid_argument(fmt::format("wsl: a power law is fitted to positive losses, not {}", y));
  f64 logs = 0;
  for (const f64 x : costs) logs += std::log(x);
  const f64 middle = std::exp(logs / static_cast<f64>(costs.size()));
  // Exponents are looked for by their logarithms.
  const auto law_at = [&](f64 log_b) { return detail::law_with(-std::exp(log_b), costs, losses, middle); };
  const f64 least = std::log(0.001), most = std::log(2.);
  constexpr int steps = 400;
  const f64 by = (most - least) / steps;
  f64 best = least, error = std::numeric_limits<f64>::infinity();
  for (int k = 0; k <= steps; ++k)
    if (const f64 e = law_at(least + k * by).error; e < error) error = e, best = least + k * by;
  f64 from = std::max(least, best - by), to = std::min(most, best + by);
  const f64 golden = (std::sqrt(5.) - 1) / 2;
  for (int k = 0; k < 100; ++k) {
    const f64 low = to - golden * (to - from), high = from + golden * (to - from);
    if (law_at(low).error < law_at(high).error) to = high;
    else from = low;
  }
  power_law law = law_at((from + to) / 2);
  law.a *= std::pow(middle, -law.b);
  law.error = std::sqrt(law.error / static_cast<f64>(costs.size()));
  return law;
}

/// The exponent s of the line y = k x^s through logarithms with the least squares: how fast y grows with x.
/// Throws std::invalid_argument for fewer than 2 different places, and for numbers that are not positive and
/// finite.
inline f64 log_slope(std::span<const f64> x, std::span<const f64> y) {
  detail::require_points(x, y, 2, "a slope");
  f64 sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(y[i] > 0))
      throw std::invalid_argument(fmt::format("wsl: a slope is fitted to positive values, not {}", y[i]));
    const f64 u = std::log(x[i]), v = std::log(y[i]);
    sx += u, sy += v, sxx += u * u, sxy += u * v;
  }
  const f64 n = static_cast<f64>(x.size());
  return (sxy - sx * sy / n) / (sxx - sx * sx / n);
}

}  // namespace wsl::ml
