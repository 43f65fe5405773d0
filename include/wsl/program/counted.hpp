// SPDX-License-Identifier: MIT
// Numbers whose scalar arithmetic the timed engine charges by itself: `counted<f32> sum;` behaves as an f32,
// and each addition, comparison or copy of it costs what the machine's instruction for it takes
// (machine::instructions). Without the timed engine a counted number costs a test of a pointer; the results
// are those of the plain type. The other way is to declare what a task costs: `costs<12, on<red,
// &part::hear>>`. docs/guide/program.md shows both.
#pragma once
#include <compare>
#include <concepts>
#include <type_traits>

#include "../core/fault.hpp"
#include "descriptor/cost.hpp"

namespace wsl {

namespace detail {

inline void execute(instruction what) {
  if (listening_counter) [[unlikely]]
    listening_counter->execute(what);
}
/// Whole numbers wider than the machine's registers.
template <class T>
inline constexpr bool takes_several = std::is_integral_v<T> && sizeof(T) > 2;
template <class T>
inline constexpr instruction simple_of = takes_several<T> ? instruction::simple32 : instruction::simple;
template <class T>
inline constexpr instruction product_of = !std::is_integral_v<T> ? instruction::simple
                                          : takes_several<T>     ? instruction::multiply32
                                                                 : instruction::multiply16;

}  // namespace detail

/// A number of type T, of the machine's 16 or 32 bits, whose arithmetic is charged. A comparison is charged
/// with the branch that depends on it; reading an element of an array, or copying a variable, is a move.
template <class T>
class counted {
  static_assert(sizeof(T) <= 4, "wsl: counted<T> is a number of the machine, which has 16 and 32 bits");
  // Whole numbers wrap around, as those of descriptor operations do.
  using wrapping = std::conditional_t<std::is_integral_v<T>, u32, T>;
  static constexpr wrapping wide(const counted& a) { return static_cast<wrapping>(a.value_); }

 public:
  using value_type = T;

  constexpr counted() = default;
  constexpr counted(T value) : value_(value) {}
  counted(const counted& other) : value_(other.value_) { detail::execute(detail::instruction::simple); }
  counted(counted&& other) noexcept : value_(other.value_) {}
  counted& operator=(const counted& other) {
    detail::execute(detail::instruction::simple);
    value_ = other.value_;
    return *this;
  }
  counted& operator=(counted&& other) noexcept {
    value_ = other.value_;
    return *this;
  }

  /// The plain number, which is not charged: for an index, a send, a descriptor.
  constexpr T value() const { return value_; }
  explicit constexpr operator T() const { return value_; }
  /// The number in another type: an instruction.
  template <class U>
  counted<U> as() const {
    detail::execute(detail::simple_of<U>);
    return static_cast<U>(value_);
  }

  friend counted operator+(const counted& a, const counted& b) {
    return done(detail::simple_of<T>, wide(a) + wide(b));
  }
  friend counted operator-(const counted& a, const counted& b) {
    return done(detail::simple_of<T>, wide(a) - wide(b));
  }
  friend counted operator*(const counted& a, const counted& b) {
    return done(detail::product_of<T>, wide(a) * wide(b));
  }
  friend counted operator/(const counted& a, const counted& b) {
    return done(detail::instruction::divide, quotient(a.value_, b.value_));
  }
  friend counted operator%(const counted& a, const counted& b)
    requires std::is_integral_v<T>
  {
    return done(detail::instruction::divide, remainder(a.value_, b.value_));
  }
  friend counted operator&(const counted& a, const counted& b)
    requires std::is_integral_v<T>
  {
    return done(detail::simple_of<T>, a.value_ & b.value_);
  }
  friend counted operator|(const counted& a, const counted& b)
    requires std::is_integral_v<T>
  {
    return done(detail::simple_of<T>, a.value_ | b.value_);
  }
  friend counted operator^(const counted& a, const counted& b)
    requires std::is_integral_v<T>
  {
    return done(detail::simple_of<T>, a.value_ ^ b.value_);
  }
  friend counted operator<<(const counted& a, int bits)
    requires std::is_integral_v<T>
  {
    return done(detail::simple_of<T>, has_bits_left(bits) ? wide(a) << bits : 0u);
  }
  friend counted operator>>(const counted& a, int bits)
    requires std::is_integral_v<T>
  {
    return done(detail::simple_of<T>,
                has_bits_left(bits) ? static_cast<T>(a.value_ >> bits) : sign(a.value_));
  }
  counted operator-() const { return done(detail::simple_of<T>, -value_); }

  counted& operator+=(const counted& b) { return *this = *this + b; }
  counted& operator-=(const counted& b) { return *this = *this - b; }
  counted& operator*=(const counted& b) { return *this = *this * b; }
  counted& operator/=(const counted& b) { return *this = *this / b; }
  counted& operator++() { return *this = *this + counted(T(1)); }
  counted& operator--() { return *this = *this - counted(T(1)); }

  friend bool operator==(const counted& a, const counted& b) { return compared(), a.value_ == b.value_; }
  friend auto operator<=>(const counted& a, const counted& b) { return compared(), a.value_ <=> b.value_; }

 private:
  template <class Wide>
  static counted done(detail::instruction what, Wide result) {
    detail::execute(what);
    return counted(static_cast<T>(result));
  }
  /// Of a number that is shifted by so many bits.
  static bool has_bits_left(int bits) { return bits >= 0 && bits < static_cast<int>(8 * sizeof(T)); }
  static T sign(T a) {
    if constexpr (std::is_signed_v<T>) return a < 0 ? static_cast<T>(-1) : T{};
    else return T{};
  }
  static T quotient(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      require_divisor(b);
      if (std::is_signed_v<T> && b == static_cast<T>(-1))
        return static_cast<T>(wrapping{} - static_cast<wrapping>(a));
    }
    return static_cast<T>(a / b);
  }
  static T remainder(T a, T b) {
    require_divisor(b);
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? T{} : static_cast<T>(a % b);
  }
  static void require_divisor(T b) {
    if (b == 0) [[unlikely]]
      throw fault("wsl: a counted whole number is divided by 0: test the divisor before");
  }
  static void compared() {
    detail::execute(detail::simple_of<T>);
    detail::execute(detail::instruction::branch);
  }

  T value_{};
};

}  // namespace wsl
