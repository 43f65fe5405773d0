// SPDX-License-Identifier: MIT
// Least squares with a matrix of which only products are known, by LSQR (Paige and Saunders, ACM Transactions
// on Mathematical Software 8, 1982): the x with the smallest |A x - b|^2 + damping^2 |x|^2. With low-rank
// tiles it is the inner loop of multidimensional deconvolution:
//   tlr::multiplier<T> product{a};
//   const auto [x, steps, ...] = tlr::least_squares<T>(product, a.columns(), b);
// See examples/122_deconvolution.cpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "low_rank.hpp"

namespace wsl::tlr {

struct least_squares_options {
  f64 tolerance = 1e-6;  ///< of |A x - b|, in |b|; and of |A^H (A x - b)|, in |A| |A x - b|
  int max_steps = 200;
  f64 damping = 0;  ///< the weight of |x|
};

/// Why the steps have ended.
enum class least_squares_end : u8 {
  fits,     ///< A x = b up to the tolerance
  closest,  ///< no x comes closer to b, up to the tolerance
  steps,    ///< the largest number of steps has been taken: x is the best so far
};

template <class T>
struct least_squares_result {
  std::vector<T> x;
  int steps = 0;
  least_squares_end ending = least_squares_end::steps;
  /// |A x - b|, with damping also |damping x|, as the recurrence has it; and after each step
  f64 residual = 0;
  std::vector<f64> history;
};

namespace detail {

/// A vector that is kept at length 1, with products that are vectors of T.
template <class T, class Product>
class unit_vector {
 public:
  unit_vector(Product& a, std::size_t n, operation which) : a_(a), which_(which), v_(n), product_(n) {}

  std::span<const T> now() const { return v_; }
  /// v = A u - by v, made a unit vector; returns its length before.
  f64 renew(std::span<const T> u, f64 by) {
    a_(std::span<T>(product_), u, which_);
    for (std::size_t i = 0; i < v_.size(); ++i)
      product_[i] = static_cast<T>(wide<T>(product_[i]) - by * wide<T>(v_[i]));
    return take(product_);
  }
  f64 take(std::span<const T> from) {
    f64 square = 0;
    for (const T& x : from) square += std::norm(wide<T>(x));
    const f64 length = std::sqrt(square);
    for (std::size_t i = 0; i < v_.size(); ++i)
      v_[i] = length > 0 ? static_cast<T>(wide<T>(from[i]) / length) : T{};
    return length;
  }

 private:
  Product& a_;
  operation which_;
  std::vector<T> v_, product_;
};

}  // namespace detail

/// `a(y, x, operation)` multiplies as `multiplier` does, with `forward` and `adjoint`; A has b.size() rows.
/// Sums are in f64 and in one order, so the result does not depend on threads. Throws std::invalid_argument
/// for options that are no numbers or out of range, and for a b that is not finite.
template <class T, class Product>
least_squares_result<T> least_squares(Product& a, int columns, std::span<const T> b,
                                      const least_squares_options& how = {}) {
  if (!(how.tolerance >= 0) || !(how.damping >= 0) || !std::isfinite(how.damping) || how.max_steps < 1)
    support::bad_argument(
        {"least squares take a tolerance and a damping of at least 0, and at least 1 step; the ",
         !(how.tolerance >= 0) ? "tolerance"
         : how.max_steps < 1   ? "number of steps"
                               : "damping",
         " is none of these"});
  if (columns < 1 || b.empty())
    support::bad_argument({"least squares need a matrix, not one of (", b.size(), ", ", columns, ")"});
  const std::size_t n = static_cast<std::size_t>(columns);
  detail::unit_vector<T, Product> u(a, b.size(), operation::forward), v(a, n, operation::adjoint);
  least_squares_result<T> out{std::vector<T>(n), 0, least_squares_end::fits, 0, {}};
  const f64 size = u.take(b);
  if (!std::isfinite(size)) {
    const auto strange =
        std::find_if_not(b.begin(), b.end(), [](const T& x) { return detail::is_finite(x); });
    support::bad_argument(
        {"least squares need a right side that is finite, and its number ", strange - b.begin(), " is not"});
  }
  if (size == 0) return out;
  f64 alpha = v.renew(u.now(), 0);

  std::vector<wide<T>> x(n), direction(v.now().begin(), v.now().end());
  f64 phi = size, rho = alpha, norm = 0, damped = 0;  // with a bar in the paper, the first two
  out.residual = size;
  out.ending = alpha == 0 ? least_squares_end::closest : least_squares_end::steps;
  while (out.ending == least_squares_end::steps && out.steps < how.max_steps) {
    ++out.steps;
    const f64 beta = u.renew(v.now(), alpha);
    norm += alpha * alpha + beta * beta + how.damping * how.damping;
    alpha = v.renew(u.now(), beta);

    const f64 with_damping = std::hypot(rho, how.damping);
    damped += std::pow(how.damping / with_damping * phi, 2);
    phi *= rho / with_damping;
    const f64 turned = std::hypot(with_damping, beta), c = with_damping / turned, s = beta / turned;
    const f64 step = c * phi / turned, back = s * alpha / turned;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] += step * direction[i];
      direction[i] = wide<T>(v.now()[i]) - back * direction[i];
    }
    rho = -c * alpha, phi *= s;
    out.residual = std::sqrt(phi * phi + damped);
    out.history.push_back(out.residual);
    if (!std::isfinite(out.residual))
      support::bad_argument({"a product of least squares is not finite: are the matrix and its tiles?"});
    if (out.residual <= how.tolerance * size) out.ending = least_squares_end::fits;
    else if (std::abs(phi * alpha * c) <= how.tolerance * std::sqrt(norm) * out.residual)
      out.ending = least_squares_end::closest;
  }
  for (std::size_t i = 0; i < n; ++i) out.x[i] = static_cast<T>(x[i]);
  return out;
}

}  // namespace wsl::tlr
