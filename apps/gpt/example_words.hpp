// SPDX-License-Identifier: MIT
// The tokens of files of examples, pairs or chats: characters of those to train with, or a tokenizer's, and
// the token that ends what is learnt.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "text.hpp"

namespace gpt_app {

/// The settings of a run about its tokens.
struct example_words {
  std::string kind;  ///< of vocabulary: characters, gpt2; empty: gpt2 with a tokenizer
  std::string tokenizer_dir;
  std::string end_token;      ///< by its name; empty: what `end_of` says
  std::string saved = {};     ///< the vocabulary that a checkpoint stores, if characters are those of one
  std::string of_model = {};  ///< the folder of the model that a run begins with, whose end of text it is

  /// Whether the characters are those of a checkpoint.
  bool has_saved() const { return saved.starts_with("characters\n"); }
};

/// Throws std::invalid_argument for settings that do not fit.
bool are_characters(const example_words& asked);
/// `text` has the characters of the examples to train with.
vocabulary words_for(const example_words& asked, bool of_characters, std::string_view text);
/// The token that ends what is learnt: the end of a line of characters; or the one that is named, `kept` by
/// the run that goes on, that of the model with which a run begins, or the tokenizer's. Throws
/// std::invalid_argument if there is none.
wsl::i32 end_of(const example_words& asked, bool of_characters, const vocabulary& words,
                std::optional<wsl::i32> kept);
/// The sentence about a character that the vocabulary lacks. `examples` are "pairs" or "chats".
std::string lacks(const wsl::ml::unknown_character& e, const vocabulary& words, const example_words& asked,
                  std::string_view examples);

}  // namespace gpt_app
