// SPDX-License-Identifier: MIT
// Chats in files of examples, an object in JSON a line (.jsonl), in the forms of the field:
//   {"messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]}
//   {"conversations": [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So."}]}    (ShareGPT)
//   {"instruction": "Translate.", "input": "Hund", "output": "dog"}       (Alpaca; the input may be left out)
// The list may have another name. Of Alpaca the question is the instruction, and behind an empty line the
// input; tables (.csv, .tsv) may have these columns, too.
//   const chat_list chats(records(files_of({"chats.jsonl"}, {".jsonl"})));
//   for (i64 i = 0; i < chats.count(); ++i) use(chats.messages(i));
#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../tokenizer/chat_message.hpp"
#include "records.hpp"

namespace wsl::ml {

/// A question to a model: the messages of a chat, of which the last is a user's, and the answer that is
/// right.
struct chat_question {
  std::vector<chat_message> messages;
  std::optional<std::string> answer;  ///< none if the chat ends with the question
};

class chat_list {
 public:
  /// `key` is the field of the list of messages, or "instruction" for the form of Alpaca; empty: messages,
  /// conversations or instruction, the first of them that the first example has. Throws file_error if it has
  /// none of these.
  explicit chat_list(records from, std::string key = "") : from_(std::move(from)), key_(std::move(key)) {
    for (const char* known : {"messages", "conversations", "instruction"})
      if (key_.empty() && from_.has(known) && from_.find(0, known)) key_ = known;
    if (key_.empty())
      throw from_.error(0, "messages",
                        "an example of chats has messages, conversations, or instruction and output: name "
                        "the field of the messages");
  }

  i64 count() const { return from_.count(); }
  /// The field of the messages.
  const std::string& key() const { return key_; }
  /// The messages of a chat: perhaps one of the system, then questions and answers in turn, at least one of
  /// each; no answer may be behind the last question. Throws file_error, with the file, the line and the
  /// field, for anything else.
  std::vector<chat_message> messages(i64 which) const {
    std::vector<chat_message> all = any_messages(which);
    if (all.size() < begin_of(all) + 2)
      throw error(which, "the chat has no answer to learn: leave the example out");
    return all;
  }
  /// The last question of a chat, which needs no answer, with what comes before it. Throws file_error for
  /// what is no chat.
  chat_question question(i64 which) const {
    chat_question q{any_messages(which), {}};
    if (q.messages.size() == begin_of(q.messages))
      throw error(which, "the chat has no question: leave the example out");
    if (q.messages.back().role != "assistant") return q;
    q.answer = std::move(q.messages.back().content);
    q.messages.pop_back();
    return q;
  }
  /// All fields of an example (records::fields).
  nlohmann::ordered_json fields(i64 which) const { return from_.fields(which); }
  /// A mistake in a chat, to be thrown.
  file_error error(i64 which, std::string_view why) const { return from_.error(which, key_, why); }

 private:
  std::vector<chat_message> of_alpaca(i64 which) const {
    const auto text = [&](const char* field) {
      std::string found = from_.string(which, field);
      if (is_empty(found))
        throw from_.error(which, field, "it is empty: fill it in, or leave the example out");
      return found;
    };
    std::string question = text("instruction");
    if (from_.find(which, "input"))
      if (const std::string more = from_.string(which, "input"); !is_empty(more)) question += "\n\n" + more;
    std::vector<chat_message> all{{"user", std::move(question)}};
    if (from_.find(which, "output")) all.push_back({"assistant", text("output")});
    return all;
  }
  std::vector<chat_message> of_list(i64 which) const {
    const nlohmann::json list = nlohmann::json::parse(from_.text(which, key_), nullptr, false);
    if (!list.is_array() || list.empty())
      throw error(which,
                  "a chat is a list of messages, such as [{\"role\": \"user\", \"content\": \"Why?\"}]");
    std::vector<chat_message> all;
    for (const nlohmann::json& m : list) {
      const auto refuse = [&](const std::string& why) {
        throw error(which, fmt::format("message {}: {}", all.size() + 1, why));
      };
      const auto text = [&](const char* one, const char* other) {
        const char* name = m.is_object() && m.contains(one) ? one : other;
        if (!m.is_object() || !m.contains(name) || !m[name].is_string())
          refuse(
              fmt::format("it is no object with the texts role and content, or from and value: {} is "
                          "missing or no text",
                          one));
        return m[name].get<std::string>();
      };
      const std::string role = text("role", "from");
      all.push_back({role_of(role), text("content", "value")});
      const chat_message& last = all.back();
      if (last.role.empty())
        throw error(which, fmt::format("message {}: the role '{}' is none of system, user (human) and "
                                       "assistant (gpt): leave the message or the example out",
                                       all.size(), role));
      if (m.contains("weight") && m["weight"] != 1)
        throw error(which, fmt::format("message {}: it has a weight of {}, and every answer is learnt alike: "
                                       "leave the weight out",
                                       all.size(), m["weight"].dump()));
    }
    return all;
  }
  static std::string role_of(const std::string& name) {
    for (const auto& [role, other] : {std::pair("system", "system"), {"user", "human"}, {"assistant", "gpt"}})
      if (name == role || name == other) return role;
    return "";
  }
  static bool is_empty(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
  }
  /// Where the questions and answers begin.
  static std::size_t begin_of(const std::vector<chat_message>& all) { return all[0].role == "system"; }
  /// The messages of a chat that may have no answer.
  std::vector<chat_message> any_messages(i64 which) const {
    std::vector<chat_message> all = key_ == "instruction" ? of_alpaca(which) : of_list(which);
    check(which, all);
    return all;
  }
  void check(i64 which, const std::vector<chat_message>& all) const {
    const std::size_t first = begin_of(all);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const chat_message& m = all[k];
      const auto refuse = [&](const char* why) {
        throw error(which, fmt::format("message {}: {}", k + 1, why));
      };
      if (is_empty(m.content)) refuse("its content is empty: fill it in, or leave the example out");
      if (k < first) continue;
      if (m.role == "system") refuse("only the first message may be the system's: leave it out");
      const bool asks = (k - first) % 2 == 0;
      if (asks == (m.role == "user")) continue;
      if (k == first) refuse("a chat begins with a question, and this is an answer: leave it out");
      refuse(asks ? "two answers in a row: make one of them, or leave one out"
                  : "two questions in a row: make one of them, or leave one out");
    }
  }

  records from_;
  std::string key_;
};

}  // namespace wsl::ml
