// SPDX-License-Identifier: MIT
// The transform of groups of lines whose length has small prime factors: its radices, and the roots of unity
// of each pass. On a PE this is the loop over butterflies of CSL's fft examples.
#pragma once
#include <utility>

#include "../../support/inplace_vector.hpp"
#include "buffer.hpp"
#include "butterflies.hpp"

namespace wsl::fft {

inline constexpr int prime_radices[] = {13, 11, 7, 5, 3, 2};

/// Whether n is 1 or has no other prime factors than those of the radices.
constexpr bool has_radices(i64 n) {
  if (n < 1) return false;
  for (int p : prime_radices)
    while (n % p == 0) n /= p;
  return n == 1;
}

/// The transform of groups of `width` lines; `capacity` as in buffer.hpp, for the roots.
template <int width, int capacity = 0, class T = f32>
class passes {
 public:
  int length() const { return length_; }

  /// Prepares for lines of n elements; n must have radices.
  void prepare(int n) {
    length_ = n;
    radices_ = {};
    for (int p : prime_radices)
      if (p > 2)
        while (n % p == 0) radices_.push_back(p), n /= p;
    while (n > 1) n /= radices_.push_back(n % 8 == 0 && n != 16 ? 8 : n % 4 == 0 ? 4 : 2);
    roots_.resize(static_cast<std::size_t>(2 * length_));
    T* to = roots_.data();
    for (int m = length_, i = 0; i < radices_.size(); ++i) {
      const int whole = m, radix = radices_[i];
      m /= radix;
      for (int p = 0; p < m; ++p)
        for (int j = 1; j < radix; ++j, to += 2) root_of_unity(i64{p} * j, whole).put(to);
    }
  }

  /// Transforms the group of lines in `x`, with `y` as workspace, and returns the one of the two that holds
  /// the result. Forward: X_k = sum over j of x_j exp(-2 pi i j k / n). A backward transform is a forward
  /// one with real and imaginary parts exchanged.
  T* transform(T* x, T* y) const {
    const T* roots = roots_.data();
    i64 m = length_, count = 1;
    for (int radix : radices_) {
      m /= radix;
      transform_by<width, T>(radix, {x, y, roots, m, count});
      roots += 2 * (radix - 1) * m, count *= radix;
      std::swap(x, y);
    }
    return x;
  }

 private:
  int length_ = 0;
  support::inplace_vector<int, 32> radices_;
  buffer<capacity, T> roots_;
};

}  // namespace wsl::fft
