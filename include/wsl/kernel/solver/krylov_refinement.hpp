// SPDX-License-Identifier: MIT
// The frame of all Krylov methods: iterative refinement. A method solves A d = r for the residual r = b - A
// x, x becomes x + d, and the residual is computed anew, until it is small enough. With `Inner` numbers of
// f32 and `Outer` ones of f64 that is mixed precision: the method works on half as many bytes, and x is as
// exact as f64 allows (Wilkinson, Rounding Errors in Algebraic Processes, 1963; Carson and Higham, SIAM J.
// Sci. Comput. 40, 2018). With equal ones it is the check that the recurrence of the method has told the
// truth, and the restart of a method that has not got there. A system in whose null space constants are has
// its means removed.
#pragma once
#include "krylov_pe.hpp"

namespace wsl::solver {

namespace refinement {

/// Subtracts the mean of all numbers of a vector.
template <class T>
procedure remove_mean(krylov_pe& k, int v, f64* mean) {
  const std::array<f64, 1> own =
      k.sweep<T, 1>({v}, [](const auto& c, auto& sum) __attribute__((always_inline)) { sum[0] += c[0]; });
  *mean = (co_await k.total(own))[0] / static_cast<f64>(k.unknowns);
  const T by = static_cast<T>(*mean);
  k.sweep<T>({v}, [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] = c[0] - by; });
}

template <class T>
procedure norm(krylov_pe& k, int v, f64* length) {
  const std::array<f64, 1> own = k.sweep<T, 1>(
      {v}, [](const auto& c, auto& sum) __attribute__((always_inline)) { sum[0] += c[0] * c[0]; });
  *length = std::sqrt((co_await k.total(own))[0]);
}

/// r = b - A x
template <class T>
procedure find_residual(krylov_pe& k) {
  enum : int { b = vector_b, x = vector_x, r = vector_r };
  co_await k.product<T>(0, r, x);
  k.sweep<T>({r, b}, [](const auto& c, auto&) __attribute__((always_inline)) { c[0] = c[1] - c[0]; });
  f64 mean = 0;
  if (k.set.has_null_space) co_await remove_mean<T>(k, r, &mean);
}

/// x += by * d
template <class Outer, class Inner>
void correct(krylov_pe& k, f64 by) {
  Outer* x = k.vector<Outer>(vector_x);
  const Inner* d = k.vector<Inner>(vector_d);
  for (int i = 0; i < k.size_of<Outer>(vector_x); ++i)
    x[i] += static_cast<Outer>(by * static_cast<f64>(d[i]));
}

}  // namespace refinement

/// What there is to say of a residual that cannot be made smaller, as a part of |b|. In f64 that of a regular
/// system is its rounding, times a condition number that may be large; what is larger has another cause. In
/// mixed precision the condition number is smaller than that which stops a method in f32.
template <class Outer, class Inner>
constexpr ending why_no_smaller(f64 residual) {
  if (std::is_same_v<Outer, f32>) return ending::as_exact_as_numbers;
  if (std::is_same_v<Inner, f32>)
    return residual < 1e-9 ? ending::as_exact_as_f64 : ending::nearly_singular_in_f32;
  return residual < 1e-6 ? ending::as_exact_as_f64 : ending::nearly_singular;
}

template <class Outer, class Inner, class Method>
procedure solve_system(krylov_pe& k) {
  enum : int { b = vector_b, x = vector_x, r = vector_r };
  // A residual that has not become smaller than this part of the last one has only been rounded.
  constexpr f64 progress = 0.5, slow_progress = 0.9999;
  // A residual below this part of |b| is rounding of any x, however the method has ended.
  constexpr f64 rounding = 32 * static_cast<f64>(std::numeric_limits<Outer>::epsilon());
  if (k.set.has_null_space) co_await refinement::remove_mean<Outer>(k, b, &k.removed_mean);
  f64 whole = 0, last = 1;
  std::vector<Outer> x_before;  // a correction may be so large that subtracting it does not bring x back
  co_await refinement::norm<Outer>(k, b, &whole);
  k.clear<Outer>({x});
  if (!(whole > 0) || is_rounding_of_mean<Outer>(whole, k.removed_mean, static_cast<f64>(k.unknowns))) {
    k.how = std::isfinite(whole) ? ending::converged : ending::not_finite;
    k.residual = 0;
    co_return;
  }
  std::copy_n(k.vector<Outer>(b), k.size_of<Outer>(b), k.vector<Outer>(r));
  for (;;) {
    const f64 length = last * whole;
    const Outer* from = k.vector<Outer>(r);
    Inner* to = k.vector<Inner>(r);
    for (int i = 0; i < k.size_of<Outer>(r); ++i)
      to[i] = static_cast<Inner>(static_cast<f64>(from[i]) / length);
    // at least a digit, so that the next residual is not that of the last one's rounding, and not more digits
    // than numbers have, beyond which only the recurrence goes
    constexpr f64 most_reduced = std::numeric_limits<Inner>::epsilon();
    k.scale = last;
    k.target = std::max({std::min(k.set.tolerance / last, 0.1), k.set.reduction, most_reduced});
    k.begin_cycle();
    co_await Method::template run<Inner>(k);
    const ending inner = std::exchange(k.how, ending::none);
    if (inner == ending::not_finite) {  // x is that of the cycle before
      k.how = inner;
      break;
    }
    x_before.assign(k.vector<Outer>(x), k.vector<Outer>(x) + k.size_of<Outer>(x));
    refinement::correct<Outer, Inner>(k, length);
    co_await refinement::find_residual<Outer>(k);
    f64 now = 0;
    co_await refinement::norm<Outer>(k, r, &now);
    now /= whole;
    if (!(now < last)) {  // nor is it any better than that
      std::copy(x_before.begin(), x_before.end(), k.vector<Outer>(x));
      now = last;
    }
    k.residual = now;
    if (now <= k.set.tolerance) k.how = ending::converged;
    else if (k.stops()) k.how = ending::all_iterations;
    else if (inner == ending::indefinite || inner == ending::singular || inner == ending::diverged)
      k.how = now < rounding ? why_no_smaller<Outer, Inner>(now) : inner;
    else if (!(now < (k.is_reached() ? progress : slow_progress) * last) && k.times_widened == 0)
      k.how = now < rounding || inner == ending::nearly_singular || (inner == ending::none && k.is_reached())
                  ? why_no_smaller<Outer, Inner>(now)
              : inner != ending::none ? inner
                                      : ending::stagnation;
    if (k.how != ending::none) break;
    last = now;
  }
  f64 mean = 0;
  if (k.set.has_null_space) co_await refinement::remove_mean<Outer>(k, x, &mean);
}

/// Products of the first operator, for as long as the host asks for them: x = A b.
template <class T>
procedure repeat_product(krylov_pe& k) {
  for (bool ends = false; !ends;) {
    co_await k.product<T>(0, vector_x, vector_b);
    ends = co_await k.iterated(1);
  }
}

}  // namespace wsl::solver
