// SPDX-License-Identifier: MIT
// A group is `width` lines side by side: for each element first the real parts of all lines, then the
// imaginary parts. This header moves groups between the host's arrays, the PE's memory and the blocks that
// PEs exchange, and holds the operations on a whole group besides its transform: scaling, twiddle factors,
// and the steps of real transforms.
#pragma once
#include <algorithm>
#include <utility>

#include "line.hpp"

namespace wsl::fft {

/// The places of a group's elements in the memory of a PE: element k is at first + k / part * block + k %
/// part * stride, in real numbers.
template <class T>
struct places {
  T* first;
  int part;
  i64 block, stride;
};

/// Lines of the host, complex numbers as pairs: element k of line l is at first + k * along + l *
/// across.
template <class T>
struct host_lines {
  T* first;
  i64 along, across;
  int live;  ///< lines that there are, at most `width`
};

namespace loops {

template <int width, class T>
struct gather {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* x, const places<T>& from, int n) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (int k = 0; k < n;) {
      const T* at = from.first + k / from.part * from.block;
      for (const int end = std::min(n, k + from.part); k < end; ++k, x += 2 * width, at += from.stride)
        for (int l = 0; l < 2 * width; l += v) vec_at<v>(x + l) = vec_at<v>(at + l);
    }
  }
};
template <int width, class T>
struct scatter {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const places<T>& to, const T* x, int n) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (int k = 0; k < n;) {
      T* at = to.first + k / to.part * to.block;
      for (const int end = std::min(n, k + to.part); k < end; ++k, x += 2 * width, at += to.stride)
        for (int l = 0; l < 2 * width; l += v) vec_at<v>(at + l) = vec_at<v>(x + l);
    }
  }
};

/// Splits the pairs of a host's row into real parts at `re` and imaginary parts at `im`.
template <int width, class T>
struct deinterleave {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* re, T* im, const T* from, i64 along, int n) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (int k = 0; k < n; ++k, re += 2 * width, im += 2 * width, from += along)
      for (int l = 0; l < width; l += v) {
        const vec<v, T>&low = vec_at<v>(from + 2 * l), &high = vec_at<v>(from + 2 * l + v);
        [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
          vec_at<v>(re + l) = __builtin_shufflevector(low, high, (2 * i)...);
          vec_at<v>(im + l) = __builtin_shufflevector(low, high, (2 * i + 1)...);
        }(std::make_integer_sequence<int, v>{});
      }
  }
};
template <int width, class T>
struct interleave {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* to, i64 along, const T* x, int n) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (int k = 0; k < n; ++k, x += 2 * width, to += along)
      for (int l = 0; l < width; l += v) {
        const vec<v, T>&re = vec_at<v>(x + l), &im = vec_at<v>(x + width + l);
        [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
          vec_at<v>(to + 2 * l) = __builtin_shufflevector(re, im, (i / 2 + i % 2 * v)...);
          vec_at<v>(to + 2 * l + v) = __builtin_shufflevector(re, im, ((i + v) / 2 + (i + v) % 2 * v)...);
        }(std::make_integer_sequence<int, v>{});
      }
  }
};

/// x = scale * x, with real and imaginary parts exchanged.
template <int width, class T>
struct swap_real_and_imaginary {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* x, int n, T scale) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (T* end = x + n * 2 * width; x < end; x += 2 * width)
      for (int l = 0; l < width; l += v) {
        const vec<v, T> re = vec_at<v>(x + l) * scale;
        vec_at<v>(x + l) = vec_at<v>(x + width + l) * scale;
        vec_at<v>(x + width + l) = re;
      }
  }
};
template <int width, class T>
struct scale {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* x, int n, T factor) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (T* end = x + n * 2 * width; x < end; x += v) vec_at<v>(x) *= factor;
  }
};

/// Multiplies element k of line l by the twiddle factor each[k] * beside[k][l]; `each` holds pairs,
/// `beside` is laid out as a group.
template <int width, class T>
struct twiddle {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* x, int n, const T* each, const T* beside) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (int k = 0; k < n; ++k, x += 2 * width, beside += 2 * width)
      for (int l = 0; l < width; l += v) {
        const T c = each[2 * k], s = each[2 * k + 1];
        const vec<v, T>&wr = vec_at<v>(beside + l), &wi = vec_at<v>(beside + width + l);
        const vec<v, T> tr = wr * c - wi * s, ti = wr * s + wi * c, re = vec_at<v>(x + l),
                        im = vec_at<v>(x + width + l);
        vec_at<v>(x + l) = re * tr - im * ti, vec_at<v>(x + width + l) = re * ti + im * tr;
      }
  }
};

