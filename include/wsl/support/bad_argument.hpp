// SPDX-License-Identifier: MIT
// The one way in which products, kernels and their front ends report a bad argument: std::invalid_argument
// with a sentence that names the argument, what it is, and what it should be.
//   bad_argument({"lines of ", n, " numbers cannot be transformed"});   // "wsl: lines of 7 numbers ..."
// What can be wrong with a layout or a PE program is a `fault` instead.
#pragma once
#include <stdexcept>

#include "joined.hpp"

namespace wsl::support {

/// Throws std::invalid_argument with "wsl: " and the pieces, texts and whole numbers, one after the other.
[[noreturn]] inline void bad_argument(std::initializer_list<wsl::detail::piece> sentence) {
  throw std::invalid_argument("wsl: " + wsl::detail::joined(sentence));
}

}  // namespace wsl::support
