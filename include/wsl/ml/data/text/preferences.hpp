// SPDX-License-Identifier: MIT
// Preferences in files of examples (records.hpp): a prompt, the answer that was chosen and the one that was
// rejected, as texts or as lists of messages, [{"role": "user", "content": "Why?"}, ...]. Without a prompt
// the messages of both answers begin with it.
//   {"prompt": "Why?", "chosen": "Because it rains.", "rejected": "Why not?"}
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "../../tokenizer/chat_template.hpp"
#include "records.hpp"

namespace wsl::ml {

/// The names of the texts in the examples.
struct preference_keys {
  std::string prompt = "prompt", chosen = "chosen", rejected = "rejected";
};

struct preference_example {
  std::string prompt = {};                  ///< a text; empty: the messages
  std::vector<chat_message> messages = {};  ///< to the last of which, a user's, the answers are
  std::string chosen = {}, rejected = {};
};

class preference_file {
 public:
  /// Files end with .jsonl, .csv or .tsv. Throws what `records` throws.
  explicit preference_file(const std::vector<std::string>& files, preference_keys keys = {})
      : in_(files), keys_(std::move(keys)) {}

  i64 count() const { return in_.count(); }
  /// Whether the first pair is one of lists of messages, as the others must be then.
  bool are_chats() const { return !at(0).messages.empty(); }
  /// Throws file_error, with the file, the line and the field, for a text that is not there or messages that
  /// are no prompt and answer.
  preference_example at(i64 which) const {
    const auto chosen = read(which, keys_.chosen), rejected = read(which, keys_.rejected);
    preference_example x;
    if (chosen.is_chat != rejected.is_chat)
      throw in_.error(which, keys_.rejected,
                      "one answer is a list of messages, and the other a text: write both in one way");
    if (in_.has(keys_.prompt) && in_.find(which, keys_.prompt)) {
      const auto prompt = read(which, keys_.prompt);
      if (prompt.is_chat != chosen.is_chat)
        throw in_.error(
            which, keys_.chosen,
            "of the prompt and the answers some are lists of messages, and some texts: write all in "
            "one way");
      x.prompt = prompt.text, x.messages = prompt.messages;
    } else {
      if (!chosen.is_chat)
        throw in_.error(which, keys_.prompt,
                        "there is none: texts have a prompt, which may be in the answers "
                        "only where they are lists of messages");
      x.messages = chosen.messages;
      if (!x.messages.empty()) x.messages.pop_back();
      if (rejected.messages.size() != chosen.messages.size() ||
          !std::equal(x.messages.begin(), x.messages.end(), rejected.messages.begin(),
                      [](const chat_message& a, const chat_message& b) {
                        return a.role == b.role && a.content == b.content;
                      }))
        throw in_.error(
            which, keys_.rejected,
            "its messages before the last are not those of the chosen answer: the prompt of both is "
            "one");
    }
    x.chosen = answer(which, keys_.chosen, chosen, x.messages.size());
    x.rejected = answer(which, keys_.rejected, rejected, x.messages.size());
    return x;
  }
  /// A mistake in a field of an example, to be thrown.
  file_error error(i64 which, const std::string& why) const { return in_.error(which, keys_.prompt, why); }

 private:
  struct content {
    bool is_chat = false;
    std::string text = {};
    std::vector<chat_message> messages = {};
  };
  /// A text, or what is a list of messages in JSON.
  content read(i64 which, const std::string& key) const {
    const std::string text = in_.text(which, key);
    const nlohmann::json list =
        text.starts_with('[') ? nlohmann::json::parse(text, nullptr, false) : nlohmann::json();
    if (!list.is_array() || list.empty() || !list[0].is_object()) return {.text = in_.string(which, key)};
    content x{.is_chat = true};
    for (const nlohmann::json& m : list) {
      if (!m.is_object() || !m.contains("role") || !m["role"].is_string() || !m.contains("content") ||
          !m["content"].is_string())
        throw in_.error(
            which, key,
            fmt::format("message {} should have a text 'role' and a text 'content'", x.messages.size() + 1));
      x.messages.push_back({m["role"].get<std::string>(), m["content"].get<std::string>()});
    }
    return x;
  }
  /// The answer, the last of some messages behind those of the prompt, if they have them too.
  std::string answer(i64 which, const std::string& key, const content& x, std::size_t before) const {
    if (!x.is_chat) {
      if (x.text.empty()) throw in_.error(which, key, "the answer is empty");
      return x.text;
    }
    const bool has_prompt = x.messages.size() == before + 1, is_alone = x.messages.size() == 1;
    if ((!has_prompt && !is_alone) || x.messages.back().role != "assistant")
      throw in_.error(which, key, "an answer is one message of the assistant, behind those of the prompt");
    return x.messages.back().content;
  }

  records in_;
  preference_keys keys_;
};

}  // namespace wsl::ml
