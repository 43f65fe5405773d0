// SPDX-License-Identifier: MIT
#include "chats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
using wsl::i32;
using wsl::i64;

constexpr const char *form_fact = "chats.form", *end_fact = "chats.end", *plain_name = "plain";

ml::chat_list list_of(const std::string& where, const char* section, const std::string& key) {
  if (where.empty())
    throw std::invalid_argument(
        fmt::format("{}.data_dir is missing: name a file of chats (.jsonl) or a folder", section));
  return ml::chat_list(ml::records(ml::files_of({where}, {".jsonl", ".csv", ".tsv"})), key);
}

/// Of characters the end of a line is that of an answer, so messages have none.
std::vector<ml::chat_message> as_lines(std::vector<ml::chat_message> all, bool of_characters) {
  if (of_characters)
    for (ml::chat_message& m : all) std::ranges::replace(m.content, '\n', ' ');
  return all;
}

struct named_form {
  ml::chat_form form;
  std::string name;
};
named_form form_of(const chat_words& asked, bool of_characters, const vocabulary& words) {
  const std::string& folder = asked.words.tokenizer_dir;
  if (of_characters) {
    ml::plain_chat plain;
    plain.end = "\n";
    end_of(asked.words, true, words, {});  // refuses a token by name
    return {ml::chat_form_of(plain,
                             [words, asked](std::string_view text) {
                               try {
                                 return words.encode(text);
                               } catch (const ml::unknown_character& e) {
                                 throw std::invalid_argument(lacks(e, words, asked.words, "chats"));
                               }
                             }),
            plain_name};
  }
  const std::shared_ptr<const ml::tokenizer> by = words.tokens();
  if (ml::chat_template::is_in(folder)) {
    if (!asked.words.end_token.empty())
      throw std::invalid_argument(fmt::format(
          "train_input.end_token is {}, and the chat template in {} says what ends an answer: leave it out",
          asked.words.end_token, folder));
    const ml::chat_template chat = ml::chat_template::of_folder(folder, *by);
    return {ml::chat_form_of(chat, by), std::string(name_of(chat.format()))};
  }
  ml::plain_chat plain;
  for (const i32 id : words.begin_tokens()) plain.begin += by->token(id);
  plain.end = by->token(end_of(asked.words, false, words, asked.kept_end));
  return {ml::chat_form_of(
              plain, [by](std::string_view text) { return by->encode(text, {.add_special_tokens = false}); }),
          plain_name};
}

/// The sentence of a mistake, in the line of a chat.
ml::file_error placed(const ml::chat_list& from, i64 which, std::string_view why) {
  if (why.starts_with("wsl: ")) why.remove_prefix(5);
  return from.error(which, why);
}

ml::conversations encoded(const ml::chat_list& from, ml::chat_form form, int length, i32 end,
                          bool of_characters, const std::string& where) {
  ml::conversations all({.length = length, .padding = end}, std::move(form));
  for (i64 i = 0; i < from.count(); ++i) {
    std::vector<ml::chat_message> chat = as_lines(from.messages(i), of_characters);
    try {
      all.add(std::move(chat));
    } catch (const std::invalid_argument& e) { throw placed(from, i, e.what()); }
  }
  if (all.count() == 0)
    throw ml::file_error(fmt::format(
        "wsl: {}: the last question and answer of no chat have room: take a larger max_sequence_length",
        where));
  return all;
}

/// What a form writes between a prompt and the answer, such as a blank.
std::string before_answer(const ml::chat_form& form) {
  const std::vector<ml::chat_message> question{{"user", "?"}};
  std::vector<ml::chat_message> chat = question;
  chat.push_back({"assistant", "!"});
  const std::string asked = form.prompt(question), whole = form.whole(chat);
  const std::size_t at = whole.find('!', asked.size());
  return whole.starts_with(asked) && at != whole.npos ? whole.substr(asked.size(), at - asked.size()) : "";
}

/// The tokens of a question that leave room for an answer, without the first turns if there is too little;
/// none if there is too little for the question alone. The number of turns that are lost is added to `lost`.
std::vector<i32> fitting(const ml::chat_form& form, std::vector<ml::chat_message> messages, i64 room,
                         i64& lost) {
  const auto first = messages.begin() + (messages[0].role == "system");
  for (i64 gone = 0;; ++gone) {
    std::vector<i32> tokens = form.encode(form.prompt(messages));
    if (std::ssize(tokens) <= room) return lost += gone, tokens;
    if (messages.end() - first <= 2) return {};
    messages.erase(first, first + 2);
  }
}

}  // namespace

ml::text_by_name chat_marks::facts() const { return {{form_fact, form}, {end_fact, std::to_string(end)}}; }

bool chat_marks::is_plain() const { return form == plain_name; }

std::optional<chat_marks> chat_marks::of(const std::string& checkpoint) {
  const ml::checkpoint c(checkpoint);
  if (!c.facts().contains(form_fact)) return {};
  return chat_marks{.form = c.fact(form_fact), .end = c.whole_number<i32>(end_fact)};
}

