// SPDX-License-Identifier: MIT
// A group is `width` lines side by side: for each element first the real parts of all lines, then the
// imaginary parts. This header moves groups between the host's arrays, the PE's memory and the blocks that
// PEs exchange, and holds the operations on a whole group besides its transform: scaling, twiddle factors,
// and the steps of real transforms.
#pragma once
#include <algorithm>
#include <utility>

#include "../../linalg/microkernels.hpp"
#include "line.hpp"

namespace wsl::fft {

/// The places of a group's elements in the memory of a PE: element k is at first + k / part * block + k %
/// part * stride, in f32.
struct places {
  f32* first;
  int part;
  i64 block, stride;
};

/// Lines of the host, complex numbers as pairs of f32: element k of line l is at first + k * along + l *
/// across.
template <class T>
struct host_lines {
  T* first;
  i64 along, across;
  int live;  ///< lines that there are, at most `width`
};

namespace loops {

template <int width>
struct gather {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(f32* x, const places& from, int n) {
    constexpr int v = lanes < width ? lanes : width;
    for (int k = 0; k < n;) {
      const f32* at = from.first + k / from.part * from.block;
      for (const int end = std::min(n, k + from.part); k < end; ++k, x += 2 * width, at += from.stride)
        for (int l = 0; l < 2 * width; l += v) vec_at<v>(x + l) = vec_at<v>(at + l);
    }
  }
};
template <int width>
struct scatter {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const places& to, const f32* x, int n) {
    constexpr int v = lanes < width ? lanes : width;
    for (int k = 0; k < n;) {
      f32* at = to.first + k / to.part * to.block;
      for (const int end = std::min(n, k + to.part); k < end; ++k, x += 2 * width, at += to.stride)
        for (int l = 0; l < 2 * width; l += v) vec_at<v>(at + l) = vec_at<v>(x + l);
    }
  }
};

/// Splits the pairs of a host's row into real parts at `re` and imaginary parts at `im`.
template <int width>
struct deinterleave {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(f32* re, f32* im, const f32* from, i64 along, int n) {
    constexpr int v = lanes < width ? lanes : width;
    for (int k = 0; k < n; ++k, re += 2 * width, im += 2 * width, from += along)
      for (int l = 0; l < width; l += v) {
        const vec<v>&low = vec_at<v>(from + 2 * l), &high = vec_at<v>(from + 2 * l + v);
        [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
          vec_at<v>(re + l) = __builtin_shufflevector(low, high, (2 * i)...);
          vec_at<v>(im + l) = __builtin_shufflevector(low, high, (2 * i + 1)...);
        }(std::make_integer_sequence<int, v>{});
      }
  }
};
template <int width>
struct interleave {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(f32* to, i64 along, const f32* x, int n) {
    constexpr int v = lanes < width ? lanes : width;
    for (int k = 0; k < n; ++k, x += 2 * width, to += along)
      for (int l = 0; l < width; l += v) {
        const vec<v>&re = vec_at<v>(x + l), &im = vec_at<v>(x + width + l);
        [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
          vec_at<v>(to + 2 * l) = __builtin_shufflevector(re, im, (i / 2 + i % 2 * v)...);
          vec_at<v>(to + 2 * l + v) = __builtin_shufflevector(re, im, ((i + v) / 2 + (i + v) % 2 * v)...);
        }(std::make_integer_sequence<int, v>{});
      }
  }
};

/// x = scale * x, with real and imaginary parts exchanged.
template <int width>
struct swap_real_and_imaginary {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(f32* x, int n, f32 scale) {
    constexpr int v = lanes < width ? lanes : width;
    for (f32* end = x + n * 2 * width; x < end; x += 2 * width)
      for (int l = 0; l < width; l += v) {
        const vec<v> re = vec_at<v>(x + l) * scale;
        vec_at<v>(x + l) = vec_at<v>(x + width + l) * scale;
        vec_at<v>(x + width + l) = re;
      }
  }
};
template <int width>
struct scale {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(f32* x, int n, f32 factor) {
    constexpr int v = lanes < width ? lanes : width;
    for (f32* end = x + n * 2 * width; x < end; x += v) vec_at<v>(x) *= factor;
  }
};

/// Multiplies element k of line l by the twiddle factor each[k] * beside[k][l]; `each` holds pairs,
/// `beside` is laid out as a group.
template <int width>
struct twiddle {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(f32* x, int n, const f32* each, const f32* beside) {
    constexpr int v = lanes < width ? lanes : width;
    for (int k = 0; k < n; ++k, x += 2 * width, beside += 2 * width)
      for (int l = 0; l < width; l += v) {
        const f32 c = each[2 * k], s = each[2 * k + 1];
        const vec<v>&wr = vec_at<v>(beside + l), &wi = vec_at<v>(beside + width + l);
        const vec<v> tr = wr * c - wi * s, ti = wr * s + wi * c, re = vec_at<v>(x + l),
                     im = vec_at<v>(x + width + l);
        vec_at<v>(x + l) = re * tr - im * ti, vec_at<v>(x + width + l) = re * ti + im * tr;
      }
  }
};

/// The transform Z of h pairs of real numbers, taken as complex ones, becomes the first h + 1 elements of
/// the transform of the 2 h real numbers: X_k = (Z_k + conj Z_(h-k)) / 2 - i w^k (Z_k - conj Z_(h-k)) / 2
/// with w = exp(-pi i / h). Backward, on elements whose real and imaginary parts are exchanged, X becomes 2
/// Z.
template <int width, bool backward>
struct split {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(f32* x, int h, const f32* roots) {
    constexpr int v = lanes < width ? lanes : width;
    constexpr int to_re = backward ? width : 0, to_im = backward ? 0 : width;
    if constexpr (!backward) std::copy_n(x, 2 * width, x + h * 2 * width);
    for (int k = 0; 2 * k <= h; ++k)
      for (int l = 0; l < width; l += v) {
        f32 *a = x + k * 2 * width + l, *b = x + (h - k) * 2 * width + l;
        const f32 c = roots[2 * k], s = backward ? -roots[2 * k + 1] : roots[2 * k + 1],
                  half = backward ? 1.f : 0.5f;
        const vec<v> even_re = half * (vec_at<v>(a + to_re) + vec_at<v>(b + to_re)),
                     even_im = half * (vec_at<v>(a + to_im) - vec_at<v>(b + to_im));
        const vec<v> odd_re = half * (vec_at<v>(a + to_im) + vec_at<v>(b + to_im)),
                     odd_im = half * (vec_at<v>(b + to_re) - vec_at<v>(a + to_re));
        // The two results differ by w^k times (odd_re, odd_im) and its negative; backward the term is i w^-k
        // (X_k - conj), which has the same numbers times -1.
        const vec<v> re = odd_re * c - odd_im * s, im = odd_re * s + odd_im * c;
        if constexpr (backward) {
          vec_at<v>(a + to_re) = even_re - re, vec_at<v>(a + to_im) = even_im - im;
          vec_at<v>(b + to_re) = even_re + re, vec_at<v>(b + to_im) = -even_im - im;
        } else {
          vec_at<v>(a + to_re) = even_re + re, vec_at<v>(a + to_im) = even_im + im;
          vec_at<v>(b + to_re) = even_re - re, vec_at<v>(b + to_im) = im - even_im;
        }
      }
  }
};

}  // namespace loops

