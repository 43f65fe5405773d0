// SPDX-License-Identifier: MIT
// An added token, as tokenizer.hpp shows it: see added_tokens.hpp.
#pragma once
#include <string>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// An entry of "added_tokens".
struct added_token {
  i32 id = 0;
  std::string text;
  bool is_special = true;
  bool is_normalized = false;       ///< it is looked for in the normalized text
  bool takes_space_before = false;  ///< white space before it belongs to it (lstrip)
  bool takes_space_after = false;   ///< white space after it belongs to it (rstrip)
  bool is_single_word = false;      ///< it does not count inside of a word
};

}  // namespace wsl::ml
