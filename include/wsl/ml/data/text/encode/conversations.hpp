// SPDX-License-Identifier: MIT
// Chats of several turns as documents of a decoder, for instruction tuning. The model learns the answers,
// all of them, and the token that ends each; the targets of all other tokens are decoder::no_label. Which
// tokens these are is found with the form of the chats (chat_form.hpp): a chat is rendered up to an answer,
// as the model is asked, and with the answer, and the tokens of both are compared with those of the whole
// chat. A chat that is too long loses its first questions with their answers, and keeps the message of the
// system.
//   conversations chats({.length = 1024, .padding = 50256}, chat_form_of(template, tokenizer));
//   chats.add(chat_list(records({"chats.jsonl"})));
//   packed_documents packed(chats.documents(), {.length = 1024, .padding = 50256});
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../documents.hpp"
#include "../chat_list.hpp"
#include "chat_form.hpp"

namespace wsl::ml {

struct conversation_settings {
  int length = 0;   ///< tokens of a sequence, of which each but the end of the last answer is an input
  i32 padding = 0;  ///< the token behind a chat that has a sequence of its own
};

class conversations {
 public:
  /// An answer in the tokens of a chat, with its end.
  struct answer {
    std::size_t begin = 0, end = 0;
    friend bool operator==(const answer&, const answer&) = default;
  };

  /// Throws std::invalid_argument for a length below 1, and if the end of an answer is not one token.
  conversations(const conversation_settings& how, chat_form form) : how_(how), form_(std::move(form)) {
    if (how.length < 1)
      throw std::invalid_argument(fmt::format("wsl: a sequence has at least one token, not {}", how.length));
    const std::vector<i32> end = form_.encode(form_.end);
    if (form_.end.empty() || end.size() != 1)
      throw std::invalid_argument(
          fmt::format("wsl: the end of an answer, '{}', is {} tokens: it is one by which a writer stops",
                      form_.end, end.size()));
    end_ = end.front();
  }

  /// Adds a chat: perhaps a message of the system, then questions and answers in turn. A question without
  /// an answer at the end is left out. Returns whether the chat has room: one whose last question and
  /// answer are too long, with the message of the system, is left out. Throws std::invalid_argument if it
  /// has no answer, for messages that the form does not have, for one that has the end of an answer in its
  /// content, and if the text of a chat does not go on as it begins.
  bool add(std::vector<chat_message> messages) {
    while (!messages.empty() && messages.back().role != "assistant") messages.pop_back();
    if (messages.empty()) throw std::invalid_argument("wsl: the chat has no answer to learn");
    for (std::size_t k = 0; k < messages.size(); ++k)
      if (messages[k].content.find(form_.end) != std::string::npos)
        throw std::invalid_argument(fmt::format(
            "wsl: message {}: its content has '{}', which ends an answer: leave that out", k + 1, form_.end));
    // The fewest turns that have to go.
    const std::size_t first = messages[0].role == "system", turns = (messages.size() - first) / 2;
    const auto room = static_cast<std::size_t>(how_.length) + 1;
    const auto without = [&](std::size_t lost) {
      std::vector<chat_message> kept(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(first));
      kept.insert(kept.end(), messages.begin() + static_cast<std::ptrdiff_t>(first + 2 * lost),
                  messages.end());
      return kept;
    };
    const auto fits = [&](std::size_t lost) {
      return form_.encode(up_to_end(form_.whole(without(lost)))).size() <= room;
    };
    if (turns == 0) throw std::invalid_argument("wsl: the chat has no question");
    std::size_t lost = 0;
    if (!fits(0)) {
      if (!fits(turns - 1)) return ++left_out_, false;
      std::size_t too_few = 0;
      lost = turns - 1;
      while (lost - too_few > 1) {
        const std::size_t middle = (too_few + lost) / 2;
        (fits(middle) ? lost : too_few) = middle;
      }
    }
    chat x = encoded(without(lost));
    if (lost > 0) ++cut_, turns_lost_ += static_cast<i64>(lost);
    answers_ += std::ssize(x.answers);
    for (const answer& a : x.answers) targets_ += static_cast<i64>(a.end - a.begin);
    largest_ = std::max(largest_, *std::max_element(x.tokens.begin(), x.tokens.end()));
    all_->push_back(std::move(x));
    return true;
  }
  /// Adds all chats of files. Throws file_error, with the file, the line and the field, for what `add`
  /// refuses.
  void add(const chat_list& from) {
    for (i64 i = 0; i < from.count(); ++i) {
      try {
        add(from.messages(i));
      } catch (const std::invalid_argument& e) { throw from.error(i, without_name(e.what())); }
    }
  }

