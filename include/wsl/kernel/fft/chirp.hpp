// SPDX-License-Identifier: MIT
// The transform of lines of any length n as a convolution (Bluestein 1970). As j k = (j^2 + k^2 - (k - j)^2)
// / 2, with w_k = exp(-pi i k^2 / n) it is X_k = w_k sum over j of (x_j w_j) conj(w_(k-j)): two transforms of
// a longer length that has radices.
#pragma once
#include <algorithm>
#include <vector>

#include "passes.hpp"

namespace wsl::fft {

namespace loops {

/// Multiplies each element by a number of its own, the same for all lines. Before or after that, real and
/// imaginary parts change places.
template <int width, class T, bool exchanged_before, bool exchanged_after>
struct modulate {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* x, int n, const T* by) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    constexpr int in_re = exchanged_before ? width : 0, in_im = exchanged_before ? 0 : width;
    constexpr int to_re = exchanged_after ? width : 0, to_im = exchanged_after ? 0 : width;
    for (int k = 0; k < n; ++k, x += 2 * width)
      for (int l = 0; l < width; l += v) {
        const T c = by[2 * k], s = by[2 * k + 1];
        const vec<v, T> re = vec_at<v>(x + in_re + l), im = vec_at<v>(x + in_im + l);
        vec_at<v>(x + to_re + l) = re * c - im * s, vec_at<v>(x + to_im + l) = re * s + im * c;
      }
  }
};

}  // namespace loops

/// The transform of groups of `width` lines. Groups have room for `longer()` elements.
template <int width, class T>
class chirp {
 public:
  /// The length of the convolution of lines of n elements.
  static constexpr int longer(int n) {
    int m = 1;
    while (m < 2 * n - 1) m *= 2;
    for (int odd : {3, 5, 9, 15, 7})  // times 2, 4, ..., where that is shorter
      for (int k = 2 * odd; k < m; k *= 2)
        if (k >= 2 * n - 1) m = k;
    return m;
  }
  int longer() const { return convolved_.length(); }

  void prepare(int n) {
    length_ = n;
    const int m = longer(n);
    convolved_.prepare(m);
    chirp_.resize(static_cast<std::size_t>(2 * n));
    spectrum_.resize(static_cast<std::size_t>(2 * m));
    // The spectrum of conj(w) is taken in f64, with the factor of the inverse transform.
    std::vector<f64> w(static_cast<std::size_t>(2 * m)), work(w.size());
    for (int k = 0; k < n; ++k) {
      const root_of_unity r(i64{k} * k % (2 * i64{n}), 2 * i64{n});
      r.put(chirp_.data() + 2 * k);
      for (int at : {k, (m - k) % m}) {
        w[static_cast<std::size_t>(2 * at)] = r.re / m;
        w[static_cast<std::size_t>(2 * at + 1)] = -r.im / m;
      }
    }
    passes<1, 0, f64> exact;
    exact.prepare(m);
    const f64* of_w = exact.transform(w.data(), work.data());
    std::transform(of_w, of_w + 2 * m, spectrum_.data(), [](f64 x) { return static_cast<T>(x); });
  }

  /// As passes::transform.
  T* transform(T* x, T* y) const {
    modulate<false, false>(x, length_, chirp_.data());
    const int m = longer();
    std::fill(x + i64{length_} * 2 * width, x + i64{m} * 2 * width, T{});
    T* z = convolved_.transform(x, y);
    modulate<false, true>(z, m, spectrum_.data());
    T* back = convolved_.transform(z, z == x ? y : x);
    modulate<true, false>(back, length_, chirp_.data());
    return back;
  }

 private:
  template <bool before, bool after>
  static void modulate(T* x, int n, const T* by) {
    loop_for<width, loops::modulate<width, T, before, after>, T*, int, const T*>()(x, n, by);
  }

  int length_ = 0;
  passes<width, 0, T> convolved_;
  buffer<0, T> chirp_, spectrum_;
};

}  // namespace wsl::fft
