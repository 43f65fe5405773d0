// SPDX-License-Identifier: MIT
// Descriptor operations on the bits of whole numbers (CSL's @and16, @or16, @xor16, @sll16, @slr16, @sar16,
// @popcnt, @clz, @ctz, @addc16), of 16 bits or more. Like all operations they take memory, fabric operands,
// FIFOs and scalars; see ops.hpp.
#pragma once
#include <bit>

#include "ops.hpp"

namespace wsl {
namespace detail {

template <class T>
using unsigned_of = std::make_unsigned_t<T>;
template <class T>
inline constexpr int width_of = 8 * static_cast<int>(sizeof(T));

// A shift by the width or more gives 0, or the sign; a shift is never negative.
inline constexpr auto left_by = [](auto x, auto n) {
  using bits = unsigned_of<decltype(x)>;
  return static_cast<decltype(x)>(
      n >= width_of<bits> ? bits{} : static_cast<bits>(static_cast<u64>(static_cast<bits>(x)) << n));
};
inline constexpr auto right_by = [](auto x, auto n) {
  using bits = unsigned_of<decltype(x)>;
  return static_cast<decltype(x)>(n >= width_of<bits> ? bits{}
                                                      : static_cast<bits>(static_cast<bits>(x) >> n));
};
inline constexpr auto right_by_with_sign = [](auto x, auto n) {
  using number = std::make_signed_t<decltype(x)>;
  return static_cast<decltype(x)>(static_cast<number>(x) >>
                                  (n >= width_of<number> ? width_of<number> - 1 : static_cast<int>(n)));
};

}  // namespace detail

/// dst = a & b
template <class D, class A, class B>
constexpr auto bits_and(const D& dst, const A& a, const B& b) {
  return detail::apply({"bits_and", detail::work::add}, [](auto x, auto y) { return x & y; }, dst, a, b);
}
/// dst = a | b
template <class D, class A, class B>
constexpr auto bits_or(const D& dst, const A& a, const B& b) {
  return detail::apply({"bits_or", detail::work::add}, [](auto x, auto y) { return x | y; }, dst, a, b);
}
/// dst = a ^ b
template <class D, class A, class B>
constexpr auto bits_xor(const D& dst, const A& a, const B& b) {
  return detail::apply({"bits_xor", detail::work::add}, [](auto x, auto y) { return x ^ y; }, dst, a, b);
}
/// dst = a shifted to the left by n >= 0 bits; zeros come in.
template <class D, class A, class N>
constexpr auto shift_left(const D& dst, const A& a, const N& n) {
  return detail::apply({"shift_left", detail::work::compare}, detail::left_by, dst, a, n);
}
/// dst = a shifted to the right; zeros come in.
template <class D, class A, class N>
constexpr auto shift_right(const D& dst, const A& a, const N& n) {
  return detail::apply({"shift_right", detail::work::compare}, detail::right_by, dst, a, n);
}
/// dst = a shifted to the right; its sign comes in.
template <class D, class A, class N>
constexpr auto shift_right_signed(const D& dst, const A& a, const N& n) {
  return detail::apply({"shift_right_signed", detail::work::compare}, detail::right_by_with_sign, dst, a, n);
}
/// dst = the number of bits of a that are set
template <class D, class A>
constexpr auto count_ones(const D& dst, const A& a) {
  return detail::apply(
      {"count_ones", detail::work::add},
      [](auto x) { return std::popcount(static_cast<detail::unsigned_of<decltype(x)>>(x)); }, dst, a);
}
/// dst = the number of zeros above the highest bit that is set; for 0 the width
template <class D, class A>
constexpr auto leading_zeros(const D& dst, const A& a) {
  return detail::apply(
      {"leading_zeros", detail::work::add},
      [](auto x) { return std::countl_zero(static_cast<detail::unsigned_of<decltype(x)>>(x)); }, dst, a);
}
/// dst = the number of zeros below the lowest bit that is set; for 0 the width
template <class D, class A>
constexpr auto trailing_zeros(const D& dst, const A& a) {
  return detail::apply(
      {"trailing_zeros", detail::work::add},
      [](auto x) { return std::countr_zero(static_cast<detail::unsigned_of<decltype(x)>>(x)); }, dst, a);
}

/// Adds multi-word integers whose first element is the least significant: dst = a + b + carry. Returns the
/// carry out.
template <class T>
constexpr bool add_with_carry(const memory<T>& dst, const memory<T>& a, const memory<T>& b,
                              bool carry = false) {
  static_assert(std::is_unsigned_v<T> && sizeof(T) <= 4, "wsl: the parts of a long number are u16 or u32");
  u64 rest = carry;
  map_each(
      [&rest](T x, T y) {
        rest += u64{x} + y;
        const T part = static_cast<T>(rest);
        rest >>= detail::width_of<T>;
        return part;
      },
      dst, a, b);
  return rest != 0;
}

}  // namespace wsl
