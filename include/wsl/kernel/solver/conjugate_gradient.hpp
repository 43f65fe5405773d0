// SPDX-License-Identifier: MIT
// The method of conjugate gradients (Hestenes and Stiefel, J. Res. NBS 49, 1952) for symmetric positive
// definite operators, plain or with the diagonal as preconditioner (Jacobi). An iteration has two passes and
// two reductions; a cell moves 11 words: 5 in `direction` (r and p read, p written, q fetched and written)
// and 6 in `correction` (x, p, r and q read, x and r written). See examples/82_conjugate_gradient.cpp and
// 83_preconditioned.cpp.
#pragma once
#include "preconditioner.hpp"
#include "solution.hpp"
#include "solver_pe.hpp"

namespace wsl::solver {

template <preconditioner how_to>
  requires(how_to == preconditioner::none || how_to == preconditioner::jacobi)
class conjugate_gradient_method {
  enum : int { x, r, p, q, inverse };  // inverse is 1 / centre
  static constexpr bool jacobi = how_to == preconditioner::jacobi;
  static constexpr unsigned of_preconditioner = jacobi ? 1 << inverse : 0;

 public:
  static constexpr int vectors = jacobi ? 5 : 4;
  static constexpr auto measures = measure_of_result::solution;
  static constexpr int right_side = r, result = x;
  static constexpr int inverse_diagonal = jacobi ? inverse : -1;
  /// The vectors that begin in the other half of a wafer's memory banks (mixed_pe.hpp).
  static constexpr unsigned other_banks = 1 << x | 1 << r;

  explicit conjugate_gradient_method(const limits& most = {})
      : tolerance_(static_cast<f32>(most.tolerance * most.tolerance)) {}

  /// Factors of vectors are rounded to f16, as vectors in f16 are multiplied with them.
  void round_factors() { rounded_.to_half = true; }
  ending how() const { return how_; }
  f32 measured() const { return std::sqrt(residual_ / whole_); }

  template <class F>
  void present(F f) const {
    switch (state_) {
      case measure: return f(correction{0});
      case first_half: return f(direction{beta_});
      case second_half: return f(correction{alpha_});
    }
  }
  bool close() {
    if (how_ == ending::none) how_ = ending::all_iterations;
    return false;
  }
  verdict decide(const f32* total) {
    for (int k = 0; k < 2; ++k)
      if (!std::isfinite(total[k])) return end(ending::not_finite);
    switch (state_) {
      case measure: return begin(total[0], total[1]);
      case first_half: return take_direction(total[0]);
      default: return take_correction(total[0], total[1]);
    }
  }

 private:
  template <class Cells>
  [[gnu::always_inline]] static void precondition(const Cells& c, typename Cells::numbers& z) {
    if constexpr (jacobi) z *= c[inverse];
  }

  /// p = z + beta p, then q = A p.
  struct direction {
    static constexpr int vectors = conjugate_gradient_method::vectors, sums = 1, operations = jacobi ? 3 : 2,
                         from = p, to = q;
    static constexpr unsigned of_update = 1 << r | 1 << p | of_preconditioner, of_product = 1 << q;
    static constexpr bool multiplies = true;
    f32 beta;
    template <class Cells>
    [[gnu::always_inline]] void prepare(const Cells& c, typename Cells::numbers*) const {
      typename Cells::numbers z = c[r];
      precondition(c, z);
      c[p] = z + beta * c[p];
    }
    template <class Cells>
    [[gnu::always_inline]] void sum(const Cells& c, const typename Cells::numbers& ap,
                                    typename Cells::numbers* sum) const {
      sum[0] += c[p] * ap;
    }
    template <class Lines>
    void update(Lines& l) const {
      l.combine(p, r, beta, p);
    }
    template <class Lines>
    void total(Lines& l, f32* sum) const {
      sum[0] = l.dot(p, q);
    }
  };
  struct correction {
    static constexpr int vectors = conjugate_gradient_method::vectors, sums = 2, operations = jacobi ? 5 : 3;
    static constexpr unsigned of_update = 1 << x | 1 << r | 1 << p | 1 << q | of_preconditioner;
    static constexpr bool multiplies = false;
    f32 alpha;
    template <class Cells>
    [[gnu::always_inline]] void prepare(const Cells& c, typename Cells::numbers* sum) const {
      c[x] += alpha * c[p];
      const typename Cells::numbers residual = c[r] - alpha * c[q];
      c[r] = residual;
      sum[0] += residual * residual;
      typename Cells::numbers z = residual;
      precondition(c, z);
      sum[1] += residual * z;
    }
    template <class Lines>
    void update(Lines& l) const {
      l.combine(x, x, alpha, p), l.combine(r, r, -alpha, q);
    }
    template <class Lines>
    void total(Lines& l, f32* sum) const {
      sum[0] = sum[1] = l.dot(r, r);
    }
  };

  verdict end(ending how) {
    how_ = how;
    return verdict::end;
  }
  verdict begin(f32 rr, f32 rz) {
    whole_ = residual_ = rr, rho_ = jacobi ? rz : rr;
    if (rr == 0) return end(ending::converged);
    if (!(rho_ > 0)) return end(ending::indefinite);
    state_ = first_half;
    return verdict::next_pass;
  }
  verdict take_direction(f32 curvature) {
    if (!(curvature > 0)) return end(ending::indefinite);
    alpha_ = rounded_(rho_ / curvature);
    state_ = second_half;
    return verdict::next_pass;
  }
  verdict take_correction(f32 rr, f32 rz) {
    const f32 rho = jacobi ? rz : rr;
    residual_ = rr, beta_ = rounded_(rho / rho_), rho_ = rho;
    state_ = first_half;
    if (rr <= tolerance_ * whole_) how_ = ending::converged;
    else if (!(rho > 0)) how_ = ending::indefinite;
    return how_ == ending::none ? verdict::next_iteration : verdict::last_iteration;
  }

  enum : int { measure, first_half, second_half };
  int state_ = measure;
  ending how_ = ending::none;
  factor_rounding rounded_;
  f32 tolerance_;
  f32 whole_ = 1, rho_ = 1, residual_ = 1, alpha_ = 0, beta_ = 0;
};

}  // namespace wsl::solver
