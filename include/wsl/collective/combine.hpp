// SPDX-License-Identifier: MIT
// How reductions join two contributions. Any type with such a call can stand in; it must be commutative, because which of two
// contributions arrives first is not defined, and it should be associative, because their grouping follows the layout.
#pragma once

namespace wsl {

struct plus {
  template <class T>
  constexpr T operator()(T a, T b) const { return static_cast<T>(a + b); }
};
struct larger {
  template <class T>
  constexpr T operator()(T a, T b) const { return a < b ? b : a; }
};
struct smaller {
  template <class T>
  constexpr T operator()(T a, T b) const { return b < a ? b : a; }
};

}  // namespace wsl
