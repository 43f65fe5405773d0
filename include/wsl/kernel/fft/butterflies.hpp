// SPDX-License-Identifier: MIT
// The arithmetic of a fast Fourier transform, on several lines side by side: element k of `width` lines is
// `width` real parts followed by `width` imaginary parts, so that no vector is ever transposed. A pass turns
// a line of n = r m elements into r lines of m elements, in natural order (Stockham's autosort algorithm),
// for r = 2, 3, 4, 5, 7, 8, 11 and 13. passes.hpp composes them.
#pragma once
#include <cstddef>

#include "../../linalg/vector_code.hpp"
#include "roots.hpp"

namespace wsl::fft {

/// One pass over a group of lines: `count` transforms of r * m elements each become r * count transforms of
/// m. The roots are exp(-2 pi i p j / (r m)) for p = 0 .. m - 1 and j = 1 .. r - 1, real part first.
template <class T>
struct pass {
  const T* from;
  T* to;
  const T* roots;
  std::ptrdiff_t m, count;
};

namespace loops {

/// Arithmetic on vectors of v numbers. A function template that deduced the vector type would lose that it
/// needs no alignment.
template <int v, class T>
struct arithmetic {
  using V = vec<v, T>;

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
    constexpr T half_root_3 = static_cast<T>(0.866025403784438647);
    const V re_sum = re[1] + re[2], im_sum = im[1] + im[2];
    const V re_side = half_root_3 * (im[1] - im[2]), im_side = half_root_3 * (re[2] - re[1]);
    const V re_mid = re[0] - T{0.5} * re_sum, im_mid = im[0] - T{0.5} * im_sum;
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
    constexpr T c1 = cosine<T>(1, 5), c2 = cosine<T>(2, 5), s1 = sine<T>(1, 5), s2 = sine<T>(2, 5);
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
    constexpr T half_root_2 = static_cast<T>(0.707106781186547524);
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
  /// For an odd number of elements, of which k and p - k share their products.
  template <int p>
  [[gnu::always_inline]] static inline void transform_odd(V* re, V* im) {
    constexpr int half = p / 2;
    for (int j = 1; j <= half; ++j) butterfly(re[j], re[p - j]), butterfly(im[j], im[p - j]);
    V even_re[std::size_t{half}], even_im[std::size_t{half}], odd_re[std::size_t{half}],
        odd_im[std::size_t{half}];
    [&]<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline)) {
      (result<p, k + 1>(re, im, even_re[k], even_im[k], odd_re[k], odd_im[k]), ...);
    }(std::make_integer_sequence<int, half>{});
    for (int j = 1; j <= half; ++j) re[0] += re[j], im[0] += im[j];
    for (int k = 1; k <= half; ++k) {
      re[k] = even_re[k - 1] + odd_im[k - 1], im[k] = even_im[k - 1] - odd_re[k - 1];
      re[p - k] = even_re[k - 1] - odd_im[k - 1], im[p - k] = even_im[k - 1] + odd_re[k - 1];
    }
  }
  /// The sums with cosines and with sines of the results k and p - k; re and im hold x_j + x_(p-j) at j, and
  /// x_j - x_(p-j) at p - j.
  template <int p, int k>
  [[gnu::always_inline]] static inline void result(const V* re, const V* im, V& even_re, V& even_im,
                                                   V& odd_re, V& odd_im) {
    even_re = re[0], even_im = im[0], odd_re = V{}, odd_im = V{};
    [&]<int... j>(std::integer_sequence<int, j...>) __attribute__((always_inline)) {
      ((even_re += cosine<T>((j + 1) * k, p) * re[j + 1], even_im += cosine<T>((j + 1) * k, p) * im[j + 1],
        odd_re += sine<T>((j + 1) * k, p) * re[p - 1 - j], odd_im += sine<T>((j + 1) * k, p) * im[p - 1 - j]),
       ...);
    }(std::make_integer_sequence<int, p / 2>{});
  }
  template <int radix>
  [[gnu::always_inline]] static inline void transform(V* re, V* im) {
    if constexpr (radix == 2) transform_2(re, im);
    if constexpr (radix == 3) transform_3(re, im);
    if constexpr (radix == 4) transform_4(re, im);
    if constexpr (radix == 5) transform_5(re, im);
    if constexpr (radix == 8) transform_8(re, im);
    if constexpr (radix == 7 || radix == 11 || radix == 13) transform_odd<radix>(re, im);
  }
};

/// A processor's vector of f32 in numbers of another type, or as many as there are lines.
template <int lanes, int width, class T>
inline constexpr int vector_of_lines = [] {
  const int all = lanes * 4 / int{sizeof(T)};
  return all < width ? (all > 0 ? all : 1) : width;
}();

template <int width, int radix, class T>
struct butterflies {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const pass<T>& x) {
    if (x.m == 1) sweep<lanes, false>(x);
    else sweep<lanes, true>(x);
  }

 private:
  template <int lanes, bool turned>
  [[gnu::always_inline]] static inline void sweep(const pass<T>& given) {
    constexpr int v = vector_of_lines<lanes, width, T>;
    constexpr std::ptrdiff_t number = 2 * width;
    const pass<T> x = given;  // a local copy, which the stores below cannot alias
    const std::ptrdiff_t apart = x.count * x.m * number, along = x.count * number;
    for (std::ptrdiff_t p = 0; p < x.m; ++p) {
      const T* from = x.from + p * along;
      T* to = x.to + p * radix * along;
      const T* root = x.roots + p * (radix - 1) * 2;
      for (std::ptrdiff_t q = 0; q < along; q += number)
        for (std::ptrdiff_t l = q; l < q + width; l += v) {
          vec<v, T> re[std::size_t{radix}], im[std::size_t{radix}];
          for (int j = 0; j < radix; ++j)
            re[j] = vec_at<v>(from + j * apart + l), im[j] = vec_at<v>(from + j * apart + l + width);
          arithmetic<v, T>::template transform<radix>(re, im);
          vec_at<v>(to + l) = re[0], vec_at<v>(to + l + width) = im[0];
          for (int j = 1; j < radix; ++j) {
            T* at = to + j * along + l;
            if constexpr (turned) {
              const T c = root[2 * j - 2], s = root[2 * j - 1];
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

/// Does a pass of the radix 2, 3, 4, 5, 7, 8, 11 or 13.
template <int width, class T>
void transform_by(int radix, const pass<T>& x) {
  const auto with = [&]<int r>(std::integral_constant<int, r>) {
    loop_for<width, loops::butterflies<width, r, T>, const pass<T>&>()(x);
  };
  switch (radix) {
    case 2: return with(std::integral_constant<int, 2>{});
    case 3: return with(std::integral_constant<int, 3>{});
    case 4: return with(std::integral_constant<int, 4>{});
    case 5: return with(std::integral_constant<int, 5>{});
    case 7: return with(std::integral_constant<int, 7>{});
    case 11: return with(std::integral_constant<int, 11>{});
    case 13: return with(std::integral_constant<int, 13>{});
    default: return with(std::integral_constant<int, 8>{});
  }
}

}  // namespace wsl::fft
