// SPDX-License-Identifier: MIT
// BiCGStab for any sparse matrix on PEs (van der Vorst, SIAM J. Sci. Stat. Comput. 13, 1992), with the
// preconditioner on the right, so that residuals are those of the system. As in bicgstab.hpp, (b, r) and (r,
// r) of the next residual follow from dot products of s and t, so an iteration has two totals.
#pragma once
#include "krylov_precondition.hpp"

namespace wsl::solver {

struct stabilized_bicg {
  static constexpr const char* name = "BiCGStab";
  static constexpr bool needs_symmetry = false;
  static int vectors(int) { return 6; }
  template <class T>
  static procedure run(krylov_pe& k);

 private:
  /// A cosine below this is nothing but rounding errors.
  static constexpr f64 only_rounding = 1e-14;
};

template <class T>
procedure stabilized_bicg::run(krylov_pe& k) {
  enum : int { r = vector_r, d = vector_d, shadow = first_of_method, p, v, t, y, z };  // y = M p, z = M s
  const bool diagonal = is_diagonal(k);
  const int inverse = k.set.plan.inverse;
  k.clear<T>({d});
  const std::array<f64, 1> first =
      k.sweep<T, 1>({r, shadow, p}, [](const auto& c, auto& sum) __attribute__((always_inline)) {
        c[1] = c[0];
        c[2] = c[0];
        sum[0] += c[0] * c[0];
      });
  const f64 whole = (co_await k.total(first))[0];
  f64 rho = whole;
  if (diagonal) scale_by_diagonal<T>(k, y, p);
  for (;;) {
    if (!diagonal) co_await precondition<T>(k, y, p);
    co_await k.product<T>(0, v, y);
    const std::array<f64, 2> own =
        k.sweep<T, 2>({shadow, v}, [](const auto& c, auto& sum) __attribute__((always_inline)) {
          sum[0] += c[0] * c[1];
          sum[1] += c[1] * c[1];
        });
    const std::span<const f64> along_v = co_await k.total(own);
    const f64 bv = along_v[0], vv = along_v[1];
    if (!std::isfinite(bv) || !std::isfinite(vv)) {
      k.how = ending::not_finite;
      co_return;
    }
    if (vv == 0) {
      k.how = ending::singular;
      co_return;
    }
    if (!(std::abs(bv) > only_rounding * std::sqrt(whole * vv))) {
      k.how = ending::breakdown;
      co_return;
    }
    const f64 along_p = rho / bv;
    const T alpha = static_cast<T>(along_p);
    if (diagonal)
      k.sweep<T>({r, v, z, inverse}, [=](const auto& c, auto&) __attribute__((always_inline)) {
        const auto s = c[0] - alpha * c[1];
        c[0] = s;
        c[2] = c[3] * s;
      });
    else {
      k.sweep<T>({r, v}, [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] -= alpha * c[1]; });
      co_await precondition<T>(k, z, r);
    }
    co_await k.product<T>(0, t, z);
    const std::array<f64, 5> sums =
        k.sweep<T, 5>({r, t, shadow}, [](const auto& c, auto& sum) __attribute__((always_inline)) {
          sum[0] += c[1] * c[0];
          sum[1] += c[1] * c[1];
          sum[2] += c[2] * c[0];
          sum[3] += c[2] * c[1];
          sum[4] += c[0] * c[0];
        });
    const std::span<const f64> total = co_await k.total(sums);
    const f64 ts = total[0], tt = total[1], bs = total[2], bt = total[3], ss = total[4];
    const f64 along_s = tt == 0 ? 0 : ts / tt, next = bs - along_s * bt;
    const f64 ratio = next / rho * (along_p / along_s);
    const T omega = static_cast<T>(along_s), beta = static_cast<T>(ratio);
    const auto residual = [&](f64 rr) { return std::sqrt(std::max(rr, 0.)); };
    if (diagonal && along_s != 0 && std::isfinite(ratio))
      k.sweep<T>({d, y, z, r, t, p, v, inverse}, [=](const auto& c, auto&) __attribute__((always_inline)) {
        c[0] += alpha * c[1] + omega * c[2];
        const auto rest = c[3] - omega * c[4];
        c[3] = rest;
        const auto direction = rest + beta * (c[5] - omega * c[6]);
        c[5] = direction;
        c[1] = c[7] * direction;
      });
    else
      k.sweep<T>({d, y, z, r, t}, [=](const auto& c, auto&) __attribute__((always_inline)) {
        c[0] += alpha * c[1] + omega * c[2];
        c[3] -= omega * c[4];
      });
    const f64 rr = ss - along_s * ts;
    if (co_await k.iterated(residual(rr))) co_return;
    if (!(std::abs(ts) > only_rounding * std::sqrt(tt * ss))) {
      k.how = ending::stagnation;
      co_return;
    }
    if (!(std::abs(next) > only_rounding * std::sqrt(whole) * residual(rr))) {
      k.how = ending::breakdown;
      co_return;
    }
    rho = next;
    if (!diagonal)
      k.sweep<T>({p, v, r}, [=](const auto& c, auto&) __attribute__((always_inline)) {
        c[0] = c[2] + beta * (c[0] - omega * c[1]);
      });
  }
}

}  // namespace wsl::solver
