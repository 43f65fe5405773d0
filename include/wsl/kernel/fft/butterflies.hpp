// SPDX-License-Identifier: MIT
// The arithmetic of a fast Fourier transform, on several lines side by side: element k of `width` lines is
// `width` real parts followed by `width` imaginary parts, so that no vector is ever transposed. A pass turns
// a line of n = r m elements into r lines of m elements, in natural order (Stockham's autosort algorithm),
// for r = 2, 3, 4, 5 and 8. line.hpp composes passes.
#pragma once
#include <cstddef>

#include "../../linalg/vector_code.hpp"

namespace wsl::fft {

/// One pass over a group of lines: `count` transforms of r * m elements each become r * count transforms of
/// m. The roots are exp(-2 pi i p j / (r m)) for p = 0 .. m - 1 and j = 1 .. r - 1, real part first.
struct pass {
  const f32* from;
  f32* to;
  const f32* roots;
  std::ptrdiff_t m, count;
};

namespace loops {

/// Arithmetic on vectors of v numbers. A function template that deduced the vector type would lose that it
/// needs no alignment.
template <int v>
struct arithmetic {
  using V = vec<v>;

  /// (a, b) = (a + b, a - b)
  [[gnu::always_inline]] static inline void butterfly(V& a, V& b) {
    const V sum = a + b;
    b = a - b, a = sum;
  }
  /// Multiplies (re, im) by -i.
  [[gnu::always_inline]] static inline void times_minus_i(V& re, V& im) {
    const V old = re;
    re = im, im = -old;
  }

  /// The transforms of r elements.
  [[gnu::always_inline]] static inline void transform_2(V* re, V* im) {
    butterfly(re[0], re[1]), butterfly(im[0], im[1]);
  }
  [[gnu::always_inline]] static inline void transform_3(V* re, V* im) {
    constexpr f32 half_root_3 = 0.866025403784438647f;
    const V re_sum = re[1] + re[2], im_sum = im[1] + im[2];
    const V re_side = half_root_3 * (im[1] - im[2]), im_side = half_root_3 * (re[2] - re[1]);
    const V re_mid = re[0] - 0.5f * re_sum, im_mid = im[0] - 0.5f * im_sum;
    re[0] += re_sum, im[0] += im_sum;
    re[1] = re_mid + re_side, im[1] = im_mid + im_side;
    re[2] = re_mid - re_side, im[2] = im_mid - im_side;
  }
  /// The result is in the order 0, 2, 1, 3.
  [[gnu::always_inline]] static inline void transform_4_swapped(V* re, V* im) {
    butterfly(re[0], re[2]), butterfly(im[0], im[2]);
    butterfly(re[1], re[3]), butterfly(im[1], im[3]);
    times_minus_i(re[3], im[3]);
    butterfly(re[0], re[1]), butterfly(im[0], im[1]);
    butterfly(re[2], re[3]), butterfly(im[2], im[3]);
  }
  [[gnu::always_inline]] static inline void swap(V& a, V& b) {
    const V old = a;
    a = b, b = old;
  }
  [[gnu::always_inline]] static inline void transform_4(V* re, V* im) {
    transform_4_swapped(re, im);
    swap(re[1], re[2]), swap(im[1], im[2]);
  }
  [[gnu::always_inline]] static inline void transform_5(V* re, V* im) {
    constexpr f32 c1 = 0.309016994374947424f, c2 = -0.809016994374947424f, s1 = 0.951056516295153572f,
                  s2 = 0.587785252292473129f;
    butterfly(re[1], re[4]), butterfly(im[1], im[4]);
    butterfly(re[2], re[3]), butterfly(im[2], im[3]);
    const V re_a = re[0] + c1 * re[1] + c2 * re[2], im_a = im[0] + c1 * im[1] + c2 * im[2];
    const V re_b = re[0] + c2 * re[1] + c1 * re[2], im_b = im[0] + c2 * im[1] + c1 * im[2];
    const V re_c = s1 * im[4] + s2 * im[3], im_c = s1 * re[4] + s2 * re[3];
    const V re_d = s2 * im[4] - s1 * im[3], im_d = s2 * re[4] - s1 * re[3];
    re[0] += re[1] + re[2], im[0] += im[1] + im[2];
    re[1] = re_a + re_c, im[1] = im_a - im_c, re[4] = re_a - re_c, im[4] = im_a + im_c;
    re[2] = re_b + re_d, im[2] = im_b - im_d, re[3] = re_b - re_d, im[3] = im_b + im_d;
  }
  [[gnu::always_inline]] static inline void transform_8(V* re, V* im) {
    constexpr f32 half_root_2 = 0.707106781186547524f;
    for (int k = 0; k < 4; ++k) butterfly(re[k], re[k + 4]), butterfly(im[k], im[k + 4]);
    const V re5 = half_root_2 * (re[5] + im[5]);  // times (1 - i) / sqrt 2
    im[5] = half_root_2 * (im[5] - re[5]), re[5] = re5;
    times_minus_i(re[6], im[6]);
    const V re7 = half_root_2 * (im[7] - re[7]);  // times (-1 - i) / sqrt 2
    im[7] = -half_root_2 * (im[7] + re[7]), re[7] = re7;
    transform_4_swapped(re, im);          // numbers 0, 4, 2, 6 of the result
    transform_4_swapped(re + 4, im + 4);  // numbers 1, 5, 3, 7
    swap(re[1], re[4]), swap(im[1], im[4]);
    swap(re[3], re[6]), swap(im[3], im[6]);
  }
  template <int radix>
  [[gnu::always_inline]] static inline void transform(V* re, V* im) {
    if constexpr (radix == 2) transform_2(re, im);
    if constexpr (radix == 3) transform_3(re, im);
    if constexpr (radix == 4) transform_4(re, im);
    if constexpr (radix == 5) transform_5(re, im);
    if constexpr (radix == 8) transform_8(re, im);
  }
};

template <int width, int radix>
struct butterflies {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const pass& x) {
    if (x.m == 1) sweep<lanes, false>(x);
    else sweep<lanes, true>(x);
  }

