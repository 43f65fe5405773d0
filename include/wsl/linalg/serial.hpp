// SPDX-License-Identifier: MIT
// The serial reference of dense products: one element of A B by its definition, in a wider format than that
// of the sums, and the sum of magnitudes that bounds the rounding error of any order of summation. Tests of
// linalg, gemm and gemv compare with it.
#pragma once
#include <type_traits>

#include "../core/half.hpp"
#include "matrix.hpp"

namespace wsl::dense {

/// A sum of products, and the sum of their absolute values: in f64 for sums in f32, in long double for f64.
template <class Wide = f64>
struct exact_element {
  Wide value = 0, magnitude = 0;

  /// The error bound of a sum of `terms` products in f32, or in f64, in any order: Higham, Accuracy and
  /// Stability of Numerical Algorithms, section 3.1; the factor 1.01 covers the terms of second order.
  Wide bound(int terms) const {
    constexpr Wide unit = std::is_same_v<Wide, f64> ? 0x1p-24 : 0x1p-53;
    return static_cast<Wide>(terms) * unit * magnitude * static_cast<Wide>(1.01);
  }
};

/// Element (i, j) of C + A B, where `c` is that of C. A is (m, k), B is (k, n); elements of f32, f16, bf16 or
/// cb16, or of f64 in both.
template <class A, class B,
          class C = std::conditional_t<std::is_same_v<std::remove_const_t<A>, f64>, f64, f32>>
auto serial_element(const matrix<A>& a, const matrix<B>& b, int i, int j, C c = 0) {
  using wide = std::conditional_t<std::is_same_v<C, f64>, long double, f64>;
  exact_element<wide> sum{wide{c}, wide{c < 0 ? -c : c}};
  for (int k = 0; k < a.columns(); ++k) {
    const wide term = wide{static_cast<C>(a(i, k))} * wide{static_cast<C>(b(k, j))};
    sum.value += term, sum.magnitude += term < 0 ? -term : term;
  }
  return sum;
}

}  // namespace wsl::dense
