// SPDX-License-Identifier: MIT
// The serial reference of dense products: one element of A B by its definition, in f64, and the sum of
// magnitudes that bounds the rounding error of any order of summation. Tests of linalg, gemm and gemv compare
// with it.
#pragma once
#include "../core/half.hpp"
#include "matrix.hpp"

namespace wsl::dense {

/// A sum of products in f64, and the sum of their absolute values.
struct exact_element {
  f64 value = 0, magnitude = 0;

  /// The error bound of a sum of `terms` products in f32, in any order: Higham, Accuracy and Stability of
  /// Numerical Algorithms, section 3.1; the factor 1.01 covers the terms of second order.
  f64 bound(int terms) const { return terms * 0x1p-24 * magnitude * 1.01; }
};

/// Element (i, j) of C + A B, where `c` is that of C. A is (m, k), B is (k, n); f32, f16, bf16 or cb16
/// elements.
template <class A, class B>
exact_element serial_element(const matrix<A>& a, const matrix<B>& b, int i, int j, f32 c = 0) {
  exact_element sum{f64{c}, f64{c < 0 ? -c : c}};
  for (int k = 0; k < a.columns(); ++k) {
    const f64 term = f64{static_cast<f32>(a(i, k))} * f64{static_cast<f32>(b(k, j))};
    sum.value += term, sum.magnitude += term < 0 ? -term : term;
  }
  return sum;
}

}  // namespace wsl::dense