 private:
  template <int lanes, bool turned>
  [[gnu::always_inline]] static inline void sweep(const pass& given) {
    constexpr int v = lanes < width ? lanes : width;
    constexpr std::ptrdiff_t number = 2 * width;
    const pass x = given;  // a local copy, which the stores below cannot alias
    const std::ptrdiff_t apart = x.count * x.m * number, along = x.count * number;
    for (std::ptrdiff_t p = 0; p < x.m; ++p) {
      const f32* from = x.from + p * along;
      f32* to = x.to + p * radix * along;
      const f32* root = x.roots + p * (radix - 1) * 2;
      for (std::ptrdiff_t q = 0; q < along; q += number)
        for (std::ptrdiff_t l = q; l < q + width; l += v) {
          vec<v> re[std::size_t{radix}], im[std::size_t{radix}];
          for (int j = 0; j < radix; ++j)
            re[j] = vec_at<v>(from + j * apart + l), im[j] = vec_at<v>(from + j * apart + l + width);
          arithmetic<v>::template transform<radix>(re, im);
          vec_at<v>(to + l) = re[0], vec_at<v>(to + l + width) = im[0];
          for (int j = 1; j < radix; ++j) {
            f32* at = to + j * along + l;
            if constexpr (turned) {
              const f32 c = root[2 * j - 2], s = root[2 * j - 1];
              vec_at<v>(at) = re[j] * c - im[j] * s, vec_at<v>(at + width) = re[j] * s + im[j] * c;
            } else {
              vec_at<v>(at) = re[j], vec_at<v>(at + width) = im[j];
            }
          }
        }
    }
  }
};

}  // namespace loops

/// The version of a loop for groups of `width` lines, and for this processor.
template <int width, class Loop, class... Arguments>
auto loop_for() -> void (*)(Arguments...) {
  if constexpr (width < 4) return [](Arguments... a) { Loop::template run<width>(a...); };
  else return vector_code<Loop, Arguments...>::best();
}

/// Does a pass of the radix 2, 3, 4, 5 or 8.
template <int width>
void transform_by(int radix, const pass& x) {
  using loops::butterflies;
  switch (radix) {
    case 2: return loop_for<width, butterflies<width, 2>, const pass&>()(x);
    case 3: return loop_for<width, butterflies<width, 3>, const pass&>()(x);
    case 4: return loop_for<width, butterflies<width, 4>, const pass&>()(x);
    case 5: return loop_for<width, butterflies<width, 5>, const pass&>()(x);
    default: return loop_for<width, butterflies<width, 8>, const pass&>()(x);
  }
}

}  // namespace wsl::fft
