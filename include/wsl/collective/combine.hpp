// SPDX-License-Identifier: MIT
// The operations that reductions apply to two contributions, the one from further west or north first. Any
// type with such a call operator can take their place. It should be associative, because the layout decides
// how contributions are grouped.
#pragma once
#include <type_traits>

#include "../wsl.hpp"

namespace wsl {

/// Whole numbers wrap around.
struct plus {
  template <class T>
  constexpr T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
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

/// to = a combined with b, element by element, with an instruction of the machine if it has one.
template <class Combine, class To, class A, class B>
constexpr auto combine_elements(const To& to, const A& a, const B& b) {
  if constexpr (std::is_same_v<Combine, plus>) return add(to, a, b);
  else if constexpr (std::is_same_v<Combine, larger>) return fmax(to, a, b);
  else if constexpr (std::is_same_v<Combine, smaller>) return fmin(to, a, b);
  else return map_each(Combine{}, to, a, b);
}

}  // namespace collective
}  // namespace wsl
