// SPDX-License-Identifier: MIT
// Roots of unity: those of small orders as constants, which butterflies multiply by, and those of passes and
// twiddle factors, to the last bits of f64.
#pragma once
#include <cmath>
#include <numbers>

#include "../../core/scalar.hpp"

namespace wsl::fft {

namespace detail {

/// The angle 2 pi k / n, turned into the first eighth of a circle, where neither the angle nor its sine or
/// cosine loses digits. k and n are below 2^60.
struct eighth {
  i64 k, of;             ///< the angle is 2 pi k / of, with 8 k <= of
  bool swapped = false;  ///< sine and cosine change places
  bool left = false, lower = false;

  constexpr eighth(i64 k_, i64 n) : k(4 * (k_ % n)), of(4 * n) {
    if (k < 0) k += of;
    if (2 * k > of) k = of - k, lower = true;
    if (4 * k > of) k = of / 2 - k, left = true;
    if (8 * k > of) k = of / 4 - k, swapped = true;
  }
  constexpr f64 angle() const { return 2 * std::numbers::pi * static_cast<f64>(k) / static_cast<f64>(of); }
};

/// Taylor's series for an angle up to pi / 4, with as many terms as f64 has digits.
constexpr f64 series(f64 x, int first) {
  f64 term = first ? x : 1, sum = term;
  for (int i = first; i < first + 20; i += 2) term *= -x * x / ((i + 1) * (i + 2)), sum += term;
  return sum;
}

}  // namespace detail

/// cos(2 pi k / n), as a constant.
template <class T>
consteval T cosine(int k, int n) {
  const detail::eighth e(k, n);
  const f64 c = detail::series(e.angle(), e.swapped ? 1 : 0);
  return static_cast<T>(e.left ? -c : c);
}
/// sin(2 pi k / n), as a constant.
template <class T>
consteval T sine(int k, int n) {
  const detail::eighth e(k, n);
  const f64 s = detail::series(e.angle(), e.swapped ? 0 : 1);
  return static_cast<T>(e.lower ? -s : s);
}

/// exp(-2 pi i k / n), real part and imaginary part.
struct root_of_unity {
  f64 re, im;

  root_of_unity(i64 k, i64 n) {
    const detail::eighth e(k, n);
    const f64 c = std::cos(e.angle()), s = std::sin(e.angle());
    re = e.swapped ? s : c, im = e.swapped ? c : s;
    if (e.left) re = -re;
    if (!e.lower) im = -im;
  }
  template <class T>
  void put(T* to) const {
    to[0] = static_cast<T>(re), to[1] = static_cast<T>(im);
  }
};

}  // namespace wsl::fft
