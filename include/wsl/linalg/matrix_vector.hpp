// SPDX-License-Identifier: MIT
// The two inner loops of products of a matrix and a vector: y = A x, and y += A^T w. A row of A is `width`
// numbers, a multiple of a vector; of complex numbers (`parts` = 2) a row has first the real parts of all,
// then the imaginary parts. Both read every row once, which is all that such a product costs. kernel/gemv and
// kernel/tlr multiply with them.
#pragma once
#include <cstddef>

#include "vector_code.hpp"

namespace wsl::dense {

/// Real numbers have one part, complex ones two.
template <int parts>
struct matrix_times_vector {
  /// out[r] = sum over c of bases[r][c] x[c]. In `out` the real part of a complex number is followed by its
  /// imaginary part.
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const f32* bases, const f32* x, f32* out, int rank,
                                                int width) {
    int r = 0;
    for (; r + some <= rank; r += some, bases += some * parts * width, out += some * parts)
      several<lanes, some>(bases, x, out, width);
    for (; r < rank; ++r, bases += parts * width, out += parts) several<lanes, 1>(bases, x, out, width);
  }

 private:
  static constexpr int some = 4;  // sums at a time: one after the other would wait for each other

  template <int lanes, int n>
  [[gnu::always_inline]] static inline void several(const f32* bases, const f32* x, f32* out, int width) {
    vec<lanes> sum[std::size_t{n}][std::size_t{parts}] = {};
    for (int c = 0; c < width; c += lanes)
      for (int k = 0; k < n; ++k) {
        const f32* b = bases + k * parts * width + c;
        if constexpr (parts == 1) {
          sum[k][0] += vec_at<lanes>(b) * vec_at<lanes>(x + c);
        } else {
          const vec<lanes>&re = vec_at<lanes>(b), &im = vec_at<lanes>(b + width),
                &x_re = vec_at<lanes>(x + c), &x_im = vec_at<lanes>(x + c + width);
          sum[k][0] += re * x_re - im * x_im;
          sum[k][1] += re * x_im + im * x_re;
        }
      }
    for (int k = 0; k < n; ++k)
      for (int p = 0; p < parts; ++p) {
        fold<lanes, lanes / 2>(sum[k][p]);
        out[k * parts + p] = sum[k][p][0];
      }
  }
  template <int lanes, int half>
  [[gnu::always_inline]] static inline void fold(vec<lanes>& x) {
    vec<lanes> other;
    slide<half, lanes>(other, x, x);
    x += other;
    if constexpr (half > 1) fold<lanes, half / 2>(x);
  }
};

template <int parts>
struct transposed_times_vector {
  /// y[c] += sum over r of bases[r][c] w[r].
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const f32* bases, const f32* w, f32* y, int rank, int width) {
    int r = 0;
    for (; r + some <= rank; r += some, bases += some * parts * width, w += some * parts)
      several<lanes, some>(bases, w, y, width);
    for (; r < rank; ++r, bases += parts * width, w += parts) several<lanes, 1>(bases, w, y, width);
  }

 private:
  static constexpr int some = 8;  // bases for which y is read and written once

  template <int lanes, int n>
  [[gnu::always_inline]] static inline void several(const f32* bases, const f32* w, f32* y, int width) {
    for (int c = 0; c < width; c += lanes) {
      vec<lanes> sum[std::size_t{parts}];
      for (int p = 0; p < parts; ++p) sum[p] = vec_at<lanes>(y + p * width + c);
      for (int k = 0; k < n; ++k) {
        const f32* b = bases + k * parts * width + c;
        if constexpr (parts == 1) {
          sum[0] += vec_at<lanes>(b) * w[k];
        } else {
          const vec<lanes>&re = vec_at<lanes>(b), &im = vec_at<lanes>(b + width);
          sum[0] += re * w[2 * k] - im * w[2 * k + 1];
          sum[1] += re * w[2 * k + 1] + im * w[2 * k];
        }
      }
      for (int p = 0; p < parts; ++p) vec_at<lanes>(y + p * width + c) = sum[p];
    }
  }
};

}  // namespace wsl::dense
