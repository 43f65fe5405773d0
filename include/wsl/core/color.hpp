// SPDX-License-Identifier: MIT
// A color is a virtual channel of the fabric: every router has one route for it. Here a color also has the
// type of its wavelets' payload, so that a task, a descriptor and a path that disagree about the payload do
// not compile. See examples/01_hello_wavelet.cpp.
#pragma once
#include "wavelet.hpp"

namespace wsl {

namespace detail {

/// No machine has more colors than this (the WSEs route 24); color sets are 64-bit masks.
inline constexpr int max_colors = 64;

}  // namespace detail

template <class T>
struct color {
  static_assert(payload<T>,
                "wsl: a color carries values of two or four bytes, which a wavelet has room for: color<f32>");
  int id;
  using payload = T;
  friend constexpr bool operator==(color, color) = default;
};

namespace detail {

/// A value that is a color of some payload.
template <class C>
concept color_like = requires(C c) {
  c.id;
  typename C::payload;
};

constexpr u64 color_bit(int id) { return u64{1} << id; }

}  // namespace detail

}  // namespace wsl
