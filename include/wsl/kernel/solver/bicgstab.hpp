// SPDX-License-Identifier: MIT
// BiCGStab (van der Vorst, SIAM J. Sci. Stat. Comput. 13, 1992) for any operator, symmetric or not, with two
// passes and two reductions an iteration instead of three: (b, r) and (r, r) of the next residual r = s -
// omega t follow from dot products of s and t, so the update of x and r waits for the next pass, which reads
// them anyway. A cell moves 16 words an iteration: 10 in `direction` (x, s, p, t, v and b read, x, r, p and v
// written) and 6 in `correction` (r, v and b read, s written, t fetched and written). Before the method
// reports convergence, `closure` brings x and r up to date and sums up (r, r) from r itself, which the dot
// products of s and t may have made too small. That r is the one of the recurrence: b - A x is not computed.
// See examples/84_bicgstab.cpp.
#pragma once
#include "solution.hpp"
#include "solver_pe.hpp"

namespace wsl::solver {

class bicgstab_method {
  enum : int { x, b, r, p, v, t };  // r is s between the passes

 public:
  static constexpr int vectors = 6;
  static constexpr auto measures = measure_of_result::solution;
  static constexpr int right_side = b, result = x, starts_as_right_side[] = {r};
  /// The vectors that begin in the other half of a wafer's memory banks (mixed_pe.hpp).
  static constexpr unsigned other_banks = 1 << b | 1 << p | 1 << t;

  explicit bicgstab_method(const limits& most = {})
      : tolerance_(static_cast<f32>(most.tolerance * most.tolerance)) {}

  /// Factors of vectors are rounded to f16, as vectors in f16 are multiplied with them.
  void round_factors() { rounded_.to_half = true; }
  ending how() const { return how_; }
  f32 measured() const { return std::sqrt(residual_ / whole_); }

  template <class F>
  void present(F f) const {
    switch (state_) {
      case measure: return f(measuring{});
      case first_half: return f(direction{along_p_, along_s_, along_t_, beta_, beta_ * omega_, omega_});
      case second_half: return f(correction{alpha_});
      case closing: return f(closure{along_p_, along_s_, along_t_});
    }
  }
  bool close() {
    if (state_ != first_half || how_ != ending::none) return false;
    how_ = ending::all_iterations;
    state_ = closing;
    return true;
  }
  verdict decide(const f32* total) {
    for (int k = 0; k < most_sums; ++k)
      if (!std::isfinite(total[k])) return end(ending::not_finite);
    switch (state_) {
      case measure: return begin(total[0]);
      case first_half: return take_direction(total[0], total[1]);
      case second_half: return take_correction(total);
      default: return take_measure(total[0], total[1]);
    }
  }

 private:
  struct measuring {
    static constexpr int vectors = 6, sums = 1, operations = 1;
    static constexpr unsigned of_update = 1 << b;
    static constexpr bool multiplies = false;
    template <class Cells>
    [[gnu::always_inline]] void prepare(const Cells& c, typename Cells::numbers* sum) const {
      sum[0] += c[b] * c[b];
    }
    template <class Lines>
    void update(Lines&) const {}
    template <class Lines>
    void total(Lines& l, f32* sum) const {
      sum[0] = l.dot(b, b);
    }
  };
  /// The postponed update of the iteration before, then v = A p.
  struct direction {
    static constexpr int vectors = 6, sums = 2, operations = 7, from = p, to = v, next_from = r;
    static constexpr unsigned of_update = 1 << x | 1 << r | 1 << p | 1 << v | 1 << t, of_product = 1 << b;
    static constexpr bool multiplies = true, iterates = false;
    f32 along_p, along_s, along_t, beta, beta_omega, omega;
    template <class Cells>
    [[gnu::always_inline]] void prepare(const Cells& c, typename Cells::numbers*) const {
      c[x] += along_p * c[p] + along_s * c[r];
      const typename Cells::numbers residual = c[r] - along_t * c[t];
      c[r] = residual;
      c[p] = residual + beta * c[p] - beta_omega * c[v];
    }
    template <class Cells>
    [[gnu::always_inline]] void sum(const Cells& c, const typename Cells::numbers& ap,
                                    typename Cells::numbers* sum) const {
      sum[0] += c[b] * ap;
      sum[1] += ap * ap;
    }
    template <class Lines>
    void update(Lines& l) const {
      l.combine(x, x, along_p, p), l.combine(x, x, along_s, r);
      l.combine(r, r, -along_t, t);
      l.combine(p, p, -omega, v), l.combine(p, r, beta, p);
    }
    template <class Lines>
    void total(Lines& l, f32* sum) const {
      sum[0] = l.dot(b, v), sum[1] = l.dot(v, v);
    }
  };
  /// s = r - alpha v, then t = A s.
  struct correction {
    static constexpr int vectors = 6, sums = 5, operations = 6, from = r, to = t, next_from = p;
    static constexpr unsigned of_update = 1 << r | 1 << v, of_product = 1 << b | 1 << t;
    static constexpr bool multiplies = true, iterates = true;
    f32 alpha;
    template <class Cells>
    [[gnu::always_inline]] void prepare(const Cells& c, typename Cells::numbers*) const {
      c[r] -= alpha * c[v];
    }
    template <class Cells>
    [[gnu::always_inline]] void sum(const Cells& c, const typename Cells::numbers& as,
                                    typename Cells::numbers* sum) const {
      sum[0] += as * c[r];
      sum[1] += as * as;
      sum[2] += c[b] * c[r];
      sum[3] += c[b] * as;
      sum[4] += c[r] * c[r];
    }
    template <class Lines>
    void update(Lines& l) const {
      l.combine(r, r, -alpha, v);
    }
    template <class Lines>
    void total(Lines& l, f32* sum) const {
      sum[0] = l.dot(t, r), sum[1] = l.dot(t, t), sum[2] = l.dot(b, r), sum[3] = l.dot(b, t);
      sum[4] = l.dot(r, r);
    }
  };
  struct closure {
    static constexpr int vectors = 6, sums = 2, operations = 5;
    static constexpr unsigned of_update = 1 << x | 1 << r | 1 << p | 1 << t | 1 << b;
    static constexpr bool multiplies = false;
    f32 along_p, along_s, along_t;
    template <class Cells>
    [[gnu::always_inline]] void prepare(const Cells& c, typename Cells::numbers* sum) const {
      c[x] += along_p * c[p] + along_s * c[r];
      const typename Cells::numbers residual = c[r] - along_t * c[t];
      c[r] = residual;
      sum[0] += residual * residual;
      sum[1] += c[b] * residual;
    }
    template <class Lines>
    void update(Lines& l) const {
      l.combine(x, x, along_p, p), l.combine(x, x, along_s, r);
      l.combine(r, r, -along_t, t);
    }
    template <class Lines>
    void total(Lines& l, f32* sum) const {
      sum[0] = l.dot(r, r), sum[1] = l.dot(b, r);
    }
  };

