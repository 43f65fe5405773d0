// SPDX-License-Identifier: MIT
// The result of a solver, and its limits. A solver never hangs and never returns numbers without saying how
// it ended: it has converged, used up its iterations, or met one of the ways in which its method breaks down.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "../../core/half.hpp"
#include "../../core/scalar.hpp"
#include "../../support/bad_argument.hpp"
#include "../../support/fingerprint.hpp"
#include "../../support/number_text.hpp"

namespace wsl::solver {

struct limits {
  f64 tolerance = 1e-5;   ///< |r| / |b| that is small enough; of a power method the change of the eigenvalue
  int iterations = 1000;  ///< at most

  /// Throws std::invalid_argument unless both are at least 0 and the tolerance is at most 1, with which x = 0
  /// would be a solution.
  void check() const {
    if (!(tolerance >= 0 && tolerance <= 1))
      support::bad_argument({"solver: limits{.tolerance} is ", support::number_text(tolerance),
                             "; it is the part of |b| that is small enough, from 0 to 1"});
    if (iterations < 0)
      support::bad_argument({"solver: limits{.iterations} is ", iterations, "; it is at least 0"});
  }
  void describe(support::fingerprint& f) const { f.add(tolerance), f.add(iterations); }
};

template <class T>
bool all_finite(const std::vector<T>& x) {
  return std::all_of(x.begin(), x.end(), [](T v) { return std::isfinite(v); });
}

/// Whether the length of n numbers, whose mean has been removed, is what rounding has left of it.
template <class T = f64>
bool is_rounding_of_mean(f64 length, f64 mean, f64 n) {
  return length <= 4 * static_cast<f64>(std::numeric_limits<T>::epsilon()) * std::abs(mean) * std::sqrt(n);
}

enum class ending : u8 {
  none,
  converged,
  beyond_precision,
  all_iterations,
  breakdown,
  stagnation,
  indefinite,
  singular,
  not_finite,
  diverged,
  as_exact_as_numbers,
  as_exact_as_f64,
  nearly_singular,
  nearly_singular_in_f32
};

/// The reason as a sentence.
inline const char* text(ending e) {
  switch (e) {
    case ending::converged: return "it has converged";
    case ending::beyond_precision:
      return "the residual of the recurrence is small enough, but x in f16 cannot be known to satisfy a "
             "tolerance below 1/512: compute |b - A x|";
    case ending::all_iterations: return "all iterations are used up";
    case ending::breakdown:
      return "breakdown: what the method divides by is only rounding, as with a singular matrix; start again "
             "from the x reached, or take another method";
    case ending::stagnation:
      return "stagnation: the residual cannot be made smaller along A r, or over a restart: take another "
             "method, a better preconditioner or a longer restart";
    case ending::indefinite:
      return "the operator, or its preconditioner, is not positive definite: BiCGStab and GMRES do not need "
             "that, but they need a matrix that is not singular";
    case ending::singular: return "A takes the vector to zero: the operator is singular";
    case ending::not_finite:
      return "numbers have become infinite or not a number: the operator is singular, or it or b is too "
             "badly scaled for the precision";
    case ending::diverged:
      return "it diverges: the matrix has eigenvalues far beyond the bounds of the method: give larger "
             "bounds, or none, so that it finds them, or take conjugate gradients";
    case ending::as_exact_as_numbers:
      return "x is as exact as its numbers allow, and the residual is larger than the tolerance: compute in "
             "f64 or in mixed precision, or take a larger tolerance";
    case ending::as_exact_as_f64:
      return "x is as exact as f64 allows, and the residual is larger than the tolerance: take a larger one";
    case ending::nearly_singular:
      return "the residual stays large although x is as exact as f64 allows: the matrix is singular or "
             "nearly so, and no x has this right side; look for an equation that follows from others, or for "
             "an unknown that no equation fixes";
    case ending::nearly_singular_in_f32:
      return "the method in f32 reduces the residual no further: the matrix is singular, and no x has this "
             "right side, or it is so nearly singular that f32 does not tell: compute in f64, which does";
    default: return "it has not ended yet";
  }
}

template <class T>
struct solution {
  std::vector<T> x;  ///< one number for each cell
  /// |r| / |b| after each iteration, where r is the residual of the recurrence. In f32 it falls on where
  /// |b - A x| / |b|, which serial::relative_residual computes, no longer does.
  std::vector<f64> residuals;
  ending how = ending::none;

  int iterations() const { return static_cast<int>(residuals.size()); }
  bool converged() const { return how == ending::converged; }
};

template <class T>
struct eigenpair {
  f64 value = 0;            ///< the eigenvalue of the largest absolute value
  std::vector<T> vector;    ///< the eigenvector, of length 1
  std::vector<f64> values;  ///< the Rayleigh quotient after each iteration
  ending how = ending::none;

  int iterations() const { return static_cast<int>(values.size()); }
  bool converged() const { return how == ending::converged; }
};

/// What the result of a method is, which computes with A and b that are divided by powers of two.
enum class measure_of_result : u8 { solution, product, direction };

/// The rounding of a factor of vectors.
struct factor_rounding {
  bool to_half = false;
  f32 operator()(f32 x) const { return to_half ? static_cast<f32>(f16(x)) : x; }
};

}  // namespace wsl::solver
