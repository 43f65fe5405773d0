// SPDX-License-Identifier: MIT
// The formats of chats, for chat_template.hpp: a part of the library that can be compiled once, see
// tokenizer/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "../io/input_file.hpp"
#include "chat_template.hpp"
#include "template_texts.hpp"

namespace wsl::ml {

WSL_TOKENIZER_COMPILED_PART chat_template::chat_template(const std::string& jinja, std::string begin,
                                                         std::string end, const std::string& where)
    : format_(format_of(jinja, where)),
      begin_(std::move(begin)),
      end_(std::move(end)),
      has_begin_(jinja.find("bos_token") != jinja.npos),
      gap_(jinja.find("eos_token + ' '") != jinja.npos ? " " : "") {
  if (format_ == chat_format::chatml) set_usual_system(jinja, where);
  check_texts(jinja, where);
}

WSL_TOKENIZER_COMPILED_PART chat_template chat_template::of_folder(const std::string& folder,
                                                                   const tokenizer& t) {
  const auto text_of = [&](std::optional<i32> id) { return id ? t.token(*id) : std::string(); };
  const std::string config = folder + "/tokenizer_config.json", alone = folder + "/chat_template.jinja";
  const bool is_alone = std::filesystem::exists(alone);
  return {is_alone ? read_whole(alone) : template_in(config), text_of(t.begin_of_text()),
          text_of(t.end_of_text()), is_alone ? alone : config};
}

WSL_TOKENIZER_COMPILED_PART std::string_view chat_template::end_of_turn() const {
  return format_ == chat_format::chatml   ? "<|im_end|>"
         : format_ == chat_format::llama3 ? "<|eot_id|>"
         : format_ == chat_format::phi3   ? "<|end|>"
                                          : std::string_view(end_);
}

WSL_TOKENIZER_COMPILED_PART std::string chat_template::prompt(
    const std::vector<chat_message>& messages) const {
  check(messages, "user");
  return text_of(messages) + begin_of_answer();
}

WSL_TOKENIZER_COMPILED_PART std::string chat_template::whole(
    const std::vector<chat_message>& messages) const {
  check(messages, "assistant");
  return text_of(messages);
}

WSL_TOKENIZER_COMPILED_PART std::string chat_template::text_of(
    const std::vector<chat_message>& messages) const {
  std::string text = begin();
  const bool has_system = messages[0].role == "system";
  if (!has_system && !usual_system_.empty()) text += turn({"system", usual_system_});
  if (format_ != chat_format::llama2) {
    for (const chat_message& m : messages) text += turn(m);
    return text;
  }
  for (std::size_t k = has_system; k < messages.size(); ++k) {
    chat_message m = messages[k];
    if (has_system && k == 1) m.content = "<<SYS>>\n" + messages[0].content + "\n<</SYS>>\n\n" + m.content;
    text += turn(m);
  }
  return text;
}

WSL_TOKENIZER_COMPILED_PART std::string chat_template::answer(const std::string& content) const {
  return turn({"assistant", content}).substr(std::string_view(begin_of_answer()).size());
}

WSL_TOKENIZER_COMPILED_PART bool chat_template::has(const std::string& text,
                                                    std::initializer_list<const char*> marks) {
  return std::all_of(marks.begin(), marks.end(), [&](const char* m) { return text.find(m) != text.npos; });
}

WSL_TOKENIZER_COMPILED_PART chat_format chat_template::format_of(const std::string& jinja,
                                                                 const std::string& where) {
  // They say more than a format: dates, tools, thoughts, or spaces of later versions.
  for (const char* more : {"Cutting Knowledge Date", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]", "<think>",
                           "strftime_now", "' [INST]", "\" [INST]"})
    if (has(jinja, {more}))
      throw file_error(fmt::format(
          "wsl: {}: the chat template has {}, and no format here has that: write the prompt yourself", where,
          more));
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

WSL_TOKENIZER_COMPILED_PART std::vector<std::string> chat_template::texts_of(chat_format f) {
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

WSL_TOKENIZER_COMPILED_PART void chat_template::check_texts(const std::string& jinja,
                                                            const std::string& where) const {
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

WSL_TOKENIZER_COMPILED_PART bool chat_template::is_in(const std::string& folder) {
  return std::filesystem::exists(folder + "/chat_template.jinja") ||
         !field_in(folder + "/tokenizer_config.json").is_null();
}

WSL_TOKENIZER_COMPILED_PART nlohmann::json chat_template::field_in(const std::string& config) {
  const nlohmann::json all = std::filesystem::exists(config)
                                 ? nlohmann::json::parse(read_whole(config), nullptr, false)
                                 : nlohmann::json();
  return all.is_object() ? all.value("chat_template", nlohmann::json()) : all;
}

WSL_TOKENIZER_COMPILED_PART std::string chat_template::template_in(const std::string& config) {
  const nlohmann::json found = field_in(config);
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

WSL_TOKENIZER_COMPILED_PART void chat_template::set_usual_system(const std::string& jinja,
                                                                 const std::string& where) {
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

WSL_TOKENIZER_COMPILED_PART void chat_template::check(const std::vector<chat_message>& messages,
                                                      const char* last) const {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format("wsl: a chat in the format of {}: {}", name_of(format_), why));
  };
  if (messages.empty() || messages.back().role != last)
    refuse(
        fmt::format("the last message is {}", std::string_view(last) == "user" ? "a user's" : "an answer"));
  if (messages[0].role == "system" && format_ == chat_format::mistral)
    refuse("it has no message of the system");
  const bool has_system = messages[0].role == "system";
  for (std::size_t k = has_system; k < messages.size(); ++k)
    if (messages[k].role != ((k - has_system) % 2 ? "assistant" : "user"))
      refuse(fmt::format("message {} is of '{}'; users and assistants take turns, after the system", k + 1,
                         messages[k].role));
}

WSL_TOKENIZER_COMPILED_PART std::string chat_template::begin() const {
  // Templates of the others may write it or not, but for Llama 2, of which every turn has one.
  const bool writes_begin = format_ == chat_format::llama3 || format_ == chat_format::mistral ||
                            (format_ != chat_format::llama2 && has_begin_);
  return writes_begin ? begin_ : "";
}

WSL_TOKENIZER_COMPILED_PART std::string chat_template::turn(const chat_message& m) const {
  const bool is_user = m.role == "user";
  switch (format_) {
    case chat_format::chatml: return "<|im_start|>" + m.role + "\n" + m.content + "<|im_end|>\n";
    case chat_format::llama3:
      return "<|start_header_id|>" + m.role + "<|end_header_id|>\n\n" + trimmed(m.content) + "<|eot_id|>";
    case chat_format::llama2:
      return is_user ? begin_ + "[INST] " + trimmed(m.content) + " [/INST]"
                     : " " + trimmed(m.content) + " " + end_;
    case chat_format::mistral: return is_user ? "[INST] " + m.content + " [/INST]" : m.content + end_ + gap_;
    case chat_format::zephyr: return "<|" + m.role + "|>\n" + m.content + end_ + "\n";
    case chat_format::phi3: return "<|" + m.role + "|>\n" + m.content + "<|end|>\n";
  }
  return {};
}

WSL_TOKENIZER_COMPILED_PART const char* chat_template::begin_of_answer() const {
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

WSL_TOKENIZER_COMPILED_PART std::string chat_template::trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t\r\n");
  return from == text.npos ? "" : text.substr(from, text.find_last_not_of(" \t\r\n") + 1 - from);
}

}  // namespace wsl::ml
