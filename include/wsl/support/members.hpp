// SPDX-License-Identifier: MIT
// The members of a plain struct, one after the other: each_member(object, use) calls use(member) for each.
// C++20 cannot list the members of a class, but it can count how many braces initialize an aggregate and bind
// a name to each. See program/storage.hpp.
#pragma once
#include <type_traits>

namespace wsl::support {

namespace detail {

/// Converts to whatever a member needs, where nothing is evaluated.
struct anything {
  template <class T>
  operator T() const;
};
/// Converts to the base classes of T only.
template <class T>
struct any_base {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const;
};

template <class T>
inline constexpr bool has_bases = requires { T{any_base<T>{}}; };

}  // namespace detail

/// The most members that each_member counts.
inline constexpr int most_members = 22;

/// Calls use(member) for each member of an object, in their order. Returns false, and calls nothing, if the
/// members of T cannot be listed: T has private members, base classes or too many members, or one that {}
/// does not initialize.
template <class T, class Use>
constexpr bool each_member(const T& object, [[maybe_unused]] Use use) {
  const auto each = [&](auto&... member) { return (use(member), ...), true; };
  if constexpr (!std::is_aggregate_v<T>) return false;
  else if constexpr (detail::has_bases<T>) return false;
  else if constexpr (std::is_empty_v<T>) return true;
  // clang-format off
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; })
    return false;
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
                               detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
                               detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
                               detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
                               detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
                               detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
                               detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
                               detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
                               detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{},{},
                               detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m, n); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l, m); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object;
           return each(a, b, c, d, e, f, g, h, i, j, k, l); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j, k] = object; return each(a, b, c, d, e, f, g, h, i, j, k); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i, j] = object; return each(a, b, c, d, e, f, g, h, i, j); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h, i] = object; return each(a, b, c, d, e, f, g, h, i); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g, h] = object; return each(a, b, c, d, e, f, g, h); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f, g] = object; return each(a, b, c, d, e, f, g); }
  }
  else if constexpr (requires { T{{},{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e, f] = object; return each(a, b, c, d, e, f); }
  }
  else if constexpr (requires { T{{},{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d, e] = object; return each(a, b, c, d, e); }
  }
  else if constexpr (requires { T{{},{},{},{}}; }) {
    if constexpr (requires { T{{},{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c, d] = object; return each(a, b, c, d); }
  }
  else if constexpr (requires { T{{},{},{}}; }) {
    if constexpr (requires { T{{},{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b, c] = object; return each(a, b, c); }
  }
  else if constexpr (requires { T{{},{}}; }) {
    if constexpr (requires { T{{},{}, detail::anything{}}; }) return false;
    else { auto& [a, b] = object; return each(a, b); }
  }
  else if constexpr (requires { T{{}}; }) {
    if constexpr (requires { T{{}, detail::anything{}}; }) return false;
    else { auto& [a] = object; return each(a); }
  }
  else return false;
  // clang-format on
}

}  // namespace wsl::support