/// Row i of `to` is column i of `from`, for `width` rows and columns.
template <int width>
void transpose_block(const f32* from, i64 from_row, f32* to, i64 to_row) {
  const dense::microkernels& u = dense::best_microkernels();
  if (width % u.lanes) {
    for (int i = 0; i < width; ++i)
      for (int j = 0; j < width; ++j) to[i * to_row + j] = from[j * from_row + i];
  } else {
    for (int i = 0; i < width; i += u.lanes)
      for (int j = 0; j < width; j += u.lanes)
        u.transpose({from + j * from_row + i, from_row, to + i * to_row + j, to_row});
  }
}

/// The operations on groups of `width` lines. x is a group, n the length of its lines.
template <int width>
struct group {
  static constexpr int number = 2 * width;  ///< f32 of a number of all lines

  static void gather(f32* x, const places& from, int n) {
    loop_for<width, loops::gather<width>, f32*, const places&, int>()(x, from, n);
  }
  static void scatter(const places& to, const f32* x, int n) {
    loop_for<width, loops::scatter<width>, const places&, const f32*, int>()(to, x, n);
  }
  /// Transposes lines and elements: element k of line l becomes, in the group at to.first + k / part *
  /// block + l * stride + k % part / width * number, that of line k % width. `part` is a multiple of the
  /// width.
  static void scatter_transposed(const places& to, const f32* x, int n) {
    for (int k = 0; k < n; k += width) {
      f32* at = to.first + k / to.part * to.block + k % to.part / width * number;
      for (int part : {0, width}) transpose_block<width>(x + k * number + part, number, at + part, to.stride);
    }
  }

