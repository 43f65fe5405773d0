// SPDX-License-Identifier: MIT
// The descriptor operations under CSL's names without type suffixes: the operands' types choose. Destination
// first, then the sources: `fmac(mem(y), mem(y), mem(a).part(j * m, m), x)` is y += a_j * x. A source may be
// a scalar, a destination the address of a scalar: `add(&sum, sum, mem(x))` sums up x. Over memory an
// operation runs at once; with a fabric operand, or on a FIFO, it is a value for `me.async(...)` or
// `co_await`.
#pragma once
#include "../convert.hpp"
#include "operation.hpp"

namespace wsl {
namespace detail {

template <class X>
inline constexpr bool is_operand = is_memory<X> || is_fabric<X> || walked<X>;

template <class T, class X>
constexpr auto source(const X& x) {
  static_assert(
      !pushes<X>(),
      "wsl: into is a destination: the sources of an operation are memory, fabin, out_of or scalars");
  if constexpr (is_memory<X> || is_fabric_input<X> || walked<X>) return x;
  else {
    static_assert(!is_fabric_output<X>,
                  "wsl: fabout is a destination: the sources of an operation are memory, fabin or scalars");
    static_assert(
        is_fabric_output<X> || requires { static_cast<T>(x); },
        "wsl: a source of an operation is mem(array), fabin(color) or a number of the destination's type");
    return constant<T>{as_element<T>(x)};
  }
}
template <class X>
constexpr auto destination(const X& x) {
  static_assert(
      !is_fabric_input<X>,
      "wsl: fabin is a source: the destination of an operation is memory, fabout or a scalar's address");
  static_assert(!pops<X>(),
                "wsl: out_of is a source: the destination of an operation is memory, fabout, into or a "
                "scalar's address");
  static_assert(is_operand<X> || std::is_pointer_v<X>,
                "wsl: the destination of an operation is mem(array), fabout(color) or the address of a "
                "scalar: mov(&y, 0)");
  if constexpr (std::is_pointer_v<X>) return accumulator<std::remove_pointer_t<X>>{x};
  else return x;
}

/// Whole numbers wrap around, as on the machine; in C++ only unsigned ones do.
template <class Op>
struct wrapping : Op {
  constexpr explicit wrapping(Op op) : Op(op) {}
  template <class... X>
  constexpr auto operator()(X... x) const {
    const Op& op = *this;
    using result = decltype(op(x...));
    if constexpr (std::is_integral_v<result>)
      return static_cast<result>(op(static_cast<std::make_unsigned_t<result>>(x)...));
    else return op(x...);
  }
};

inline constexpr wrapping plus{[](auto x, auto y) { return x + y; }};
inline constexpr wrapping minus{[](auto x, auto y) { return x - y; }};
inline constexpr wrapping times{[](auto x, auto y) { return x * y; }};
inline constexpr wrapping plus_times{[](auto x, auto y, auto s) { return x + y * s; }};
inline constexpr wrapping negation{[](auto x) { return -x; }};

// Scalars are asked by as_element.
template <class T, class Src>
inline constexpr bool fits_result = [] {
  if constexpr (is_operand<Src> && requires { typename Src::element; })
    return !whole<T> || !floating<std::remove_const_t<typename Src::element>>;
  else return true;
}();

template <class F, class Dst, class... Src>
constexpr auto apply(verb name, F f, const Dst& dst, const Src&... src) {
  const auto to = destination(dst);
  using T = typename decltype(to)::element;
  static_assert(!std::is_const_v<T>, "wsl: the destination of an operation must be writable");
  static_assert((0 + ... + int{is_fabric_input<Src>}) <= 2,
                "wsl: an operation reads at most two fabric operands");
  static_assert((0 + ... + int{pops<Src>()}) <= 1, "wsl: an operation pops from at most one FIFO");
  static_assert(
      !is_accumulator<decltype(destination(dst))> || (is_operand<Src> || ...),
      "wsl: no operand says how many elements there are: a scalar is assigned by itself, as in s = 1, and a "
      "fold has a source with elements, as in add(&s, 0, mem(x))");
  operation op(name, f, to, source<T>(src)...);
  if constexpr (decltype(op)::waits) return op;
  else {
    op.run_now();
    return done_at_once{};
  }
}

/// An operation that computes with numbers: apart from mov, which converts, and map_each, whose function
/// does.
template <class F, class Dst, class... Src>
constexpr auto compute(verb name, F f, const Dst& dst, const Src&... src) {
  using T = typename decltype(destination(dst))::element;
  static_assert(
      (fits_result<T, Src> && ...),
      "wsl: arithmetic of floating-point numbers has a floating-point destination; mov converts numbers, "
      "and map_each applies any function");
  return apply(name, f, dst, src...);
}

}  // namespace detail

/// dst = src; converts between element types.
template <class D, class A>
constexpr auto mov(const D& dst, const A& a) {
  return detail::apply({"mov", detail::work::move}, detail::unchanged{}, dst, a);
}
/// dst = a + b
template <class D, class A, class B>
constexpr auto add(const D& dst, const A& a, const B& b) {
  return detail::compute({"add", detail::work::add}, detail::plus, dst, a, b);
}
/// dst = a - b
template <class D, class A, class B>
constexpr auto sub(const D& dst, const A& a, const B& b) {
  return detail::compute({"sub", detail::work::add}, detail::minus, dst, a, b);
}
/// dst = a * b
template <class D, class A, class B>
constexpr auto mul(const D& dst, const A& a, const B& b) {
  return detail::compute({"mul", detail::work::multiply}, detail::times, dst, a, b);
}
/// dst = a + b * scalar
template <class D, class A, class B, class S>
constexpr auto fmac(const D& dst, const A& a, const B& b, const S& scalar) {
  static_assert(!detail::is_memory<S> && !detail::is_fabric_input<S>,
                "wsl: the last operand of fmac is a scalar; map_each takes any function");
  return detail::compute({"fmac", detail::work::multiply}, detail::plus_times, dst, a, b, scalar);
}
/// dst = the larger of a and b
template <class D, class A, class B>
constexpr auto fmax(const D& dst, const A& a, const B& b) {
  return detail::compute(
      {"fmax", detail::work::compare}, [](auto x, auto y) { return x < y ? y : x; }, dst, a, b);
}
/// dst = the smaller of a and b
template <class D, class A, class B>
constexpr auto fmin(const D& dst, const A& a, const B& b) {
  return detail::compute(
      {"fmin", detail::work::compare}, [](auto x, auto y) { return y < x ? y : x; }, dst, a, b);
}
/// dst = -a
template <class D, class A>
constexpr auto neg(const D& dst, const A& a) {
  return detail::compute({"neg", detail::work::add}, detail::negation, dst, a);
}
/// dst = |a|; of a negative zero it is zero.
template <class D, class A>
constexpr auto abs(const D& dst, const A& a) {
  return detail::compute(
      {"abs", detail::work::add},
      [](auto x) { return x <= decltype(x){} ? detail::minus(decltype(x){}, x) : x; }, dst, a);
}
/// dst = f(sources...), element by element; with the address of a scalar as destination and a scalar as first
/// source, a fold.
template <class F, class D, class... S>
constexpr auto map_each(F f, const D& dst, const S&... src) {
  return detail::apply({"map_each", detail::work::call}, f, dst, src...);
}

}  // namespace wsl
