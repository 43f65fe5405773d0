// SPDX-License-Identifier: MIT
// The transform of lines of one length by passes of small radices, and the roots of unity of each pass. On a
// PE this is the loop over butterflies of CSL's fft examples. See transform.hpp.
#pragma once
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "../../support/inplace_vector.hpp"
#include "../vector_work.hpp"
#include "buffer.hpp"
#include "butterflies.hpp"

namespace wsl::fft {

/// exp(-2 pi i k / n), real part and imaginary part, to the last bit of f64.
struct root_of_unity {
  f64 re, im;
  root_of_unity(i64 k, i64 n) : re(std::cos(angle(k, n))), im(std::sin(angle(k, n))) {}

 private:
  static f64 angle(i64 k, i64 n) {
    return -2 * std::numbers::pi * static_cast<f64>(k % n) / static_cast<f64>(n);
  }
};

/// Whether lines of n numbers can be transformed: n is 1 or has no other prime factors than 2, 3 and 5.
constexpr bool transformable(i64 n) {
  if (n < 1) return false;
  for (int p : {2, 3, 5})
    while (n % p == 0) n /= p;
  return n == 1;
}

/// The time on a wafer of the transform of a line of n numbers, real and imaginary parts alternately, by
/// passes of the prime factors of n. A pass has operations on n / p elements: p - 1 products with roots, and
/// sums for p = 2, otherwise p - 1 products with constants for each of p - 1 results, and sums.
constexpr u64 line_cycles(const machine& m, int n) {
  using kernel::banks;
  kernel::vector_work w(m);
  for (int rest = n, p = 2; rest > 1; rest % p == 0 ? rest /= p : ++p)
    if (rest % p == 0) {
      w.products(2 * (p - 1), n / p).products(2 * (p - 1), n / p, banks::alike);  // by roots
      w.sums(2 * (p - 1), n / p, banks::alike);
      if (p == 2) w.sums(4, n / p, banks::alike);
      else w.products(4 * (p - 1) * (p - 1), n / p, banks::alike).sums(2 * (p - 1), n / p, banks::alike);
    }
  return w.cycles();
}

/// The transform of groups of `width` lines; `capacity` as in buffer.hpp, for 2 f32 of each element.
template <int width, int capacity = 0>
class line {
 public:
  int length() const { return length_; }

  /// Prepares for lines of n elements; n must be transformable.
  void prepare(int n) {
    length_ = n;
    radices_ = {};
    while (n % 5 == 0) radices_.push_back(5), n /= 5;
    while (n % 3 == 0) radices_.push_back(3), n /= 3;
    while (n > 1) n /= radices_.push_back(n % 8 == 0 && n != 16 ? 8 : n % 4 == 0 ? 4 : 2);
    roots_.resize(static_cast<std::size_t>(2 * length_));
    f32* to = roots_.data();
    for (int m = length_, i = 0; i < radices_.size(); ++i) {
      const int whole = m, radix = radices_[i];
      m /= radix;
      for (int p = 0; p < m; ++p)
        for (int j = 1; j < radix; ++j) {
          const root_of_unity w(i64{p} * j, whole);
          *to++ = static_cast<f32>(w.re), *to++ = static_cast<f32>(w.im);
        }
    }
  }

  /// Transforms the group of lines in `x`, with `y` as workspace, and returns the one of the two that holds
  /// the result. Forward: X_k = sum over j of x_j exp(-2 pi i j k / n). A backward transform is a forward
  /// one with real and imaginary parts exchanged.
  f32* transform(f32* x, f32* y) {
    const f32* roots = roots_.data();
    i64 m = length_, count = 1;
    for (int radix : radices_) {
      m /= radix;
      transform_by<width>(radix, {x, y, roots, m, count});
      roots += 2 * (radix - 1) * m, count *= radix;
      std::swap(x, y);
    }
    return x;
  }

 private:
  int length_ = 0;
  support::inplace_vector<int, 32> radices_;
  buffer<capacity> roots_;
};

}  // namespace wsl::fft
