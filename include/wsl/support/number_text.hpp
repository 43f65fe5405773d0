// SPDX-License-Identifier: MIT
// Numbers in sentences.
#pragma once
#include <charconv>
#include <concepts>
#include <string>

namespace wsl::support {

/// The fewest digits from which it can be read again, with an exponent where that is shorter.
inline std::string number_text(std::floating_point auto x) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

}  // namespace wsl::support
