// SPDX-License-Identifier: MIT
// The text with which a model that has been trained to chat is asked. The tokenizers of transformers bring it
// as a template in Jinja, which is a language of its own; most templates say one of a few formats, which are
// told here by the marks in them. A template that is none of them, or writes other texts, is refused.
//   const chat_template chat = chat_template::of_folder("zephyr", t);
//   ids = t.encode(chat.prompt({{"user", "Why?"}}), {.add_special_tokens = false});
#pragma once
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "chat_message.hpp"
#include "tokenizer.hpp"

namespace wsl::ml {

enum class chat_format : u8 { chatml, llama2, llama3, mistral, zephyr, phi3 };

constexpr std::string_view name_of(chat_format f) {
  constexpr std::string_view names[]{"ChatML", "Llama 2", "Llama 3", "Mistral", "Zephyr", "Phi-3"};
  return names[static_cast<std::size_t>(f)];
}

class chat_template {
 public:
  /// From the text of a template, and the tokens that begin and end a text. `where` is for messages. Throws
  /// file_error if the template is not one of the formats.
  chat_template(const std::string& jinja, std::string begin, std::string end, const std::string& where);
  /// From `chat_template` in tokenizer_config.json, or from chat_template.jinja. Throws file_error.
  static chat_template of_folder(const std::string& folder, const tokenizer& t);
  /// Whether a folder has either of them, known here or not.
  static bool is_in(const std::string& folder);

  chat_format format() const { return format_; }
  /// The token that ends an answer, beside the end of a text.
  std::string_view end_of_turn() const;

  /// The text behind which the model writes its answer to the last message, a user's. It has its special
  /// tokens, so it is encoded without others. Throws std::invalid_argument for messages out of turn.
  std::string prompt(const std::vector<chat_message>& messages) const;
  /// The text of an answer behind such a prompt, with what ends its turn.
  std::string answer(const std::string& content) const;
  /// The text of a chat whose last message is an answer, with its end. Throws as `prompt` does.
  std::string whole(const std::vector<chat_message>& messages) const;

 private:
  static bool has(const std::string& text, std::initializer_list<const char*> marks);
  static chat_format format_of(const std::string& jinja, const std::string& where);
  /// The texts that a template of the format may have between the values that it writes.
  static std::vector<std::string> texts_of(chat_format f);
  void check_texts(const std::string& jinja, const std::string& where) const;
  static nlohmann::json field_in(const std::string& config);
  static std::string template_in(const std::string& config);
  /// Finds the message of the system that a template of ChatML has for chats without one.
  void set_usual_system(const std::string& jinja, const std::string& where);
  void check(const std::vector<chat_message>& messages, const char* last) const;
  /// All messages, without the beginning of another.
  std::string text_of(const std::vector<chat_message>& messages) const;
  std::string begin() const;
  std::string turn(const chat_message& m) const;
  const char* begin_of_answer() const;
  static std::string trimmed(const std::string& text);

  chat_format format_;
  std::string begin_, end_;
  bool has_begin_;
  std::string gap_, usual_system_ = {};
};

}  // namespace wsl::ml

#ifndef WSL_TOKENIZER_COMPILED
#include "chat_formats.hpp"
#endif
