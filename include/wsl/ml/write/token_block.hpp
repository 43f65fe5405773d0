// SPDX-License-Identifier: MIT
// A block of tokens that pass through the layers of a writer together. The host makes it, and launches all
// columns with it. See writer.hpp and encoder_decoder_writer.hpp.
#pragma once
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// A text becomes a copy of the first tokens of another one: of its keys and values.
struct text_copy {
  int from, to, tokens;
};

/// The next token of each of several texts, or several tokens of one.
struct token_block {
  std::vector<i32> ids, positions, texts;  ///< of each row
  int first_logits = 0;                    ///< rows from this one on give logits
  bool is_prompt = false;                  ///< the rows are consecutive tokens of one text
  std::vector<text_copy> copies = {};      ///< before the block passes; none reads what another has written
  bool of_encoder = false;                 ///< the rows are the whole text that an encoder reads
  std::vector<i32> sources = {};           ///< of each row, the encoder's text: read now, or attended to
  std::vector<i32> seen = {};              ///< of an encoder's rows, 0 for a token that none sees; or empty

  int rows() const { return static_cast<int>(ids.size()); }
  int rows_of_logits() const { return rows() - first_logits; }
  /// Many rows are multiplied in another order than few. Texts that are written side by side are few however
  /// many they are, so that none depends on the others.
  bool in_blocks() const { return is_prompt && rows() > 16; }
};

}  // namespace wsl::ml
