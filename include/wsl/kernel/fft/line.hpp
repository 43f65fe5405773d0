// SPDX-License-Identifier: MIT
// The transform of lines of one length: by passes of small radices where the length has no other prime
// factors, otherwise as a convolution. See transform.hpp.
#pragma once
#include "../vector_work.hpp"
#include "chirp.hpp"

namespace wsl::fft {

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

/// The transform of groups of `width` lines, in buffers for at least `room()` elements; `capacity` as in
/// buffer.hpp, for the roots. With a capacity, lengths have radices: a convolution would take more memory
/// than the program has.
template <int width, int capacity = 0, class T = f32>
class line {
 public:
  int length() const { return length_; }
  int room() const { return passes_.length() ? length_ : longer(); }

  /// Prepares for lines of n elements, at least one.
  void prepare(int n) {
    length_ = n;
    if constexpr (capacity == 0)
      if (!has_radices(n)) return chirp_.prepare(n);
    passes_.prepare(n);
  }
  /// As passes::transform.
  T* transform(T* x, T* y) const {
    if constexpr (capacity == 0)
      if (passes_.length() == 0) return chirp_.transform(x, y);
    return passes_.transform(x, y);
  }

 private:
  struct none {};

  int longer() const {
    if constexpr (capacity == 0) return chirp_.longer();
    else return 0;
  }

  int length_ = 0;
  passes<width, capacity, T> passes_;
  [[no_unique_address]] std::conditional_t<capacity == 0, chirp<width, T>, none> chirp_;
};

}  // namespace wsl::fft