  /// Loads a group from the host; with `exchanged` real and imaginary parts change places.
  static void load(f32* x, const host_lines<const f32>& from, int n, bool exchanged) {
    f32 *re = exchanged ? x + width : x, *im = exchanged ? x : x + width;
    if (from.live == width && from.across == 2)
      return loop_for<width, loops::deinterleave<width>, f32*, f32*, const f32*, i64, int>()(
          re, im, from.first, from.along, n);
    int k = 0;
    if (from.live == width && from.along == 2 && !exchanged)
      for (; k + width / 2 <= n && width > 1; k += width / 2)
        transpose_block<width>(from.first + 2 * k, from.across, x + k * number, width);
    for (; k < n; ++k)
      for (int l = 0; l < from.live; ++l) {
        const f32* at = from.first + k * from.along + l * from.across;
        re[k * number + l] = at[0], im[k * number + l] = at[1];
      }
  }
  static void store(const host_lines<f32>& to, const f32* x, int n) {
    if (to.live == width && to.across == 2)
      return loop_for<width, loops::interleave<width>, f32*, i64, const f32*, int>()(to.first, to.along, x,
                                                                                     n);
    int k = 0;
    if (to.live == width && to.along == 2)
      for (; k + width / 2 <= n && width > 1; k += width / 2)
        transpose_block<width>(x + k * number, width, to.first + 2 * k, to.across);
    for (; k < n; ++k)
      for (int l = 0; l < to.live; ++l) {
        f32* at = to.first + k * to.along + l * to.across;
        at[0] = x[k * number + l], at[1] = x[k * number + width + l];
      }
  }

  /// x = factor * x; with `exchanged` real and imaginary parts change places.
  static void finish(f32* x, int n, f32 factor, bool exchanged) {
    if (exchanged) loop_for<width, loops::swap_real_and_imaginary<width>, f32*, int, f32>()(x, n, factor);
    else if (factor != 1) loop_for<width, loops::scale<width>, f32*, int, f32>()(x, n, factor);
  }
  static void twiddle(f32* x, int n, const f32* each, const f32* beside) {
    loop_for<width, loops::twiddle<width>, f32*, int, const f32*, const f32*>()(x, n, each, beside);
  }
  static void split(f32* x, int h, const f32* roots) {
    loop_for<width, loops::split<width, false>, f32*, int, const f32*>()(x, h, roots);
  }
  static void join(f32* x, int h, const f32* roots) {
    loop_for<width, loops::split<width, true>, f32*, int, const f32*>()(x, h, roots);
  }
};

}  // namespace wsl::fft
