// SPDX-License-Identifier: MIT
// The operands of a descriptor operation other than memory: a run of wavelets that arrive (CSL's fabin_dsd),
// a run of wavelets that leave (fabout_dsd), a scalar source, and the address of a scalar as destination,
// into which the operation accumulates. Operands with a traversal of their own, such as the ends of a FIFO
// (fifo.hpp) or an array in four dimensions (box.hpp), have their own headers.
#pragma once
#include <concepts>

#include "../../core/color.hpp"
#include "memory.hpp"

namespace wsl {

/// The length of a fabric operand that takes whatever comes, as long as the program runs.
inline constexpr int forever = 0x7fffffff;
/// The length of an operand that has as many elements as the others.
inline constexpr int as_many_as_others = -0x7fffffff;

template <payload T>
struct fabric_input {
  using element = T;
  color<T> from;
  int count;
};

template <payload T>
struct fabric_output {
  using element = T;
  color<T> to;
  int count;
};

/// The next `count` wavelets of a color; without a count as many as the other operands have elements.
template <payload T>
constexpr fabric_input<T> fabin(color<T> c, int count = as_many_as_others) {
  return {c, count};
}

template <payload T>
constexpr fabric_output<T> fabout(color<T> c, int count = as_many_as_others) {
  return {c, count};
}

namespace detail {

/// A scalar source: the same value for every element.
template <class T>
struct constant {
  using element = T;
  T value;
};

/// A scalar destination: element i becomes the first source of element i + 1.
template <class T>
struct accumulator {
  using element = T;
  T* total;
};

template <class X>
inline constexpr bool is_memory = false;
template <class T>
inline constexpr bool is_memory<memory<T>> = true;
template <class X>
inline constexpr bool is_fabric_input = false;
template <class T>
inline constexpr bool is_fabric_input<fabric_input<T>> = true;
template <class X>
inline constexpr bool is_fabric_output = false;
template <class T>
inline constexpr bool is_fabric_output<fabric_output<T>> = true;
template <class X>
inline constexpr bool is_constant = false;
template <class T>
inline constexpr bool is_constant<constant<T>> = true;
template <class X>
inline constexpr bool is_accumulator = false;
template <class T>
inline constexpr bool is_accumulator<accumulator<T>> = true;

template <class X>
inline constexpr bool is_fabric = is_fabric_input<X> || is_fabric_output<X>;

/// An operand whose elements lie in memory in runs: from element `at` on, run(at) elements stand stride()
/// apart from place(at) on.
template <class X>
concept in_runs = requires(const X& x, u64 at) {
  typename X::element;
  { x.length() } -> std::same_as<int>;
  x.place(at);
  x.run(at);
  x.stride();
};
/// An operand whose elements are computed: walk(at)[i] is element at + i.
template <class X>
concept computed = requires(const X& x, u64 at) {
  typename X::element;
  { x.length() } -> std::same_as<int>;
  x.walk(at);
};
template <class X>
concept walked = in_runs<X> || computed<X>;
/// An end of a FIFO: an operation waits while there is nothing to pop, or no room to push.
template <class X>
concept fifo_end = in_runs<X> && requires(const X& x, u32 n) {
  { x.pushes() } -> std::same_as<bool>;
  x.state();
  x.moved(n);
};
template <class X>
constexpr bool pushes() {
  if constexpr (fifo_end<X>) return X::pushes();
  else return false;
}
template <class X>
constexpr bool pops() {
  if constexpr (fifo_end<X>) return !X::pushes();
  else return false;
}

}  // namespace detail
}  // namespace wsl
