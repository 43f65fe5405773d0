// SPDX-License-Identifier: MIT
// How reductions join two contributions, the one from further away first. Any type with such a call can stand
// in; it should be associative, because their grouping follows the layout.
#pragma once
#include <type_traits>

#include "../wsl.hpp"

namespace wsl {

/// Whole numbers wrap around.
struct plus {
  template <class T>
  constexpr T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    else return static_cast<T>(a + b);
  }
};
struct larger {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct smaller {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

namespace collective {

/// to = a joined with b, element by element: an operation of the machine where it has one.
template <class Combine, class To, class A, class B>
constexpr auto join(const To& to, const A& a, const B& b) {
  if constexpr (std::is_same_v<Combine, plus>) return add(to, a, b);
  else if constexpr (std::is_same_v<Combine, larger>) return fmax(to, a, b);
  else if constexpr (std::is_same_v<Combine, smaller>) return fmin(to, a, b);
  else return map_each(Combine{}, to, a, b);
}

}  // namespace collective
}  // namespace wsl
