// SPDX-License-Identifier: MIT
// The form in which a model reads a chat: the text of its messages, and the tokens of this text. A form is
// that of a tokenizer's chat template, or a plain one, in which a message is a line with a mark before it:
//   System: Be brief.
//   User: Why?
//   Assistant: So.<|endoftext|>
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../../../tokenizer/chat_template.hpp"

namespace wsl::ml {

struct chat_form {
  /// The text behind which the model writes its answer to the last message, a user's; and that of a chat
  /// whose last message is an answer. Both throw std::invalid_argument for messages that the form does not
  /// have.
  std::function<std::string(const std::vector<chat_message>&)> prompt = {}, whole = {};
  std::string end = {};  ///< the token that ends an answer, as text
  std::function<std::vector<i32>(std::string_view)> encode = {};
};

/// The form of a template. Copies of the form share the tokenizer. Throws std::invalid_argument if the
/// tokenizer has no token that ends an answer.
inline chat_form chat_form_of(chat_template chat, std::shared_ptr<const tokenizer> by) {
  const std::string end(chat.end_of_turn());
  if (end.empty() || !by->id(end))
    throw std::invalid_argument(
        fmt::format("wsl: in the format of {} an answer ends with '{}', and the tokenizer has no such token: "
                    "take the tokenizer of the template",
                    name_of(chat.format()), end));
  return {.prompt = [chat](const std::vector<chat_message>& m) { return chat.prompt(m); },
          .whole = [chat](const std::vector<chat_message>& m) { return chat.whole(m); },
          .end = end,
          .encode = [by](std::string_view text) { return by->encode(text, {.add_special_tokens = false}); }};
}

/// The marks of a plain form. A mark and a blank are before the content of a message, whose other end is
/// that of a line, and that of an answer the token that ends it.
struct plain_chat {
  std::string begin = {};  ///< of a text, such as a token with which texts begin
  std::string system = "System:", user = "User:", assistant = "Assistant:";
  std::string end_of_line = "\n";
  std::string end = {};  ///< the token behind an answer, as text

  std::string prompt(const std::vector<chat_message>& messages) const { return text(messages) + assistant; }
  std::string whole(const std::vector<chat_message>& messages) const { return text(messages); }

 private:
  std::string text(const std::vector<chat_message>& messages) const {
    std::string all = begin;
    for (const chat_message& m : messages) {
      const bool answers = m.role == "assistant";
      all += (answers            ? assistant
              : m.role == "user" ? user
                                 : system) +
             " " + m.content + (answers ? end : end_of_line);
    }
    return all;
  }
};
inline chat_form chat_form_of(plain_chat marks, std::function<std::vector<i32>(std::string_view)> encode) {
  std::string end = marks.end;
  return {.prompt = [marks](const std::vector<chat_message>& m) { return marks.prompt(m); },
          .whole = [marks](const std::vector<chat_message>& m) { return marks.whole(m); },
          .end = std::move(end),
          .encode = std::move(encode)};
}

}  // namespace wsl::ml
