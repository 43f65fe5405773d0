// SPDX-License-Identifier: MIT
// A sentence of pieces, texts and whole numbers: joined({"PE(", c.x, ", ", c.y, ")"}). A chain of + makes a
// string for each piece, with the code that destroys it, and what explains a deadlock is compiled in every
// program that has a fabric. See engine/diagnose/deadlock.hpp.
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace wsl::detail {

struct piece {
  std::string_view text;
  long long number = 0;

  piece(const char* t) : text(t) {}
  piece(const std::string& t) : text(t) {}
  piece(std::integral auto n) : number(static_cast<long long>(n)) {}
};

inline std::string joined(std::initializer_list<piece> pieces) {
  std::string all;
  for (const piece& p : pieces) {
    if (p.text.data()) all += p.text;
    else all += std::to_string(p.number);
  }
  return all;
}

/// "1 word", "2 words".
inline std::string counted(std::integral auto n, const char* one) {
  return joined({n, " ", one, n == 1 ? "" : "s"});
}

}  // namespace wsl::detail
