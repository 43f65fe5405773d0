// SPDX-License-Identifier: MIT
// Sentences of texts and whole numbers. `filled` puts values into a text, as in filled("color {} of {}", {3,
// 24}); `joined` strings pieces together, as in joined({"PE(", c.x, ", ", c.y, ")"}).
//
// These stand in for fmt::format and for chains of +. Every program that has a fabric compiles the messages
// of faults and deadlocks. There, including <fmt/core.h> and formatting two sentences costs 10 % (GCC 12,
// without code) to 35 % (Clang 19, -O0) of the compile time of examples/01_hello_wavelet.cpp, and header-only
// fmt doubles it; a chain of + makes a string for each piece, with the code that destroys it.
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "cxx20.hpp"

namespace wsl::support {

/// A text or a whole number.
struct piece {
  std::string_view text;
  long long number = 0;
  bool is_unsigned = false;

  constexpr piece(const char* t) : text(t) {}
  constexpr piece(const std::string& t) : text(t) {}
  constexpr piece(std::integral auto n)
      : number(static_cast<long long>(n)), is_unsigned(std::unsigned_integral<decltype(n)>) {}
};

inline void append(std::string& all, const piece& p) {
  if (p.text.data()) all += p.text;
  else if (p.is_unsigned) all += std::to_string(static_cast<unsigned long long>(p.number));
  else all += std::to_string(p.number);
}

inline std::string joined(std::initializer_list<piece> pieces) {
  std::string all;
  for (const piece& p : pieces) append(all, p);
  return all;
}

/// The text with a value in the place of each {}. Requires as many values as there are places.
inline std::string filled(std::string_view text, std::initializer_list<piece> values) {
  std::string all;
  for (const piece& value : values) {
    const std::size_t place = text.find("{}");
    all += text.substr(0, place);
    append(all, value);
    text.remove_prefix(place + 2);
  }
  return all += text;
}

/// "1 word", "2 words".
inline std::string counted(std::integral auto n, const char* one) {
  return joined({n, " ", one, n == 1 ? "" : "s"});
}

}  // namespace wsl::support
