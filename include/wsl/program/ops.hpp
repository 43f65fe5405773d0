// SPDX-License-Identifier: MIT
// The descriptor operations under CSL's names without type suffixes: the operands' types choose. Destination first, then the
// sources: `fmac(mem(y), mem(y), mem(a).part(j * m, m), x)` is y += a_j * x. A source may be a scalar, a destination the address
// of a scalar: `add(&sum, sum, mem(x))` sums up x. Over memory an operation runs at once; with a fabric operand it is a
// value for `me.async(...)` or `co_await`.
#pragma once
#include "operation.hpp"

namespace wsl {
namespace detail {

template <class T, class X>
constexpr auto source(const X& x) {
  if constexpr (is_memory<X> || is_fabric_input<X>) return x;
  else return constant<T>{static_cast<T>(x)};
}
template <class X>
constexpr auto destination(const X& x) {
  if constexpr (std::is_pointer_v<X>) return accumulator<std::remove_pointer_t<X>>{x};
  else return x;
}

template <class F, class Dst, class... Src>
constexpr auto apply(const char* name, F f, Dst dst, Src... src) {
  const auto to = destination(dst);
  using T = typename decltype(to)::element;
  static_assert(!std::is_const_v<T>, "wsl: the destination of an operation must be writable");
  static_assert(!is_fabric_input<Dst>, "wsl: fabin is a source: the destination of an operation is memory, fabout or a scalar's address");
  static_assert(!(is_fabric_output<Src> || ...), "wsl: fabout is a destination: the sources of an operation are memory, fabin or scalars");
  static_assert((0 + ... + int{is_fabric_input<Src>}) <= 2, "wsl: an operation reads at most two fabric operands");
  operation op(name, f, to, source<T>(src)...);
  if constexpr (decltype(op)::uses_fabric) return op;
  else op.run_now();
}

}  // namespace detail

/// dst = src; converts between element types.
template <class D, class A>
constexpr auto mov(D dst, A a) { return detail::apply("mov", [](auto x) { return x; }, dst, a); }
/// dst = a + b
template <class D, class A, class B>
constexpr auto add(D dst, A a, B b) { return detail::apply("add", [](auto x, auto y) { return x + y; }, dst, a, b); }
/// dst = a - b
template <class D, class A, class B>
constexpr auto sub(D dst, A a, B b) { return detail::apply("sub", [](auto x, auto y) { return x - y; }, dst, a, b); }
/// dst = a * b
template <class D, class A, class B>
constexpr auto mul(D dst, A a, B b) { return detail::apply("mul", [](auto x, auto y) { return x * y; }, dst, a, b); }
/// dst = a + b * scalar
template <class D, class A, class B, class S>
constexpr auto fmac(D dst, A a, B b, S scalar) {
  static_assert(!detail::is_memory<S> && !detail::is_fabric_input<S>, "wsl: the last operand of fmac is a scalar; map takes any function");
  return detail::apply("fmac", [](auto x, auto y, auto s) { return x + y * s; }, dst, a, b, scalar);
}
/// dst = the larger of a and b
template <class D, class A, class B>
constexpr auto max(D dst, A a, B b) { return detail::apply("max", [](auto x, auto y) { return x < y ? y : x; }, dst, a, b); }
/// dst = the smaller of a and b
template <class D, class A, class B>
constexpr auto min(D dst, A a, B b) { return detail::apply("min", [](auto x, auto y) { return y < x ? y : x; }, dst, a, b); }
/// dst = -a
template <class D, class A>
constexpr auto neg(D dst, A a) { return detail::apply("neg", [](auto x) { return -x; }, dst, a); }
/// dst = |a|
template <class D, class A>
constexpr auto abs(D dst, A a) { return detail::apply("abs", [](auto x) { return x < decltype(x){} ? -x : x; }, dst, a); }
/// dst = f(sources...), element by element; with the address of a scalar as destination and a scalar as first source, a fold.
template <class F, class D, class... S>
constexpr auto map(F f, D dst, S... src) { return detail::apply("map", f, dst, src...); }

}  // namespace wsl