/// The transform Z of h pairs of real numbers, taken as complex ones, becomes the first h + 1 elements of
/// the transform of the 2 h real numbers: X_k = (Z_k + conj Z_(h-k)) / 2 - i w^k (Z_k - conj Z_(h-k)) / 2
/// with w = exp(-pi i / h). Backward, on elements whose real and imaginary parts are exchanged, X becomes 2
/// Z. What would be imaginary in X_0 and X_h is left out.
template <int width, class T, bool backward>
struct split {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* x, int h, const T* roots) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    constexpr int to_re = backward ? width : 0, to_im = backward ? 0 : width;
    if constexpr (!backward) std::copy_n(x, 2 * width, x + h * 2 * width);
    else
      for (T* imaginary : {x, x + h * 2 * width}) std::fill_n(imaginary, width, T{0});
    for (int k = 0; 2 * k <= h; ++k)
      for (int l = 0; l < width; l += v) {
        T *a = x + k * 2 * width + l, *b = x + (h - k) * 2 * width + l;
        const T c = roots[2 * k], s = backward ? -roots[2 * k + 1] : roots[2 * k + 1],
                half = backward ? T{1} : T{0.5};
        const vec<v, T> even_re = half * (vec_at<v>(a + to_re) + vec_at<v>(b + to_re)),
                        even_im = half * (vec_at<v>(a + to_im) - vec_at<v>(b + to_im));
        const vec<v, T> odd_re = half * (vec_at<v>(a + to_im) + vec_at<v>(b + to_im)),
                        odd_im = half * (vec_at<v>(b + to_re) - vec_at<v>(a + to_re));
        // The two results differ by w^k times (odd_re, odd_im) and its negative; backward the term is i w^-k
        // (X_k - conj), which has the same numbers times -1.
        const vec<v, T> re = odd_re * c - odd_im * s, im = odd_re * s + odd_im * c;
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

namespace loops {

/// Row i of `to` is column i of `from`, for `width` rows and columns.
template <int width, class T>
struct transpose {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const T* from, i64 from_row, T* to, i64 to_row) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (int i = 0; i < width; i += v)
      for (int j = 0; j < width; j += v)
        square<v>(from + j * from_row + i, from_row, to + i * to_row + j, to_row);
  }

 private:
  /// v rows of v numbers: squares of half the size change places, then those of a quarter, and so on.
  template <int v>
  [[gnu::always_inline]] static inline void square(const T* from, i64 from_row, T* to, i64 to_row) {
    vec<v, T> row[std::size_t{v}];
    for (int i = 0; i < v; ++i) row[i] = vec_at<v>(from + i * from_row);
    exchange<v, v / 2>(row);
    for (int i = 0; i < v; ++i) vec_at<v>(to + i * to_row) = row[i];
  }
  template <int v, int side>
  [[gnu::always_inline]] static inline void exchange(vec<v, T>* row) {
    if constexpr (side > 0) {
      for (int i = 0; i < v; ++i)
        if ((i & side) == 0)
          [&]<int... c>(std::integer_sequence<int, c...>) __attribute__((always_inline)) {
            const vec<v, T> a = row[i], b = row[i + side];
            row[i] = __builtin_shufflevector(a, b, ((c & side) ? v + c - side : c)...);
            row[i + side] = __builtin_shufflevector(a, b, ((c & side) ? v + c : c + side)...);
          }(std::make_integer_sequence<int, v>{});
      exchange<v, side / 2>(row);
    }
  }
};

/// Two groups of lines of n real numbers, a as real parts and b as imaginary ones, have been transformed as
/// one, Z. Of their own transforms, A_k = (Z_k + conj Z_(n-k)) / 2 and B_k = (Z_k - conj Z_(n-k)) / 2i, the
/// first n / 2 + 1 numbers are left: those of B in the place of Z. n is odd.
template <int width, class T>
struct unravel {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* z, T* to_a, int n) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (int k = 0; 2 * k < n; ++k)
      for (int l = 0; l < width; l += v) {
        T *here = z + k * 2 * width + l, *a = to_a + k * 2 * width + l;
        const T* there = z + (k == 0 ? 0 : n - k) * 2 * width + l;
        const vec<v, T> re = vec_at<v>(here), im = vec_at<v>(here + width), mirrored_re = vec_at<v>(there),
                        mirrored_im = vec_at<v>(there + width);
        vec_at<v>(a) = T{0.5} * (re + mirrored_re), vec_at<v>(a + width) = T{0.5} * (im - mirrored_im);
        vec_at<v>(here) = T{0.5} * (im + mirrored_im), vec_at<v>(here + width) = T{0.5} * (mirrored_re - re);
      }
  }
};
/// The way back: the first n / 2 + 1 numbers of a and b, whose real and imaginary parts are exchanged, become
/// Z = A + i B, with the same exchanged, in the place of a. What would be imaginary in A_0 and B_0 is left
/// out.
template <int width, class T>
struct ravel {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(T* z, const T* from_b, int n) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    for (int k = 0; 2 * k < n; ++k)
      for (int l = 0; l < width; l += v) {
        T *here = z + k * 2 * width + l, *there = z + (n - k) * 2 * width + l;
        const T* b = from_b + k * 2 * width + l;
        const vec<v, T> a_re = vec_at<v>(here + width), b_re = vec_at<v>(b + width);
        if (k == 0) {
          vec_at<v>(here) = b_re, vec_at<v>(here + width) = a_re;
          continue;
        }
        const vec<v, T> a_im = vec_at<v>(here), b_im = vec_at<v>(b);
        vec_at<v>(here) = a_im + b_re, vec_at<v>(here + width) = a_re - b_im;
        vec_at<v>(there) = b_re - a_im, vec_at<v>(there + width) = a_re + b_im;
      }
  }
};

}  // namespace loops

