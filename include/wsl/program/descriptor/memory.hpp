// SPDX-License-Identifier: MIT
// A memory descriptor (CSL's mem1d_dsd) says which elements of a PE's array an operation walks over: a base,
// a length and a stride. Views only ever shrink, so every element that a descriptor names lies inside its
// array; a view that would leave its array is a fault. See examples/06_descriptors.cpp.
#pragma once
#include <array>
#include <span>
#include <string>
#include <type_traits>

#include "../../core/fault.hpp"
#include "../../core/scalar.hpp"
#include "../../support/always_false.hpp"

namespace wsl {

namespace detail {
[[noreturn]] inline void part_leaves_the_array(int offset, int count, int length) {
  throw fault("wsl: a descriptor of " + std::to_string(count) + " elements from element " +
              std::to_string(offset) + " on leaves its array of " + std::to_string(length) + " elements");
}
[[noreturn]] inline void stride_must_be_positive(int stride) {
  throw fault("wsl: a descriptor takes every n-th element, n at least 1, not every " +
              std::to_string(stride));
}
}  // namespace detail

template <class T>
class memory {
 public:
  using element = T;

  constexpr memory(T* first, int length, int stride = 1) : first_(first), length_(length), stride_(stride) {}
  /// A view of mutable elements converts to a read-only view.
  constexpr operator memory<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {first_, length_, stride_};
  }

  /// `count` elements of this view from `offset` on.
  constexpr memory part(int offset, int count) const {
    if (offset < 0 || count < 0 || offset > length_ - count)
      detail::part_leaves_the_array(offset, count, length_);
    return {count ? first_ + offset * stride_ : first_, count, stride_};
  }
  /// All elements of this view from `offset` on.
  constexpr memory from(int offset) const { return part(offset, offset > length_ ? 0 : length_ - offset); }
  /// Every n-th element: a column of a row-major matrix with n columns is `mem(a).from(column).every(n)`.
  constexpr memory every(int n) const {
    if (n < 1) detail::stride_must_be_positive(n);
    return n < length_ ? memory{first_, (length_ - 1) / n + 1, stride_ * n} : memory{first_, length_ ? 1 : 0};
  }
  constexpr memory reversed() const {
    return {length_ ? first_ + (length_ - 1) * stride_ : first_, length_, -stride_};
  }

  constexpr T* first() const { return first_; }
  constexpr int length() const { return length_; }
  constexpr int stride() const { return stride_; }
  constexpr T& operator[](int i) const { return first_[i * stride_]; }

 private:
  T* first_;
  int length_;
  int stride_;
};

/// All elements of an array that is a member of the PE program.
template <class T, std::size_t N>
constexpr memory<T> mem(T (&array)[N]) {
  return {array, static_cast<int>(N)};
}
template <class T, std::size_t N>
constexpr memory<T> mem(std::array<T, N>& array) {
  return {array.data(), static_cast<int>(N)};
}
template <class T, std::size_t N>
constexpr memory<const T> mem(const std::array<T, N>& array) {
  return {array.data(), static_cast<int>(N)};
}
template <class T>
constexpr memory<T> mem(std::span<T> elements) {
  return {elements.data(), static_cast<int>(elements.size())};
}

namespace detail {
template <class X>
inline constexpr bool is_span = false;
template <class T, std::size_t N>
inline constexpr bool is_span<std::span<T, N>> = true;
}  // namespace detail

/// Explains that an array without a name is gone before a task or a collective uses it.
template <class T, std::size_t N>
memory<const T> mem(const std::array<T, N>&&) {
  static_assert(support::always_false<T>,
                "wsl: mem names elements that live on, members of the program: this array is a temporary");
  return {nullptr, 0};
}
template <class T, std::size_t N>
memory<T> mem(T (&&)[N]) {
  static_assert(support::always_false<T>,
                "wsl: mem names elements that live on, members of the program: this array is a temporary");
  return {nullptr, 0};
}

/// Explains what to write for the elements of a container, or behind a pointer.
template <class X>
  requires(!detail::is_span<X> && (std::is_pointer_v<X> || requires(X& x) { x.data(), x.size(); }))
memory<int> mem(const X&) {
  static_assert(
      support::always_false<X>,
      "wsl: mem takes an array, a std::array or a std::span: mem(std::span(v)) for a std::vector that no "
      "task resizes while an operation moves its elements, mem(std::span(first, n)) for a pointer");
  return {nullptr, 0};
}

}  // namespace wsl
