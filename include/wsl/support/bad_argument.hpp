// SPDX-License-Identifier: MIT
// A bad argument of a product, a kernel or its front end is a std::invalid_argument whose sentence names the
// argument, its value, and the values that are allowed.
//   bad_argument({"lines of ", n, " numbers cannot be transformed"});   // "wsl: lines of 7 numbers ..."
// A mistake in a layout or a PE program is a `fault` instead; core/fault.hpp has the rule.
#pragma once
#include <stdexcept>

#include "text.hpp"

namespace wsl::support {

/// Throws std::invalid_argument with "wsl: " and the pieces, texts and whole numbers, one after the other.
[[noreturn]] inline void bad_argument(std::initializer_list<piece> sentence) {
  throw std::invalid_argument("wsl: " + joined(sentence));
}

}  // namespace wsl::support
