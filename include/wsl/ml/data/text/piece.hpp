// SPDX-License-Identifier: MIT
// A token and the part of a text that it stands for, so that what a model says about tokens can be said about
// the text.
#pragma once
#include <cstddef>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

struct text_piece {
  i32 id = 0;
  i32 word = 0;                    ///< the number of its word in the text; words are divided by white space
  std::size_t begin = 0, end = 0;  ///< its bytes in the text
};

}  // namespace wsl::ml
