// SPDX-License-Identifier: MIT
// The serial reference of the Fourier transform: its definition in f64. See transform.hpp.
#pragma once
#include <complex>
#include <span>
#include <vector>

#include "axes.hpp"
#include "line.hpp"

namespace wsl::fft {

/// The transform of an array in row-major order with these axes, of any lengths. The inverse has a factor of
/// one over the number of elements. Throws std::invalid_argument for invalid axes, or if x has another number
/// of elements.
inline std::vector<std::complex<f64>> serial(const std::vector<int>& axes, std::vector<std::complex<f64>> x,
                                             bool inverse = false) {
  checks::axes(axes);
  std::size_t count = 1;
  for (int n : axes) count *= static_cast<std::size_t>(n);
  if (x.size() != count)
    support::bad_argument({"a transform of ", text(axes), " takes arrays of ", count,
                           " numbers where the reference is given ", x.size()});
  std::size_t inner = 1;  // numbers from one to the next along the axis
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const std::size_t n = static_cast<std::size_t>(axes[axis]);
    std::vector<std::complex<f64>> roots(n), line(n);
    for (std::size_t k = 0; k < n; ++k) {
      const root_of_unity w(static_cast<i64>(k), static_cast<i64>(n));
      roots[k] = {w.re, inverse ? -w.im : w.im};
    }
    for (std::size_t first = 0; first < x.size(); ++first) {
      if (first / inner % n) continue;
      for (std::size_t k = 0; k < n; ++k) {
        line[k] = 0;
        for (std::size_t j = 0; j < n; ++j) line[k] += x[first + j * inner] * roots[j * k % n];
      }
      for (std::size_t k = 0; k < n; ++k)
        x[first + k * inner] = inverse ? line[k] / static_cast<f64>(n) : line[k];
    }
    inner *= n;
  }
  return x;
}

}  // namespace wsl::fft
