// SPDX-License-Identifier: MIT
// Preferences of files (../preferences.hpp) as the sequences of a decoder (preference_pairs.hpp). Texts have
// the tokens with which the tokenizer begins a text, and the one that ends a text behind an answer; lists of
// messages have what the chat template of the model writes.
//   const preference_pairs train = read_preferences({.files = {"train.jsonl"}, .length = 512}, by);
#pragma once
#include <optional>

#include "../../../tokenizer/tokenizer.hpp"
#include "../preferences.hpp"
#include "preference_pairs.hpp"

namespace wsl::ml {

struct preference_text_settings {
  std::vector<std::string> files = {};
  preference_keys keys = {};
  int length = 512;  ///< tokens of a sequence
  std::optional<i32> end =
      {};  ///< the token behind an answer; none: that with which the tokenizer ends a text
};

/// Adds all pairs of files. `prompt(example)` and `answer(text)` give the tokens of a prompt, and of an
/// answer with those that end it. Throws file_error, with the file and the line, for what the files lack;
/// both functions may throw std::invalid_argument, whose place is then known.
template <class Prompt, class Answer>
void add_preferences(preference_pairs& to, const preference_file& in, Prompt prompt, Answer answer) {
  const bool are_chats = in.are_chats();
  for (i64 k = 0; k < in.count(); ++k) {
    const preference_example x = in.at(k);
    if (are_chats == x.messages.empty())
      throw in.error(k, "of the pairs some are lists of messages, and some texts: write all in one way");
    try {
      to.add(prompt(x), answer(x.chosen), answer(x.rejected));
    } catch (const std::invalid_argument& e) {
      const std::string why = e.what();
      throw in.error(k, why.starts_with("wsl: ") ? why.substr(5) : why);
    }
  }
}

/// Reads and encodes all pairs. Lists of messages need a chat template. Throws file_error, with the file and
/// the line, for what the files lack; std::invalid_argument if no token ends a text, or settings leave no
/// room.
inline preference_pairs read_preferences(const preference_text_settings& how, const tokenizer& by,
                                         const chat_template* chat = nullptr) {
  const std::optional<i32> end = how.end ? how.end : by.end_of_text();
  if (!end)
    throw std::invalid_argument(
        "wsl: the tokenizer has no token that ends a text, which an answer has behind it: name one");
  const std::vector<i32> around = by.encode("");
  std::vector<i32> begin;
  if (!around.empty() && around.front() == by.begin_of_text()) begin = {around.front()};
  const preference_file in(how.files, how.keys);
  const bool are_chats = in.are_chats();
  if (are_chats && !chat)
    throw in.error(0,
                   "it is a list of messages, and the model has no chat template to write them: write texts");
  if (are_chats) begin.clear();  // the template writes its own
  preference_pairs all({.length = how.length, .begin = std::move(begin), .end = *end});
  const encode_options as_written{.add_special_tokens = false};
  add_preferences(
      all, in,
      [&](const preference_example& x) {
        return by.encode(are_chats ? chat->prompt(x.messages) : x.prompt, as_written);
      },
      [&](const std::string& text) {
        if (are_chats) return by.encode(chat->answer(text), as_written);
        std::vector<i32> ids = by.encode(text, as_written);
        ids.push_back(*end);
        return ids;
      });
  return all;
}

}  // namespace wsl::ml
