// SPDX-License-Identifier: MIT
// The Chebyshev iteration for symmetric positive definite matrices on PEs (Saad, Iterative Methods for Sparse
// Linear Systems, 12.3): no step waits for a total. The norm of the residual is totalled while the PEs apply
// the preconditioner, and only decides when to end. The method needs bounds of the eigenvalues of the
// preconditioned matrix; where they are not given, its first iterations are conjugate gradients, which tell
// the outer eigenvalues (Lanczos).
#pragma once
#include "krylov_cg.hpp"

namespace wsl::solver {

/// The smallest and the largest eigenvalue of a symmetric tridiagonal matrix, by bisection (Sturm).
inline std::array<f64, 2> outer_eigenvalues(const std::vector<f64>& diagonal,
                                            const std::vector<f64>& beside) {
  const std::size_t n = diagonal.size();
  f64 low = std::numeric_limits<f64>::infinity(), high = -low;
  for (std::size_t i = 0; i < n; ++i) {
    const f64 radius = (i > 0 ? std::abs(beside[i - 1]) : 0) + (i + 1 < n ? std::abs(beside[i]) : 0);
    low = std::min(low, diagonal[i] - radius), high = std::max(high, diagonal[i] + radius);
  }
  const auto below = [&](f64 x) {  // how many eigenvalues are smaller than x
    std::size_t count = 0;
    f64 q = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const f64 coupling = i > 0 ? beside[i - 1] * beside[i - 1] : 0;
      q = diagonal[i] - x - (i > 0 ? coupling / (q == 0 ? 1e-300 : q) : 0);
      count += q < 0;
    }
    return count;
  };
  const auto where_more_than = [&](std::size_t count) {
    f64 a = low, b = high;
    for (int i = 0; i < 100; ++i) {
      const f64 middle = (a + b) / 2;
      (below(middle) > count ? b : a) = middle;
    }
    return (a + b) / 2;
  };
  return {where_more_than(0), where_more_than(n - 1)};
}

struct chebyshev_iteration {
  static constexpr const char* name = "the Chebyshev iteration";
  static constexpr bool needs_symmetry = true;
  static int vectors(int) { return 3; }
  template <class T>
  static procedure run(krylov_pe& k);

 private:
  static constexpr int steps_for_bounds = 24, most_times_widened = 6;
  static void find_bounds(krylov_pe& k, const lanczos_steps& s) {
    std::vector<f64> diagonal, beside;
    for (std::size_t i = 0; i < s.alpha.size(); ++i) {
      diagonal.push_back(1 / s.alpha[i] + (i > 0 ? s.beta[i - 1] / s.alpha[i - 1] : 0));
      beside.push_back(std::sqrt(std::max(s.beta[i], 0.)) / s.alpha[i]);
    }
    const auto [least, most] = outer_eigenvalues(diagonal, beside);
    // The process finds them from inside. Eigenvalues below the lower bound only take longer.
    k.smallest = 0.7 * least, k.largest = 1.1 * most;
  }
};

template <class T>
procedure chebyshev_iteration::run(krylov_pe& k) {
  enum : int { r = vector_r, d = vector_d, z = first_of_method, p, q };
  if (k.largest == 0) {
    lanczos_steps steps;
    co_await iterate_conjugate_gradients<T>(k, steps_for_bounds, &steps);
    if (k.how == ending::none && !steps.alpha.empty()) find_bounds(k, steps);
    co_return;
  }
  const f64 centre = (k.largest + k.smallest) / 2, radius = (k.largest - k.smallest) / 2;
  const T first = static_cast<T>(1 / centre);
  co_await precondition<T>(k, z, r);
  k.clear<T>({d});
  k.sweep<T>({p, z}, [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] = first * c[1]; });
  f64 rho = radius / centre, begun = 0;
  for (;;) {
    co_await k.product<T>(0, q, p);
    const std::array<f64, 1> own =
        k.sweep<T, 1>({d, p, r, q}, [](const auto& c, auto& sum) __attribute__((always_inline)) {
          c[0] += c[1];
          const auto residual = c[2] - c[3];
          c[2] = residual;
          sum[0] += residual * residual;
        });
    k.begin_totals(own);
    co_await precondition<T>(k, z, r);
    const f64 rr = (co_await k.totals())[0];
    if (begun == 0) begun = rr;
    if (!(rr < 1e6 * begun)) {
      // The part of an eigenvalue beyond the upper bound grows: the correction is worthless. The next call
      // has a larger bound.
      k.clear<T>({d});
      k.largest *= 1.5;
      if (++k.times_widened == most_times_widened) k.how = ending::diverged;
      co_return;
    }
    if (co_await k.iterated(std::sqrt(rr))) co_return;
    const f64 next = 1 / (2 * centre / radius - rho);
    const T keep = static_cast<T>(next * rho), add = static_cast<T>(2 * next / radius);
    rho = next;
    k.sweep<T>({p, z},
               [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] = keep * c[0] + add * c[1]; });
  }
}

}  // namespace wsl::solver
