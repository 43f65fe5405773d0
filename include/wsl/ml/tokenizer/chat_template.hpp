// SPDX-License-Identifier: MIT
// The text with which a model that has been trained to chat is asked. The tokenizers of transformers bring it
// as a template in Jinja, which is a language of its own; most templates say one of a few formats, which are
// told here by the marks in them. A template that is none of them, or writes other texts, is refused.
//   const chat_template chat = chat_template::of_folder("zephyr", t);
//   ids = t.encode(chat.prompt({{"user", "Why?"}}), {.add_special_tokens = false});
#pragma once
#include "template_texts.hpp"
#include "tokenizer.hpp"

namespace wsl::ml {

enum class chat_format : u8 { chatml, llama2, llama3, mistral, zephyr, phi3 };

constexpr std::string_view name_of(chat_format f) {
  constexpr std::string_view names[]{"ChatML", "Llama 2", "Llama 3", "Mistral", "Zephyr", "Phi-3"};
  return names[static_cast<std::size_t>(f)];
}

struct chat_message {
  std::string role, content;  ///< roles are system (which only the first may have), user and assistant
};

class chat_template {
 public:
  /// From the text of a template, and the tokens that begin and end a text. `where` is for messages. Throws
  /// file_error if the template is not one of the formats.
  chat_template(const std::string& jinja, std::string begin, std::string end, const std::string& where)
      : format_(format_of(jinja, where)),
        begin_(std::move(begin)),
        end_(std::move(end)),
        has_begin_(jinja.find("bos_token") != jinja.npos),
        gap_(jinja.find("eos_token + ' '") != jinja.npos ? " " : "") {
    if (format_ == chat_format::chatml) set_usual_system(jinja, where);
    check_texts(jinja, where);
  }
  /// From `chat_template` in tokenizer_config.json, or from chat_template.jinja. Throws file_error.
  static chat_template of_folder(const std::string& folder, const tokenizer& t) {
    const auto text_of = [&](std::optional<i32> id) { return id ? t.token(*id) : std::string(); };
    const std::string config = folder + "/tokenizer_config.json", alone = folder + "/chat_template.jinja";
    const bool is_alone = std::filesystem::exists(alone);
    return {is_alone ? read_whole(alone) : template_in(config), text_of(t.begin_of_text()),
            text_of(t.end_of_text()), is_alone ? alone : config};
  }

  chat_format format() const { return format_; }
  /// The token that ends an answer, beside the end of a text.
  std::string_view end_of_turn() const {
    return format_ == chat_format::chatml   ? "<|im_end|>"
           : format_ == chat_format::llama3 ? "<|eot_id|>"
           : format_ == chat_format::phi3   ? "<|end|>"
                                            : std::string_view(end_);
  }

  /// The text behind which the model writes its answer to the last message, a user's. It has its special
  /// tokens, so it is encoded without others. Throws std::invalid_argument for messages out of turn.
  std::string prompt(const std::vector<chat_message>& messages) const {
    check(messages);
    std::string text = begin();
    const bool has_system = messages[0].role == "system";
    if (!has_system && !usual_system_.empty()) text += turn({"system", usual_system_});
    if (format_ != chat_format::llama2) {
      for (const chat_message& m : messages) text += turn(m);
      return text + begin_of_answer();
    }
    for (std::size_t k = has_system; k < messages.size(); ++k) {
      chat_message m = messages[k];
      if (has_system && k == 1) m.content = "<<SYS>>\n" + messages[0].content + "\n<</SYS>>\n\n" + m.content;
      text += turn(m);
    }
    return text;
  }

