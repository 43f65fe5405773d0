// SPDX-License-Identifier: MIT
// Numbers in the sentences of the solvers: six digits, with an exponent for very small and large ones.
#pragma once
#include <charconv>
#include <string>

#include "../../core/scalar.hpp"

namespace wsl::solver {

inline std::string number_text(f64 x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x, std::chars_format::general, 6).ptr};
}

}  // namespace wsl::solver