std::optional<chat_marks> chat_marks::from(const ml::text_by_name& facts) {
  if (!facts.contains(form_fact)) return {};
  return chat_marks{.form = facts.at(form_fact), .end = std::stoi(facts.at(end_fact))};
}

void require_same_form(const std::string& checkpoint, const chat_marks& ours) {
  const std::optional<chat_marks> theirs = chat_marks::of(checkpoint);
  if (theirs && (theirs->form != ours.form || theirs->end != ours.end))
    throw std::invalid_argument(
        fmt::format("{} was trained on chats in the form {}, whose answers end with token {}, and these "
                    "params have {} and {}: go on with the tokenizer and the end_token of the run",
                    checkpoint, theirs->form, theirs->end, ours.form, ours.end));
}

chat_text read_chats(const chat_words& asked) {
  const bool of_characters = are_characters(asked.words);
  const ml::chat_list train = list_of(asked.train, "train_input", asked.key),
                      held_out = list_of(asked.held_out, "eval_input", asked.held_out_key);
  std::string letters = "\n";
  if (of_characters) {
    const ml::plain_chat plain;
    letters += plain.system + plain.user + plain.assistant + " ";
    for (i64 i = 0; i < train.count(); ++i)
      for (const ml::chat_message& m : as_lines(train.messages(i), true)) letters += m.content;
  }
  const vocabulary words = words_for(asked.words, of_characters, letters);
  const named_form by = form_of(asked, of_characters, words);
  const i32 end = ml::conversations({.length = asked.length}, by.form).end();
  ml::conversations a = encoded(train, by.form, asked.length, end, of_characters, asked.train),
                    b = encoded(held_out, by.form, asked.held_out_length, end, of_characters, asked.held_out);
  std::string about =
      fmt::format("{}, in the form {}: {}; held out: {}", asked.train, by.name, a.about(), b.about());
  return {.train = std::move(a),
          .held_out = std::move(b),
          .words = words,
          .marks = {.form = by.name, .end = end},
          .about = std::move(about)};
}

std::pair<prompts, chat_marks> questions_of(const chat_words& asked, int max_new_tokens) {
  const bool of_characters = are_characters(asked.words);
  const ml::chat_list chats = list_of(asked.held_out, "eval_input", asked.held_out_key);
  const vocabulary words = words_for(asked.words, of_characters, "\n");
  const named_form by = form_of(asked, of_characters, words);
  const i32 end = ml::conversations({.length = asked.held_out_length}, by.form).end();
  prompts all{.end = end, .words = words, .before = before_answer(by.form), .length = asked.held_out_length};
  std::vector<ml::chat_question> questions;
  std::vector<i64> answers;  // tokens of each
  bool has_answers = false;
  for (i64 i = 0; i < chats.count(); ++i) {
    ml::chat_question q = chats.question(i);
    q.messages = as_lines(std::move(q.messages), of_characters);
    has_answers |= q.answer.has_value();
    answers.push_back(q.answer ? std::ssize(by.form.encode(all.before + *q.answer)) : 0);
    all.longest = std::max(all.longest, answers.back() + 1);
    questions.push_back(std::move(q));
  }
  if (max_new_tokens) all.longest = max_new_tokens;
  else if (!has_answers) all.longest = std::max(1, asked.held_out_length / 2);
  // The last token that is written is not read any more.
  const i64 room = asked.held_out_length + 1 - all.longest;
  if (room < 1)
    throw std::invalid_argument(
        fmt::format("an answer of {} tokens leaves no room for a question in sequences of {}: take a smaller "
                    "max_new_tokens",
                    all.longest, asked.held_out_length));
  i64 lost = 0;
  for (i64 i = 0; i < chats.count(); ++i) try {
      ml::chat_question& q = questions[static_cast<std::size_t>(i)];
      const i64 before = lost;
      std::vector<i32> tokens = fitting(by.form, q.messages, room, lost);
      if (tokens.empty()) {
        ++all.left_out;
        continue;
      }
      all.cut += lost > before;
      nlohmann::ordered_json line = chats.fields(i);
      for (const char* ours : {"prediction", "completion"})
        if (line.contains(ours))
          throw std::invalid_argument(
              fmt::format("the record has a field '{}', which is written here: rename it", ours));
      if (!line.contains("index")) line["index"] = i;
      all.all.push_back({.tokens = std::move(tokens),
                         .right = std::move(q.answer),
                         .right_tokens = answers[static_cast<std::size_t>(i)],
                         .line = std::move(line)});
    } catch (const ml::file_error&) { throw; } catch (const std::invalid_argument& e) {
      throw placed(chats, i, e.what());
    }
  if (all.all.empty())
    throw ml::file_error(
        fmt::format("wsl: {}: no question leaves room for an answer of {} tokens in {}: take "
                    "a smaller max_new_tokens, or a model with longer sequences",
                    asked.held_out, all.longest, asked.held_out_length));
  return {std::move(all), chat_marks{.form = by.name, .end = end}};
}

}  // namespace gpt_app