  verdict end(ending how) {
    how_ = how;
    return verdict::end;
  }
  verdict go(int state) {
    state_ = state;
    return verdict::next_pass;
  }

  verdict begin(f32 bb) {
    whole_ = rho_ = residual_ = bb;
    if (bb == 0) return end(ending::converged);
    return go(first_half);
  }
  verdict take_direction(f32 bv, f32 vv) {
    along_p_ = along_s_ = along_t_ = 0;  // they are in x and r now
    if (vv == 0) return end(ending::singular);
    if (!(std::abs(bv) > only_rounding * std::sqrt(whole_) * std::sqrt(vv))) return end(ending::breakdown);
    alpha_ = rounded_(rho_ / bv);
    return go(second_half);
  }
  verdict take_correction(const f32* total) {
    const auto [ts, tt, bs, bt, ss] = std::array{total[0], total[1], total[2], total[3], total[4]};
    omega_ = tt == 0 ? 0 : rounded_(ts / tt);
    residual_ = std::max(ss - omega_ * ts, 0.f);
    along_p_ = alpha_, along_s_ = along_t_ = omega_;
    const f32 rho = bs - omega_ * bt;
    beta_ = rounded_(rho / rho_ * (alpha_ / omega_));
    rho_ = rho;
    if (residual_ <= tolerance_ * whole_) return go(closing);
    if (!(std::abs(ts) > only_rounding * std::sqrt(tt) * std::sqrt(ss)))
      return how_ = ending::stagnation, go(closing);
    if (!(std::abs(rho) > only_rounding * std::sqrt(whole_) * std::sqrt(residual_)))
      return how_ = ending::breakdown, go(closing);
    state_ = first_half;
    return verdict::next_iteration;
  }
  verdict take_measure(f32 rr, f32 br) {
    if (how_ == ending::all_iterations) return verdict::end;
    along_p_ = along_s_ = along_t_ = 0;
    residual_ = rr;
    if (rr <= tolerance_ * whole_) how_ = ending::converged;
    else if (how_ == ending::none && (omega_ == 0 || br == 0)) how_ = ending::breakdown;
    if (how_ != ending::none) return verdict::last_iteration;
    beta_ = rounded_(beta_ * (br / rho_)), rho_ = br;
    state_ = first_half;
    return verdict::next_iteration;
  }

  /// A cosine below this is nothing but rounding errors. Those between it and the precision of f32 may be
  /// genuine: a right-hand side that is zero almost everywhere has small ones without error.
  static constexpr f32 only_rounding = 1e-13f;

  enum : int { measure, first_half, second_half, closing };
  int state_ = measure;
  ending how_ = ending::none;
  factor_rounding rounded_;
  f32 tolerance_;
  f32 whole_ = 1, rho_ = 1, residual_ = 1, alpha_ = 0, omega_ = 0, beta_ = 0;
  f32 along_p_ = 0, along_s_ = 0, along_t_ = 0;
};

}  // namespace wsl::solver