  i64 count() const { return std::ssize(*all_); }
  /// Chats that have lost turns, and these turns; chats that have been left out.
  i64 cut() const { return cut_; }
  i64 turns_lost() const { return turns_lost_; }
  i64 left_out() const { return left_out_; }
  /// Answers, and the tokens that are learnt.
  i64 answers() const { return answers_; }
  i64 targets() const { return targets_; }
  /// Answers whose first token has the end of the prompt in it, since the tokenizer divides the text so. It
  /// is learnt with the answer, but a model that is asked does not see the prompt so.
  i64 joined() const { return joined_; }
  /// The largest token, and the one that ends an answer.
  i32 largest() const { return largest_; }
  i32 end() const { return end_; }
  /// "100 chats, 230 answers of 1234 tokens; 3 chats are too long and have lost their first 5 turns"
  std::string about() const {
    std::string text = fmt::format("{} chats, {} answers of {} tokens", count(), answers_, targets_);
    if (cut_)
      text +=
          fmt::format("; {} chats are too long and have lost {} turns at their beginning", cut_, turns_lost_);
    if (left_out_)
      text += fmt::format("; {} are left out, whose last question and answer have no room", left_out_);
    if (joined_)
      text += fmt::format("; the first token of {} answers has the end of the prompt in it", joined_);
    return text;
  }

  /// The tokens of a chat, and its answers in them.
  std::span<const i32> tokens(i64 which) const { return (*all_)[static_cast<std::size_t>(which)].tokens; }
  const std::vector<answer>& answers(i64 which) const {
    return (*all_)[static_cast<std::size_t>(which)].answers;
  }

  /// A chat in each sequence, and padding; the chats as documents, several of which may share a sequence
  /// (packed_documents.hpp).
  dataset data() const { return padded_documents(documents(), how_.length, how_.padding); }
  ml::documents documents() const {
    return {.count = count(),
            .length =
                [all = all_](i64 which) {
                  return static_cast<int>((*all)[static_cast<std::size_t>(which)].tokens.size()) - 1;
                },
            .get =
                [all = all_](i64 which, std::span<i32> ids, std::span<i32> targets) {
                  const chat& x = (*all)[static_cast<std::size_t>(which)];
                  std::copy_n(x.tokens.begin(), ids.size(), ids.begin());
                  std::fill(targets.begin(), targets.end(), decoder::no_label);
                  for (const answer& a : x.answers)
                    for (std::size_t t = a.begin; t < a.end; ++t) targets[t - 1] = x.tokens[t];
                }};
  }

 private:
  struct chat {
    std::vector<i32> tokens = {};
    std::vector<answer> answers = {};
  };

  static std::string without_name(std::string_view why) {
    constexpr std::string_view name = "wsl: ";
    return std::string(why.substr(why.starts_with(name) ? name.size() : 0));
  }
  /// The text of a chat up to the end of its last answer; what a form writes behind it is of the next
  /// message.
  std::string up_to_end(std::string text) const {
    const std::size_t at = text.rfind(form_.end);
    if (at == std::string::npos)
      throw std::invalid_argument(
          fmt::format("wsl: the form of chats does not write '{}' behind an answer", form_.end));
    text.resize(at + form_.end.size());
    return text;
  }
  /// Where the tokens of a part of a chat part from those of the whole chat.
  static std::size_t common(const std::vector<i32>& part, const std::vector<i32>& whole) {
    return static_cast<std::size_t>(
        std::mismatch(part.begin(), part.end(), whole.begin(), whole.end()).first - part.begin());
  }

  chat encoded(const std::vector<chat_message>& messages) {
    const std::string text = up_to_end(form_.whole(messages));
    chat x{.tokens = form_.encode(text)};
    for (std::size_t k = 0; k < messages.size(); ++k) {
      if (messages[k].role != "assistant") continue;
      const auto at = messages.begin() + static_cast<std::ptrdiff_t>(k);
      const std::string before = form_.prompt({messages.begin(), at}),
                        with = up_to_end(form_.whole({messages.begin(), at + 1}));
      if (!with.starts_with(before) || !text.starts_with(with))
        throw std::invalid_argument(
            fmt::format("wsl: message {}: the form of chats writes what is before an answer otherwise when "
                        "the chat goes on, so nobody can say which tokens are the answer's: take a template "
                        "that only appends",
                        k + 1));
      const std::vector<i32> asked = form_.encode(before), told = form_.encode(with);
      const answer a{common(asked, x.tokens), common(told, x.tokens)};
      if (told.empty() || a.end != told.size() || told.back() != end_)
        throw std::invalid_argument(
            fmt::format("wsl: message {}: the token '{}' behind the answer is another one in the chat, since "
                        "the tokenizer joins it with its neighbours: take a token that stays whole",
                        k + 1, form_.end));
      if (a.begin == 0 || a.begin >= a.end)
        throw std::invalid_argument(
            fmt::format("wsl: message {}: no token stands before the answer, by which the model would be "
                        "asked for it",
                        k + 1));
      if (a.begin < asked.size()) ++joined_;
      x.answers.push_back(a);
    }
    return x;
  }

  conversation_settings how_;
  chat_form form_;
  i32 end_ = 0;
  std::shared_ptr<std::vector<chat>> all_ = std::make_shared<std::vector<chat>>();
  i64 cut_ = 0, turns_lost_ = 0, left_out_ = 0, answers_ = 0, targets_ = 0, joined_ = 0;
  i32 largest_ = 0;
};

}  // namespace wsl::ml
