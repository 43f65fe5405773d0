// SPDX-License-Identifier: MIT
// Inverses of small dense matrices, row by row, for preconditioners: of the blocks along a diagonal, and of
// the matrix of the coarsest grid, which may be singular.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::solver {

/// The inverse of an (n, n) matrix, by elimination with row pivots; empty if the matrix is singular to
/// rounding.
inline std::vector<f64> inverse_of(std::vector<f64> a, int n) {
  const std::size_t size = static_cast<std::size_t>(n);
  std::vector<f64> inverse(size * size);
  f64 largest = 0;
  for (std::size_t i = 0; i < size; ++i) inverse[i * size + i] = 1;
  for (f64 v : a) largest = std::max(largest, std::abs(v));
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k + 1; r < size; ++r)
      if (std::abs(a[r * size + k]) > std::abs(a[pivot * size + k])) pivot = r;
    if (!(std::abs(a[pivot * size + k]) > 1e-14 * largest)) return {};
    for (std::size_t c = 0; c < size && pivot != k; ++c)
      std::swap(a[k * size + c], a[pivot * size + c]),
          std::swap(inverse[k * size + c], inverse[pivot * size + c]);
    const f64 by = 1 / a[k * size + k];
    for (std::size_t c = 0; c < size; ++c) a[k * size + c] *= by, inverse[k * size + c] *= by;
    for (std::size_t r = 0; r < size; ++r) {
      const f64 f = a[r * size + k];
      if (r == k || f == 0) continue;
      for (std::size_t c = 0; c < size; ++c)
        a[r * size + c] -= f * a[k * size + c], inverse[r * size + c] -= f * inverse[k * size + c];
    }
  }
  return inverse;
}

/// The pseudo-inverse of a symmetric (n, n) matrix, by Jacobi's rotations: eigenvalues that are rounding only
/// are left out.
inline std::vector<f64> symmetric_pseudo_inverse(std::vector<f64> a, int n) {
  const std::size_t size = static_cast<std::size_t>(n);
  std::vector<f64> v(size * size);
  for (std::size_t i = 0; i < size; ++i) v[i * size + i] = 1;
  const auto beside_diagonal = [&] {
    f64 sum = 0;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < i; ++j) sum += a[i * size + j] * a[i * size + j];
    return sum;
  };
  f64 whole = beside_diagonal();
  for (std::size_t i = 0; i < size; ++i) whole += a[i * size + i] * a[i * size + i];
  for (int sweep = 0; sweep < 60 && beside_diagonal() > 1e-30 * whole; ++sweep)
    for (std::size_t p = 0; p < size; ++p)
      for (std::size_t q = p + 1; q < size; ++q) {
        const f64 apq = a[p * size + q];
        if (apq == 0) continue;
        const f64 theta = (a[q * size + q] - a[p * size + p]) / (2 * apq),
                  t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1)),
                  c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < size; ++k) {
          const f64 x = a[k * size + p], y = a[k * size + q];
          a[k * size + p] = c * x - s * y, a[k * size + q] = s * x + c * y;
        }
        for (std::size_t k = 0; k < size; ++k) {
          const f64 x = a[p * size + k], y = a[q * size + k];
          a[p * size + k] = c * x - s * y, a[q * size + k] = s * x + c * y;
          const f64 w = v[k * size + p], z = v[k * size + q];
          v[k * size + p] = c * w - s * z, v[k * size + q] = s * w + c * z;
        }
      }
  f64 largest = 0;
  for (std::size_t i = 0; i < size; ++i) largest = std::max(largest, std::abs(a[i * size + i]));
  std::vector<f64> inverse(size * size);
  for (std::size_t k = 0; k < size; ++k) {
    const f64 eigenvalue = a[k * size + k];
    if (!(std::abs(eigenvalue) > 1e-10 * largest)) continue;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        inverse[i * size + j] += v[i * size + k] * v[j * size + k] / eigenvalue;
  }
  return inverse;
}

}  // namespace wsl::solver
