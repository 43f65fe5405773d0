// SPDX-License-Identifier: MIT
// Preconditioned conjugate gradients for a sparse matrix on PEs (Hestenes and Stiefel, J. Res. NBS 49, 1952),
// for symmetric positive definite ones: two totals an iteration, of which the first waits for the product. A
// preconditioner that is diagonal is applied where the residual is updated.
#pragma once
#include "krylov_precondition.hpp"

namespace wsl::solver {

/// The numbers of each iteration that tell of the eigenvalues of the preconditioned matrix (the Lanczos
/// process).
struct lanczos_steps {
  std::vector<f64> alpha, beta;
};

/// At most `most` iterations, or any number if it is 0.
template <class T>
procedure iterate_conjugate_gradients(krylov_pe& k, int most, lanczos_steps* steps) {
  enum : int { r = vector_r, d = vector_d, z = first_of_method, p, q };
  const bool diagonal = is_diagonal(k);
  const int inverse = k.set.plan.inverse;
  k.clear<T>({d});
  co_await precondition<T>(k, z, r);
  const std::array<f64, 1> first =
      k.sweep<T, 1>({z, r, p}, [](const auto& c, auto& sum) __attribute__((always_inline)) {
        c[2] = c[0];
        sum[0] += c[0] * c[1];
      });
  f64 rho = (co_await k.total(first))[0];
  for (int i = 0; most == 0 || i < most; ++i) {
    if (!(rho > 0)) {
      k.how = std::isfinite(rho) ? ending::indefinite : ending::not_finite;
      co_return;
    }
    const std::array<f64, 1> own{co_await k.product_and_dot<T>(0, q, p)};
    const f64 curvature = (co_await k.total(own))[0];
    if (!(curvature > 0)) {
      k.how = std::isfinite(curvature) ? ending::indefinite : ending::not_finite;
      co_return;
    }
    const f64 along = rho / curvature;
    const T alpha = static_cast<T>(along);
    std::array<f64, 2> sums{};
    if (diagonal)
      sums = k.sweep<T, 2>({d, p, r, q, z, inverse},
                           [=](const auto& c, auto& sum) __attribute__((always_inline)) {
                             c[0] += alpha * c[1];
                             const auto residual = c[2] - alpha * c[3];
                             c[2] = residual;
                             const auto scaled = c[5] * residual;
                             c[4] = scaled;
                             sum[0] += residual * residual;
                             sum[1] += residual * scaled;
                           });
    else {
      k.sweep<T>({d, p, r, q}, [=](const auto& c, auto&) __attribute__((always_inline)) {
        c[0] += alpha * c[1];
        c[2] -= alpha * c[3];
      });
      co_await precondition<T>(k, z, r);
      sums = k.sweep<T, 2>({r, z}, [](const auto& c, auto& sum) __attribute__((always_inline)) {
        sum[0] += c[0] * c[0];
        sum[1] += c[0] * c[1];
      });
    }
    const std::span<const f64> total = co_await k.total(sums);
    const f64 rr = total[0], next = total[1], ratio = next / rho;
    rho = next;
    if (steps) steps->alpha.push_back(along), steps->beta.push_back(ratio);
    if (co_await k.iterated(std::sqrt(rr))) co_return;
    const T beta = static_cast<T>(ratio);
    k.sweep<T>({p, z},
               [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] = c[1] + beta * c[0]; });
  }
}

struct conjugate_gradients {
  static constexpr const char* name = "conjugate gradients";
  static constexpr bool needs_symmetry = true;
  static int vectors(int) { return 3; }
  template <class T>
  static procedure run(krylov_pe& k) {
    return iterate_conjugate_gradients<T>(k, 0, nullptr);
  }
};

}  // namespace wsl::solver
