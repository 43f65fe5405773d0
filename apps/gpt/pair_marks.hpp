// SPDX-License-Identifier: MIT
// The marks of prompts and completions in a sequence: what stands between both, and the token behind the
// completion. A model has learnt with them, so its checkpoints keep them.
#pragma once
#include <optional>
#include <string>
#include <wsl/ml/io/checkpoint.hpp>

#include "text.hpp"

namespace gpt_app {

struct pair_marks {
  std::string separator;  ///< a text
  wsl::i32 end = 0;

  /// As a checkpoint keeps them.
  wsl::ml::text_by_name facts() const;
  /// Those of a checkpoint; none if it is of a running text, or of an earlier version. Throws
  /// wsl::ml::file_error.
  static std::optional<pair_marks> of(const std::string& checkpoint);
  /// Those of which `facts` are some; none if none are.
  static std::optional<pair_marks> from(const wsl::ml::text_by_name& facts);
};

/// Throws std::invalid_argument, with both values, if a checkpoint keeps another separator.
void require_same_separator(const std::string& checkpoint, const std::string& ours);
/// The same for both marks. `words` are the tokens.
void require_same_marks(const std::string& checkpoint, const pair_marks& ours, const vocabulary& words);

}  // namespace gpt_app
