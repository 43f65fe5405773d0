// SPDX-License-Identifier: MIT
// The number type on which the update of a stencil is called: some neighbouring cells at a time, one in each
// lane. A product is rounded before it is added to something, on every processor and with every compiler, so
// an update has the same bits in vectors of any width, cell by cell, and on any computer. See
// examples/110_heat_mode.cpp.
#pragma once
#include <cmath>
#include <concepts>
#include <type_traits>
#include <utility>

#include "../../core/scalar.hpp"

namespace wsl::stencils {

/// Numbers and their masks; a single one is no vector.
template <class T, int n>
struct vector_type {
  typedef T type __attribute__((vector_size(n * sizeof(T)), aligned(sizeof(T)), may_alias));
  typedef std::conditional_t<sizeof(T) == 4, i32, i64> mask __attribute__((vector_size(n * sizeof(T))));
};
template <class T>
struct vector_type<T, 1> {
  using type = T;
  using mask = bool;
};

/// A condition in each lane. An update cannot branch on it, as lanes may differ: `select` takes both ways.
template <class T, int n>
class mask {
 public:
  typename vector_type<T, n>::mask bits;

  [[gnu::always_inline]] explicit mask(const typename vector_type<T, n>::mask& b) : bits(b) {}
  [[gnu::always_inline]] mask(const mask& m) : bits(m.bits) {}
  [[gnu::always_inline]] mask& operator=(const mask& m) {
    bits = m.bits;
    return *this;
  }

  [[gnu::always_inline]] friend mask operator&(const mask& a, const mask& b) { return mask(a.bits & b.bits); }
  [[gnu::always_inline]] friend mask operator|(const mask& a, const mask& b) { return mask(a.bits | b.bits); }
  [[gnu::always_inline]] friend mask operator!(const mask& a) { return mask(a.bits == 0); }
};

/// A number that takes part in arithmetic with lanes.
template <class X>
concept plain_number = std::is_arithmetic_v<X>;

// The class has copy functions of its own, and so it is passed by address: how vectors are passed by value
// depends on the instruction set. Nothing is left of that once an update is inlined.
template <class T, int n>
class lanes {
 public:
  using vector = typename vector_type<T, n>::type;
  vector v;

  [[gnu::always_inline]] lanes() : v{} {}
  [[gnu::always_inline]] lanes(const vector& x)
    requires(n > 1)
      : v(x) {}
  // of the ways to fill a vector this is the one that GCC turns into a single instruction
  [[gnu::always_inline]] lanes(plain_number auto x) : v(vector{} + static_cast<T>(x)) {}
  [[gnu::always_inline]] lanes(const lanes& x) : v(x.v) {}
  [[gnu::always_inline]] lanes& operator=(const lanes& x) {
    v = x.v;
    return *this;
  }

  [[gnu::always_inline]] friend lanes operator+(const lanes& a, const lanes& b) { return of(a.v + b.v); }
  [[gnu::always_inline]] friend lanes operator-(const lanes& a, const lanes& b) { return of(a.v - b.v); }
  [[gnu::always_inline]] friend lanes operator/(const lanes& a, const lanes& b) { return of(a.v / b.v); }
  [[gnu::always_inline]] friend lanes operator-(const lanes& a) { return of(-a.v); }
  [[gnu::always_inline]] friend lanes operator+(const lanes& a) { return a; }
  [[gnu::always_inline]] friend lanes operator*(const lanes& a, const lanes& b) {
    lanes product;
    product.v = a.v * b.v;
    return product;
  }
  [[gnu::always_inline]] lanes& operator+=(const lanes& b) { return *this = *this + b; }
  [[gnu::always_inline]] lanes& operator-=(const lanes& b) { return *this = *this - b; }
  [[gnu::always_inline]] lanes& operator*=(const lanes& b) { return *this = *this * b; }
  [[gnu::always_inline]] lanes& operator/=(const lanes& b) { return *this = *this / b; }

  using condition = mask<T, n>;
  [[gnu::always_inline]] friend condition operator<(const lanes& a, const lanes& b) {
    return condition(a.v < b.v);
  }
  [[gnu::always_inline]] friend condition operator>(const lanes& a, const lanes& b) { return b < a; }
  [[gnu::always_inline]] friend condition operator<=(const lanes& a, const lanes& b) {
    return condition(a.v <= b.v);
  }
  [[gnu::always_inline]] friend condition operator>=(const lanes& a, const lanes& b) { return b <= a; }
  [[gnu::always_inline]] friend condition operator==(const lanes& a, const lanes& b) {
    return condition(a.v == b.v);
  }
  [[gnu::always_inline]] friend condition operator!=(const lanes& a, const lanes& b) {
    return condition(a.v != b.v);
  }

  /// a in the lanes in which the condition holds, b in the others.
  [[gnu::always_inline]] friend lanes select(const condition& m, const lanes& a, const lanes& b) {
    return of(m.bits ? a.v : b.v);
  }
  [[gnu::always_inline]] friend lanes min(const lanes& a, const lanes& b) { return select(b < a, b, a); }
  [[gnu::always_inline]] friend lanes max(const lanes& a, const lanes& b) { return select(a < b, b, a); }
  [[gnu::always_inline]] friend lanes abs(const lanes& a) { return select(a <= 0, 0 - a, a); }  // 0 of -0
  [[gnu::always_inline]] friend lanes sqrt(const lanes& a) {
    lanes root;
    if constexpr (n == 1) root.v = std::sqrt(a.v);
    else
      for (int i = 0; i < n; ++i) root.v[i] = std::sqrt(a.v[i]);
    return root;
  }

 private:
  [[gnu::always_inline]] static lanes of(const vector& x) {
    lanes made;
    made.v = x;
    return made;
  }
};

/// The same of two plain numbers.
template <class T, int n>
[[gnu::always_inline]] inline lanes<T, n> select(const mask<T, n>& m, plain_number auto a,
                                                 plain_number auto b) {
  return select(m, lanes<T, n>(a), lanes<T, n>(b));
}

template <int n, class T>
[[gnu::always_inline]] inline lanes<T, n> load_lanes(const T* p) {
  lanes<T, n> loaded;
  loaded.v = *reinterpret_cast<const typename lanes<T, n>::vector*>(p);
  return loaded;
}
template <class T, int n>
[[gnu::always_inline]] inline void store_lanes(T* p, const lanes<T, n>& x) {
  *reinterpret_cast<typename lanes<T, n>::vector*>(p) = x.v;
}

}  // namespace wsl::stencils
