// SPDX-License-Identifier: MIT
// Conversions between the host's numbers and the elements of a PE's memory or the arguments of its tasks. A
// value of the same type is copied bit by bit. Any number becomes a floating-point number of any width with
// one rounding, to nearest; an integer becomes an integer of another width or sign if it fits. A
// floating-point number never becomes an integer by itself, and no number becomes a bool. Operations on
// arrays that convert, such as mov, do without refusals: whole_number_of says what they make of any number.
#pragma once
#include <concepts>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "../core/fault.hpp"
#include "../core/half.hpp"
#include "../core/scalar.hpp"

namespace wsl::detail {

template <class T>
concept floating = std::floating_point<T> || is_half<T>;
template <class T>
concept whole = std::integral<T> && !std::same_as<T, bool>;

template <class X>
concept number = floating<X> || std::integral<X>;

[[noreturn]] inline void does_not_fit(const std::string& number, std::size_t bytes, bool has_sign) {
  throw fault("wsl: " + number + " does not fit into " + (has_sign ? "a signed" : "an unsigned") +
              " number of " + std::to_string(8 * bytes) + " bits");
}

template <class X, class T>
concept other_than = !std::same_as<X, T>;

template <class From, class To>
concept becomes =
    std::same_as<From, To> || (detail::floating<To> && (detail::floating<From> || std::integral<From>)) ||
    (detail::whole<To> && detail::whole<From>);

/// Whether convert may find that a number does not fit.
template <class To, class From>
inline constexpr bool may_refuse = whole<To> && whole<From> && !std::same_as<From, To>;

/// Throws fault if an integer does not fit.
template <class To, class From>
constexpr To convert(From x) {
  static_assert(becomes<From, To>,
                "wsl: the host's numbers and the member's elements must be of one type, or become each other "
                "without a cast: a floating-point number from any number, a whole number from a whole one");
  if constexpr (may_refuse<To, From>)
    if (!std::in_range<To>(x)) detail::does_not_fit(std::to_string(x), sizeof(To), std::is_signed_v<To>);
  return static_cast<To>(x);
}

/// The integer in the direction of zero; a number beyond the integers of its type becomes the last one on
/// that side, and NaN becomes 0.
template <whole To, floating From>
constexpr To whole_number_of(From x) {
  if constexpr (is_half<From>) return whole_number_of<To>(static_cast<f32>(x));
  else {
    using limits = std::numeric_limits<To>;
    // Both are powers of two, or zero, so that no floating-point type rounds them.
    constexpr From low = static_cast<From>(limits::min()), end = static_cast<From>(limits::max() / 2 + 1) * 2;
    // One selection after the other, and a cast in any case, is a loop that compilers turn into vector code.
    From y = x >= low ? x : From{};
    y = y < end ? y : From{};
    To found = static_cast<To>(y);
    found = x >= end ? limits::max() : found;
    return x < low ? limits::min() : found;
  }
}
/// The result of an operation's function, as an element of its destination.
template <class To, class From>
[[gnu::always_inline]] constexpr To as_result(const From& x) {
  if constexpr (whole<To> && floating<From>) return whole_number_of<To>(x);
  else return static_cast<To>(x);
}

[[noreturn]] inline void changes_its_value(const std::string& number, f64 becomes, std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", becomes);
  throw fault("wsl: " + number + " would become " + text + " as a floating-point number of " +
              std::to_string(8 * bytes) + " bits: cast it if that is meant");
}

/// The argument of a launch. Throws fault if an integer does not fit or, as a floating-point number, would
/// become another one, and if a finite number would become infinite. Fractions are rounded.
template <class To, class From>
constexpr To as_exact(const From& x) {
  const To found = convert<To>(x);
  if constexpr (floating<To> && whole<From> && std::numeric_limits<From>::digits > 8) {
    const f64 value = static_cast<f64>(found),
              end = static_cast<f64>(std::numeric_limits<From>::max() / 2 + 1) * 2;
    if (!(value < end) || whole_number_of<From>(value) != x)
      changes_its_value(std::to_string(x), value, sizeof(To));
  } else if constexpr (floating<To> && floating<From> && sizeof(To) < sizeof(From)) {
    const f64 before = static_cast<f64>(x), value = static_cast<f64>(found);
    if (before - before == 0 && value - value != 0) {
      char text[32];
      std::snprintf(text, sizeof text, "%.9g", before);
      changes_its_value(text, value, sizeof(To));
    }
  }
  return found;
}

/// A scalar operand as an element of the destination's type. Its bits must fit: whole numbers wrap around in
/// operations, so that -1 is as good as 255 for an u8, but 1000 would be another number.
template <class T, class From>
constexpr T as_element(const From& x) {
  static_assert(
      !whole<T> || !floating<From>,
      "wsl: a floating-point scalar does not become a whole number by itself, as its fraction would be "
      "lost: cast it, as in static_cast<i32>(x), or let the destination be floating-point");
  if constexpr (whole<T> && whole<From> && sizeof(From) > sizeof(T))
    if (!std::in_range<std::make_signed_t<T>>(x) && !std::in_range<std::make_unsigned_t<T>>(x))
      does_not_fit(std::to_string(x), sizeof(T), std::is_signed_v<T>);
  return static_cast<T>(x);
}

/// A value that a program gives to a module, as its payload. Throws fault if an integer does not fit.
template <class T, class From>
constexpr T as_payload(const From& x) {
  if constexpr (number<T> || number<From>) {
    static_assert(
        becomes<From, T>,
        "wsl: a module sends what its colors carry: a floating-point number becomes a whole one, and any "
        "number a bool, only by a cast: right.send(me, static_cast<i32>(x))");
    if constexpr (becomes<From, T>) return convert<T>(x);
    else return T{};
  } else {
    return x;
  }
}

}  // namespace wsl::detail
