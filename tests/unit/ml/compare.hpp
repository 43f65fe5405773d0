// SPDX-License-Identifier: MIT
// The comparisons of the operations' tests: f32 with f64, element by element, and gradients with finite
// differences of the function; and weights for tests of whole models.
#pragma once
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <vector>
#include <wsl/linalg/matrix.hpp>
#include <wsl/ml/model/weights.hpp>

namespace compare {

using wsl::f32, wsl::f64, wsl::matrix;

/// Normal numbers that f32 holds exactly, as both types.
struct both {
  std::vector<f32> single;
  std::vector<f64> exact;
  int rows, columns;

  both(int r, int c, unsigned seed, double size = 1) : rows(r), columns(c) {
    std::mt19937 random(seed);
    std::normal_distribution<f32> normal;
    for (int i = 0; i < r * c; ++i) {
      single.push_back(static_cast<f32>(size) * normal(random));
      exact.push_back(static_cast<f64>(single.back()));
    }
  }
  /// Zeros.
  both(int r, int c)
      : single(static_cast<std::size_t>(r * c)), exact(single.begin(), single.end()), rows(r), columns(c) {}

  matrix<f32> s() { return {single.data(), rows, columns}; }
  matrix<f64> e() { return {exact.data(), rows, columns}; }
};

/// The largest |single - exact|, for the largest |exact|.
inline f64 error(const both& x) {
  f64 largest = 1e-30, off = 0;
  for (std::size_t i = 0; i < x.exact.size(); ++i) {
    largest = std::max(largest, std::abs(x.exact[i]));
    const f64 d = std::abs(static_cast<f64>(x.single[i]) - x.exact[i]);
    off = d <= off ? off : d;  // a NaN stays
  }
  return off / largest;
}

/// The largest difference, for the largest number; infinite if there are more or fewer numbers.
inline f64 error(std::span<const f32> x, std::span<const f32> right) {
  f64 off = x.size() == right.size() ? 0 : std::numeric_limits<f64>::infinity(), size = 1e-30;
  for (std::size_t i = 0; i < std::min(x.size(), right.size()); ++i) {
    const f64 d = std::abs(static_cast<f64>(x[i]) - static_cast<f64>(right[i]));
    off = d <= off ? off : d;  // a NaN stays
    size = std::max(size, std::abs(static_cast<f64>(right[i])));
  }
  return off / size;
}
/// Weights none of which is 0 or 1, so that a bias or a gain that is left out is seen.
inline wsl::ml::weights shaken(const wsl::ml::network& n) {
  wsl::ml::weights w(n);
  for (std::size_t k = 0; k < w.size(); ++k) {
    wsl::ml::initialize(w[k], wsl::ml::initial::normal(0.3f), wsl::ml::seed_of(9, k));
    if (n.parameters()[k].name.ends_with("gain"))
      for (f32& x : w[k]) x += 1;
  }
  return w;
}

/// The largest difference of `gradient` from the differences of `f`, a function of the numbers of x, for the
/// largest of them.
inline f64 gradient_error(const std::function<f64()>& f, std::vector<f64>& x,
                          const std::vector<f64>& gradient) {
  f64 largest = 1e-30, off = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const f64 at = x[i], h = 1e-5;
    x[i] = at + h;
    const f64 above = f();
    x[i] = at - h;
    const f64 below = f();
    x[i] = at;
    const f64 slope = (above - below) / (2 * h);
    largest = std::max(largest, std::abs(slope));
    const f64 d = std::abs(slope - gradient[i]);
    off = d <= off ? off : d;
  }
  return off / largest;
}

/// A number that depends on all elements of y: its gradient with respect to y is `weights`.
inline f64 weighed(const std::vector<f64>& y, const std::vector<f64>& weights) {
  f64 sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * weights[i];
  return sum;
}

/// The largest difference of two sets of weights, relative to the largest number of its parameter.
inline f64 distance(const wsl::ml::weights& x, const wsl::ml::weights& y) {
  f64 off = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    f64 largest = 1e-30, far = 0;
    for (std::size_t i = 0; i < x[k].size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<f64>(x[k][i])));
      const f64 d = std::abs(static_cast<f64>(x[k][i]) - static_cast<f64>(y[k][i]));
      far = d <= far ? far : d;
    }
    off = std::max(off, far / largest);
  }
  return off;
}

}  // namespace compare
