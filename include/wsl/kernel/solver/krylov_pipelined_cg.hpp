// SPDX-License-Identifier: MIT
// Pipelined conjugate gradients (Ghysels and Vanroose, Parallel Computing 40, 2014): one total an iteration,
// which travels while the PEs apply the preconditioner and multiply. The price is more vectors and more
// rounding: what the recurrences keep departs from what it stands for. So all of it is computed anew now and
// then, but for the direction of the search, with which the method goes on (Cools et al., SIAM J. Matrix
// Anal. Appl. 39, 2018).
#pragma once
#include "krylov_precondition.hpp"

namespace wsl::solver {

struct pipelined_conjugate_gradients {
  static constexpr const char* name = "pipelined conjugate gradients";
  static constexpr bool needs_symmetry = true;
  static int vectors(int) { return 9; }
  template <class T>
  static procedure run(krylov_pe& k);

 private:
  static constexpr int iterations_between_replacements = 25;
};

template <class T>
procedure pipelined_conjugate_gradients::run(krylov_pe& k) {
  // u = M r, w = A u, m = M w, n = A m; s = A p, q = M s, z = A q
  enum : int { r = vector_r, d = vector_d, u = first_of_method, w, m, n, z, q, s, p, right };
  k.sweep<T>({right, r}, [](const auto& c, auto&) __attribute__((always_inline)) { c[0] = c[1]; });
  k.clear<T>({d, z, q, s, p});
  co_await precondition<T>(k, u, r);
  co_await k.product<T>(0, w, u);
  f64 gamma = 0, along = 0;
  for (int i = 0;; ++i) {
    const bool is_first = i == 0;
    if (!is_first && i % iterations_between_replacements == 0) {
      co_await k.product<T>(0, n, d);
      k.sweep<T>({r, right, n},
                 [](const auto& c, auto&) __attribute__((always_inline)) { c[0] = c[1] - c[2]; });
      co_await precondition<T>(k, u, r);
      co_await k.product<T>(0, w, u);
      co_await k.product<T>(0, s, p);
      co_await precondition<T>(k, q, s);
      co_await k.product<T>(0, z, q);
    }
    const std::array<f64, 3> own =
        k.sweep<T, 3>({r, u, w}, [](const auto& c, auto& sum) __attribute__((always_inline)) {
          sum[0] += c[0] * c[1];
          sum[1] += c[2] * c[1];
          sum[2] += c[0] * c[0];
        });
    k.begin_totals(own);
    co_await precondition<T>(k, m, w);
    co_await k.product<T>(0, n, m);
    const std::span<const f64> total = co_await k.totals();
    const f64 before = gamma, delta = total[1], rr = total[2];
    gamma = total[0];
    // that of the x before this iteration's update, which is the last iteration's
    if (!is_first)
      if (co_await k.iterated(std::sqrt(rr))) co_return;
    const f64 ratio = is_first ? 0 : gamma / before,
              curvature = is_first ? delta : delta - ratio * gamma / along;
    if (!std::isfinite(gamma) || !std::isfinite(curvature)) {
      k.how = ending::not_finite;
      co_return;
    }
    if (!(gamma > 0) || !(curvature > 0)) {
      // It may be rounding. The next direction and its product tell the truth.
      k.sweep<T>({p, u}, [beta = static_cast<T>(ratio)](const auto& c, auto&)
                             __attribute__((always_inline)) { c[0] = c[1] + beta * c[0]; });
      const std::array<f64, 1> exact{co_await k.product_and_dot<T>(0, s, p)};
      k.how = (co_await k.total(exact))[0] > 0 && gamma > 0 ? ending::breakdown : ending::indefinite;
      co_return;
    }
    along = gamma / curvature;
    const T alpha = static_cast<T>(along), beta = static_cast<T>(ratio);
    k.sweep<T>({d, r, u, w, m, n, z, q, s, p}, [=](const auto& c, auto&) __attribute__((always_inline)) {
      c[6] = c[5] + beta * c[6];
      c[7] = c[4] + beta * c[7];
      c[8] = c[3] + beta * c[8];
      c[9] = c[2] + beta * c[9];
      c[0] += alpha * c[9];
      c[1] -= alpha * c[8];
      c[2] -= alpha * c[7];
      c[3] -= alpha * c[6];
    });
  }
}

}  // namespace wsl::solver
