// SPDX-License-Identifier: MIT
// Chats of several turns in files of examples: what a language model is trained with to answer.
#pragma once
#include <fields.hpp>
#include <optional>
#include <string>
#include <utility>
#include <wsl/ml/data/text/encode/conversations.hpp>
#include <wsl/ml/io/checkpoint.hpp>

#include "completing.hpp"
#include "example_words.hpp"

namespace gpt_app {

struct chat_words {
  std::string train, held_out;          ///< files (.jsonl, .csv, .tsv) or folders of them
  std::string key, held_out_key;        ///< the field of the messages
  int length = 0, held_out_length = 0;  ///< tokens of a sequence
  example_words words;
  std::optional<wsl::i32> kept_end = {};  ///< the token behind an answer of the run that goes on
};

/// The form of chats: a model has learnt with it, so its checkpoints keep it.
struct chat_marks {
  std::string form;  ///< that of the template, such as "ChatML", or "plain"
  wsl::i32 end = 0;  ///< the token behind an answer

  bool is_plain() const;

  wsl::ml::text_by_name facts() const;
  /// Those of a checkpoint; none if it is of other data. Throws wsl::ml::file_error.
  static std::optional<chat_marks> of(const std::string& checkpoint);
  /// Those of which `facts` are some; none if none are.
  static std::optional<chat_marks> from(const wsl::ml::text_by_name& facts);
};
/// Throws std::invalid_argument, with both, if a checkpoint keeps another form.
void require_same_form(const std::string& checkpoint, const chat_marks& ours);

struct chat_text {
  wsl::ml::conversations train, held_out;
  vocabulary words;
  chat_marks marks;
  std::string about;  ///< a description for people
};

/// Reads chats, and encodes them by the chat template beside the tokenizer. Where there is none, a message
/// is a line with "System:", "User:" or "Assistant:" before it, and an answer ends with the token that ends
/// a text (`end_of`); of characters it is the end of its line, and those in a message become blanks. Throws
/// wsl::ml::file_error, with the line, for what is no chat and for a template that is not known, and
/// std::invalid_argument for settings that do not fit.
chat_text read_chats(const chat_words& asked);

/// The last questions of the held-out chats, with what is before them, as the model is asked; what else their
/// records have is kept. A chat whose question has too little room for an answer of `max_new_tokens` (0: the
/// longest that is right, and where none is known half of a sequence) loses its first turns. Throws as
/// `read_chats` does, and for a record that has a field which predictions write.
std::pair<prompts, chat_marks> questions_of(const chat_words& asked, int max_new_tokens);

}  // namespace gpt_app
