// SPDX-License-Identifier: MIT
// The meaning of the numbers of a model of texts: the vocabulary behind the numbers of its tokens, and the
// names of its classes. Every checkpoint keeps it, so that evaluations, predictions and exports need neither
// the vocabulary's file nor the training data, and a run does not go on with others unnoticed.
#pragma once
#include <session.hpp>
#include <string>
#include <vector>
#include <wsl/ml/tokenizer/tokenizer.hpp>

namespace text_app {

struct text_meaning {
  std::string vocabulary;                 ///< the text of a tokenizer.json
  std::vector<std::string> classes = {};  ///< in the order of their numbers; none: the model has no classes
  /// Further words that must be the same, such as the tokens that begin and end a text.
  train_app::named_words settings = {};

  wsl::ml::tokenizer words() const { return wsl::ml::tokenizer::from_json(vocabulary, "the vocabulary"); }
  /// As a checkpoint keeps it.
  wsl::ml::text_by_name facts() const;
  /// That of a checkpoint, whose name only the first process knows; collective. Throws file_error for a
  /// checkpoint that keeps none.
  static text_meaning of(const std::string& checkpoint);
};

/// Throws std::invalid_argument with the first difference from the meaning of a checkpoint, or with
/// `override_it` only prints it.
void require_same_meaning(const std::string& checkpoint, const text_meaning& ours, bool override_it);

/// Writes the vocabulary into a folder for Hugging Face: tokenizer.json, a list of tokens as vocab.txt, and,
/// if the folder has none, a tokenizer_config.json. Throws file_error.
void write_vocabulary(const std::string& folder, const text_meaning& m, int longest);

}  // namespace text_app
