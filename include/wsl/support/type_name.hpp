// SPDX-License-Identifier: MIT
// The name of a type or of a function as the compiler prints it, for messages: `runner<color<float>{1},
// ...>`. A long name is shortened by whole template arguments.
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

/// A part of a text.
struct name_range {
  const char *from, *to;
};

// GCC writes "... [with T = X]" or "[with auto V = X]", Clang "... [T = X]": the name stands between "= " and
// the last "]".
constexpr name_range between_equals_and_bracket(const char* s) {
  const char* from = s;
  while (*from && !(from[0] == ' ' && from[1] == '=' && from[2] == ' ')) ++from;
  from += *from ? 3 : 0;
  const char* to = from;
  for (const char* p = from; *p; ++p)
    if (*p == ']' && !p[1]) to = p;
  return {from, to};
}

// The part of "&runner<...>::pass" or "(&runner<...>::pass)" after the last "::" outside angle brackets.
constexpr name_range last_component(name_range all) {
  name_range last = all;
  int depth = 0;
  for (const char* p = all.from; p != all.to; ++p) {
    if (*p == '<') ++depth;
    if (*p == '>') --depth;
    if (depth == 0 && p[0] == ':' && p[1] == ':') last.from = p + 2;
  }
  if (last.from != last.to && last.to[-1] == ')') --last.to;
  return last;
}

/// Writes a name without the library's namespace, which only makes names longer. Template argument lists
/// inside `deepest` others become "<...>", and the arguments of a list after its first `most` become "...".
class name_writer {
 public:
  constexpr name_writer(int deepest, int most) : deepest_(deepest), most_(most) {}

  /// False if the name does not fit.
  constexpr bool write(name_range all) {
    for (const char* p = all.from; p != all.to && fits_; ++p) {
      const bool arrow = p != all.from && p[-1] == '-';
      if (*p == '<') open();
      else if (*p == '>' && !arrow && depth_ > 0) close();
      else if (hidden_from_ != 0) continue;
      else if (*p == ',' && depth_ > 0 && brackets_[depth_] == 0) next_argument();
      else if (all.to - p > 5 && p[0] == 'w' && p[1] == 's' && p[2] == 'l' && p[3] == ':' && p[4] == ':')
        p += 4;
      else put_bracket(*p);
    }
    return fits_;
  }
  constexpr name_text text() const { return text_; }

 private:
  static constexpr int size = sizeof(name_text) - 1, levels = 8;

  constexpr void put(char c) {
    if (n_ == size) fits_ = false;
    else text_.text[n_++] = c;
  }
  constexpr void put_dots() { put('.'), put('.'), put('.'); }
  constexpr void put_bracket(char c) {
    put(c);
    brackets_[depth_] += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
  }
  constexpr void open() {
    if (hidden_from_ == 0) put('<');
    ++depth_;
    if (hidden_from_ != 0) return;
    if (depth_ > deepest_) return put_dots(), void(hidden_from_ = depth_);
    brackets_[depth_] = arguments_[depth_] = 0;
  }
  constexpr void close() {
    if (hidden_from_ == depth_) hidden_from_ = 0;
    --depth_;
    if (hidden_from_ == 0) put('>');
  }
  constexpr void next_argument() {
    put(',');
    if (++arguments_[depth_] < most_) return;
    put(' '), put_dots();
    hidden_from_ = depth_;
  }

  name_text text_{};
  int deepest_, most_;
  int n_ = 0, depth_ = 0;
  int hidden_from_ = 0;  // the depth of the list of which nothing more is written; 0 for none
  int brackets_[levels]{}, arguments_[levels]{};
  bool fits_ = true;
};

// The longest of several ways to write a name that fits; the last resort is its beginning.
constexpr name_text shortened(name_range all) {
  constexpr int ways[][2] = {{7, 99}, {3, 99}, {2, 99}, {1, 99}, {1, 4}, {1, 2}, {1, 1}, {0, 99}};
  for (const auto& [deepest, most] : ways) {
    name_writer writer(deepest, most);
    if (writer.write(all)) return writer.text();
  }
  name_text beginning{};
  for (int n = 0; n < 92; ++n) beginning.text[n] = all.from[n];
  for (int n = 92; n < 95; ++n) beginning.text[n] = '.';
  return beginning;
}

template <class T>
inline constexpr name_text type_name_text = shortened(between_equals_and_bracket(pretty<T>()));
template <auto F>
inline constexpr name_text function_name_text =
    shortened(last_component(between_equals_and_bracket(pretty<F>())));

}  // namespace detail

/// The name of T without the library's namespace, at most 95 characters.
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
