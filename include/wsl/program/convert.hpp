// SPDX-License-Identifier: MIT
// Conversions between the host's numbers and the elements of a PE's memory or the arguments of its tasks. A
// value of the same type is copied bit by bit. Any number becomes a floating-point number of any width with
// one rounding, to nearest; an integer becomes an integer of another width or sign if it fits. A
// floating-point number never becomes an integer by itself, and no number becomes a bool.
#pragma once
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "../core/fault.hpp"
#include "../core/half.hpp"

namespace wsl::detail {

template <class T>
concept floating = std::floating_point<T> || is_half<T>;
template <class T>
concept whole = std::integral<T> && !std::same_as<T, bool>;

[[noreturn]] inline void does_not_fit(const std::string& number, std::size_t bytes, bool has_sign) {
  throw fault("wsl: " + number + " does not fit into " + (has_sign ? "a signed" : "an unsigned") +
              " number of " + std::to_string(8 * bytes) + " bits");
}

template <class From, class To>
concept becomes =
    std::same_as<From, To> || (detail::floating<To> && (detail::floating<From> || std::integral<From>)) ||
    (detail::whole<To> && detail::whole<From>);

/// Throws fault if an integer does not fit.
template <class To, class From>
constexpr To convert(From x) {
  static_assert(becomes<From, To>,
                "wsl: the host's numbers and the member's elements must be of one type, or become each other "
                "without a cast: a "
                "floating-point number from any number, a whole number from a whole one");
  if constexpr (detail::whole<To> && !std::same_as<From, To>)
    if (!std::in_range<To>(x)) detail::does_not_fit(std::to_string(x), sizeof(To), std::is_signed_v<To>);
  return static_cast<To>(x);
}

}  // namespace wsl::detail
