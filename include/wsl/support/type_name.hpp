// SPDX-License-Identifier: MIT
// The name of a type or of a function as the compiler prints it, for messages: `runner<color<float>{1},
// ...>`.
#pragma once
#include "cxx20.hpp"

namespace wsl::support {

/// Text of fixed capacity that can live in a constant; a longer name is cut.
struct name_text {
  char text[96]{};
};

namespace detail {

template <class T>
constexpr const char* pretty() {
  return __PRETTY_FUNCTION__;
}
template <auto V>
constexpr const char* pretty() {
  return __PRETTY_FUNCTION__;
}

// GCC writes "... [with T = X]" or "[with auto V = X]", Clang "... [T = X]": the name stands between "= " and
// the last "]". The library's own namespace only makes names longer.
constexpr name_text between_equals_and_bracket(const char* s) {
  const char* from = s;
  while (*from && !(from[0] == ' ' && from[1] == '=' && from[2] == ' ')) ++from;
  from += *from ? 3 : 0;
  const char* to = from;
  for (const char* p = from; *p; ++p)
    if (*p == ']' && !p[1]) to = p;
  name_text name{};
  int n = 0;
  for (const char* p = from; p != to && n < 95;) {
    if (p[0] == 'w' && p[1] == 's' && p[2] == 'l' && p[3] == ':' && p[4] == ':') p += 5;
    else name.text[n++] = *p++;
  }
  return name;
}

// "&runner<...>::pass" or "(&runner<...>::pass)": what follows the last "::" outside angle brackets.
constexpr name_text last_component(const char* s) {
  const char* from = s;
  int depth = 0;
  for (const char* p = s; *p; ++p) {
    if (*p == '<') ++depth;
    if (*p == '>') --depth;
    if (depth == 0 && p[0] == ':' && p[1] == ':') from = p + 2;
  }
  name_text name{};
  for (int n = 0; from[n] && from[n] != ')' && n < 95; ++n) name.text[n] = from[n];
  return name;
}

template <class T>
inline constexpr name_text type_name_text = between_equals_and_bracket(pretty<T>());
template <auto F>
inline constexpr name_text function_name_text = last_component(between_equals_and_bracket(pretty<F>()).text);

}  // namespace detail

/// The name of T without the library's namespace.
template <class T>
constexpr const char* type_name() {
  return detail::type_name_text<T>.text;
}

/// The unqualified name of the function that F points to.
template <auto F>
constexpr const char* function_name() {
  return detail::function_name_text<F>.text;
}

}  // namespace wsl::support