/// The operations on groups of `width` lines. x is a group, n the length of its lines.
template <int width, class T>
struct group {
  static constexpr int number = 2 * width;  ///< real numbers of a number of all lines

  static void gather(T* x, const places<T>& from, int n) {
    loop_for<width, loops::gather<width, T>, T*, const places<T>&, int>()(x, from, n);
  }
  static void scatter(const places<T>& to, const T* x, int n) {
    loop_for<width, loops::scatter<width, T>, const places<T>&, const T*, int>()(to, x, n);
  }
  /// Transposes lines and elements: element k of line l becomes, in the group at to.first + k / part *
  /// block + l * stride + k % part / width * number, that of line k % width. `part` is a multiple of the
  /// width.
  static void scatter_transposed(const places<T>& to, const T* x, int n) {
    for (int k = 0; k < n; k += width) {
      T* at = to.first + k / to.part * to.block + k % to.part / width * number;
      for (int part : {0, width}) transpose(x + k * number + part, number, at + part, to.stride);
    }
  }

  static void transpose(const T* from, i64 from_row, T* to, i64 to_row) {
    loop_for<width, loops::transpose<width, T>, const T*, i64, T*, i64>()(from, from_row, to, to_row);
  }
  /// Loads a group from the host; with `exchanged` real and imaginary parts change places.
  static void load(T* x, const host_lines<const T>& from, int n, bool exchanged) {
    T *re = exchanged ? x + width : x, *im = exchanged ? x : x + width;
    if (from.live == width && from.across == 2)
      return loop_for<width, loops::deinterleave<width, T>, T*, T*, const T*, i64, int>()(re, im, from.first,
                                                                                          from.along, n);
    int k = 0;
    if (from.live == width && from.along == 2 && !exchanged)
      for (; k + width / 2 <= n && width > 1; k += width / 2)
        transpose(from.first + 2 * k, from.across, x + k * number, width);
    for (; k < n; ++k)
      for (int l = 0; l < from.live; ++l) {
        const T* at = from.first + k * from.along + l * from.across;
        re[k * number + l] = at[0], im[k * number + l] = at[1];
      }
  }
  static void store(const host_lines<T>& to, const T* x, int n) {
    if (to.live == width && to.across == 2)
      return loop_for<width, loops::interleave<width, T>, T*, i64, const T*, int>()(to.first, to.along, x, n);
    int k = 0;
    if (to.live == width && to.along == 2)
      for (; k + width / 2 <= n && width > 1; k += width / 2)
        transpose(x + k * number, width, to.first + 2 * k, to.across);
    for (; k < n; ++k)
      for (int l = 0; l < to.live; ++l) {
        T* at = to.first + k * to.along + l * to.across;
        at[0] = x[k * number + l], at[1] = x[k * number + width + l];
      }
  }

  /// Lines of n real numbers that follow each other become the real parts of a group, or its imaginary parts.
  /// Lines that are not there are zero.
  static void load_real(T* x, bool imaginary, const host_lines<const T>& from, int n) {
    T* const to = imaginary ? x + width : x;
    for (int l = 0; l < width; ++l)
      for (int k = 0; k < n; ++k) to[k * number + l] = l < from.live ? from.first[k + l * from.across] : 0;
  }
  /// And back, times a factor.
  static void store_real(const host_lines<T>& to, const T* x, bool imaginary, int n, T factor) {
    const T* const from = imaginary ? x + width : x;
    for (int l = 0; l < to.live; ++l)
      for (int k = 0; k < n; ++k) to.first[k + l * to.across] = factor * from[k * number + l];
  }
  static void unravel(T* z, T* a, int n) {
    loop_for<width, loops::unravel<width, T>, T*, T*, int>()(z, a, n);
  }
  static void ravel(T* z, const T* b, int n) {
    loop_for<width, loops::ravel<width, T>, T*, const T*, int>()(z, b, n);
  }

  /// x = factor * x; with `exchanged` real and imaginary parts change places.
  static void finish(T* x, int n, T factor, bool exchanged) {
    if (exchanged) loop_for<width, loops::swap_real_and_imaginary<width, T>, T*, int, T>()(x, n, factor);
    else if (factor != 1) loop_for<width, loops::scale<width, T>, T*, int, T>()(x, n, factor);
  }
  static void twiddle(T* x, int n, const T* each, const T* beside) {
    loop_for<width, loops::twiddle<width, T>, T*, int, const T*, const T*>()(x, n, each, beside);
  }
  static void split(T* x, int h, const T* roots) {
    loop_for<width, loops::split<width, T, false>, T*, int, const T*>()(x, h, roots);
  }
  static void join(T* x, int h, const T* roots) {
    loop_for<width, loops::split<width, T, true>, T*, int, const T*>()(x, h, roots);
  }
};

}  // namespace wsl::fft
