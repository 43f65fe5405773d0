// SPDX-License-Identifier: MIT
// Several documents of a run's data in each sequence (pack_sequences): chats, pairs, or the documents of a
// text.
#pragma once
#include <optional>
#include <string>
#include <wsl/ml/data/packed_documents.hpp>
#include <wsl/ml/io/checkpoint.hpp>

#include "text.hpp"

namespace gpt_app {

/// Which sections of a run pack their documents.
struct packs {
  bool train = false, held_out = false;

  bool any() const { return train || held_out; }
  /// As a checkpoint keeps it: nothing where the data to train with are not packed, as in earlier versions.
  wsl::ml::text_by_name facts() const;
};
/// Throws std::invalid_argument if a checkpoint's run packed its data to train with and this one does not,
/// or the other way round: its place in the data means nothing here.
void require_same_packing(const std::string& checkpoint, const packs& ours);

/// The examples of a section, and what is said of them: documents that are packed, or each in a sequence.
struct arranged {
  wsl::ml::dataset data;
  std::string about;  ///< empty if they are not packed
};
arranged arrange(const wsl::ml::documents& from, int length, wsl::i32 padding, bool packed);

/// The documents of a text between which a token stands: the one of that name, which may be a number where
/// the tokens have no words; or else that which ends a text of the tokenizer, of characters the end of a
/// line. Throws std::invalid_argument if the text or the vocabulary has no such token.
struct parted_text {
  wsl::ml::documents parts;
  wsl::i32 between;
};
parted_text documents_of(const wsl::ml::tokens& text, const vocabulary& words, const std::string& token,
                         int length, const std::string& section);

}  // namespace gpt_app