 private:
  static bool has(const std::string& text, std::initializer_list<const char*> marks) {
    return std::all_of(marks.begin(), marks.end(), [&](const char* m) { return text.find(m) != text.npos; });
  }
  static chat_format format_of(const std::string& jinja, const std::string& where) {
    // They say more than a format: dates, tools, thoughts, or spaces of later versions.
    for (const char* more : {"Cutting Knowledge Date", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]", "<think>",
                             "strftime_now", "' [INST]", "\" [INST]"})
      if (has(jinja, {more}))
        throw file_error(fmt::format(
            "wsl: {}: the chat template has {}, and no format here has that: write the prompt yourself",
            where, more));
    if (has(jinja, {"<|im_start|>", "<|im_end|>"})) return chat_format::chatml;
    if (has(jinja, {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"})) return chat_format::llama3;
    if (has(jinja, {"[INST] ", " [/INST]", "<<SYS>>"})) return chat_format::llama2;
    if (has(jinja, {"[INST] ", " [/INST]"}) && !has(jinja, {"trim"}) && !has(jinja, {"strip"}))
      return chat_format::mistral;
    if (has(jinja, {"<|user|>", "<|assistant|>", "<|end|>"})) return chat_format::phi3;
    if (has(jinja, {"<|user|>", "<|assistant|>", "eos_token"})) return chat_format::zephyr;
    throw file_error(
        fmt::format("wsl: {}: the chat template is none of the formats that are known here, ChatML, Llama 2, "
                    "Llama 3, Mistral, Zephyr and Phi-3: write the prompt yourself",
                    where));
  }
  /// The texts that a template of the format may have between the values that it writes.
  static std::vector<std::string> texts_of(chat_format f) {
    switch (f) {
      case chat_format::chatml:
        return {"<|im_start|>",           "\n", "<|im_end|>\n", "<|im_start|>system\n", "<|im_start|>user\n",
                "<|im_start|>assistant\n"};
      case chat_format::llama2: return {"[INST] ", " [/INST]", "<<SYS>>\n", "\n<</SYS>>\n\n", " "};
      case chat_format::llama3:
        return {"<|start_header_id|>",
                "<|end_header_id|>\n\n",
                "<|eot_id|>",
                "<|start_header_id|>system<|end_header_id|>\n\n",
                "<|start_header_id|>user<|end_header_id|>\n\n",
                "<|start_header_id|>assistant<|end_header_id|>\n\n"};
      case chat_format::mistral: return {"[INST] ", " [/INST]", " "};
      case chat_format::zephyr: return {"<|system|>\n", "<|user|>\n", "<|assistant|>\n", "\n"};
      case chat_format::phi3:
        return {"<|system|>\n", "<|user|>\n", "<|assistant|>\n", "<|end|>\n", "<|end|>\n<|assistant|>\n"};
    }
    return {};
  }
  void check_texts(const std::string& jinja, const std::string& where) const {
    std::vector<std::string> known = texts_of(format_);
    if (!usual_system_.empty()) known.push_back(turn({"system", usual_system_}));
    for (const std::string& text : detail::template_texts::of(jinja))
      if (std::find(known.begin(), known.end(), text) == known.end())
        throw file_error(
            fmt::format("wsl: {}: the chat template is like that of {}, but writes {}, which that format has "
                        "not: write the prompt yourself",
                        where, name_of(format_),
                        nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  }
  static std::string template_in(const std::string& config) {
    const nlohmann::json all = std::filesystem::exists(config)
                                   ? nlohmann::json::parse(read_whole(config), nullptr, false)
                                   : nlohmann::json();
    const nlohmann::json found = all.is_object() ? all.value("chat_template", nlohmann::json()) : all;
    if (found.is_string()) return found.get<std::string>();
    if (found.is_array())  // several with names
      for (const nlohmann::json& one : found)
        if (one.is_object() && one.value("name", nlohmann::json()) == "default" && one.contains("template") &&
            one["template"].is_string())
          return one["template"].get<std::string>();
    throw file_error(fmt::format(
        "wsl: {} has no 'chat_template': the model was not trained to chat, or write the prompt yourself",
        config));
  }
  /// Finds the message of the system that a template of ChatML has for chats without one.
  void set_usual_system(const std::string& jinja, const std::string& where) {
    for (const std::string_view mark : {"<|im_start|>system\n", "<|im_start|>system\\n"}) {
      const std::size_t at = jinja.find(mark), from = at + mark.size();
      if (at == jinja.npos) continue;
      usual_system_ = jinja.substr(from, jinja.find("<|im_end|>", from) - from);
      if (usual_system_.find_first_of("'\"{}\\") != usual_system_.npos)
        throw file_error(fmt::format(
            "wsl: {}: the chat template composes a message of the system: write the prompt yourself", where));
      return;
    }
  }
  void check(const std::vector<chat_message>& messages) const {
    const auto refuse = [&](const std::string& why) {
      throw std::invalid_argument(fmt::format("wsl: a chat in the format of {}: {}", name_of(format_), why));
    };
    if (messages.empty() || messages.back().role != "user") refuse("the last message is a user's");
    if (messages[0].role == "system" && format_ == chat_format::mistral)
      refuse("it has no message of the system");
    const bool has_system = messages[0].role == "system";
    for (std::size_t k = has_system; k < messages.size(); ++k)
      if (messages[k].role != ((k - has_system) % 2 ? "assistant" : "user"))
        refuse(fmt::format("message {} is of '{}'; users and assistants take turns, after the system", k + 1,
                           messages[k].role));
  }
  std::string begin() const {
    // Templates of the others may write it or not, but for Llama 2, of which every turn has one.
    const bool writes_begin = format_ == chat_format::llama3 || format_ == chat_format::mistral ||
                              (format_ != chat_format::llama2 && has_begin_);
    return writes_begin ? begin_ : "";
  }
  std::string turn(const chat_message& m) const {
    const bool is_user = m.role == "user";
    switch (format_) {
      case chat_format::chatml: return "<|im_start|>" + m.role + "\n" + m.content + "<|im_end|>\n";
      case chat_format::llama3:
        return "<|start_header_id|>" + m.role + "<|end_header_id|>\n\n" + trimmed(m.content) + "<|eot_id|>";
      case chat_format::llama2:
        return is_user ? begin_ + "[INST] " + trimmed(m.content) + " [/INST]"
                       : " " + trimmed(m.content) + " " + end_;
      case chat_format::mistral:
        return is_user ? "[INST] " + m.content + " [/INST]" : m.content + end_ + gap_;
      case chat_format::zephyr: return "<|" + m.role + "|>\n" + m.content + end_ + "\n";
      case chat_format::phi3: return "<|" + m.role + "|>\n" + m.content + "<|end|>\n";
    }
    return {};
  }
  const char* begin_of_answer() const {
    switch (format_) {
      case chat_format::chatml: return "<|im_start|>assistant\n";
      case chat_format::llama3: return "<|start_header_id|>assistant<|end_header_id|>\n\n";
      case chat_format::zephyr:
      case chat_format::phi3: return "<|assistant|>\n";
      case chat_format::llama2:
      case chat_format::mistral: return "";
    }
    return "";
  }
  static std::string trimmed(const std::string& text) {
    const std::size_t from = text.find_first_not_of(" \t\r\n");
    return from == text.npos ? "" : text.substr(from, text.find_last_not_of(" \t\r\n") + 1 - from);
  }

  chat_format format_;
  std::string begin_, end_;
  bool has_begin_;
  std::string gap_, usual_system_ = {};
};

}  // namespace wsl::ml
