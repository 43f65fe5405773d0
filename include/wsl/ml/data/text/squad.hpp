// SPDX-License-Identifier: MIT
// Questions about paragraphs whose answers are parts of them, as SQuAD has them (arXiv:1606.05250; its second
// version, arXiv:1806.03822, has questions without an answer as well), in one file of JSON:
//   {"data": [{"paragraphs": [{"context": "...", "qas": [
//     {"id": "...", "question": "...", "answers": [{"text": "...", "answer_start": 269}]}]}]}]}
#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../utf8.hpp"

namespace wsl::ml {

struct squad_answer {
  std::string text;
  std::size_t begin = 0;  ///< its first byte in the paragraph; the file counts characters
};
struct squad_question {
  std::string id, text;
  std::size_t context = 0;            ///< the number of its paragraph
  std::vector<squad_answer> answers;  ///< none: the paragraph does not say it
  bool is_answered = true;            ///< false: the file does not say whether there is an answer
};
struct squad_data {
  std::vector<std::string> contexts;
  std::vector<squad_question> questions;
  /// The questions, by their ids, that were left out since the text of an answer is not at its place.
  std::vector<std::string> left_out;
};

namespace detail {

/// A value of a file with its place there, for messages.
struct squad_value {
  const nlohmann::json& value;
  std::string place;
  const std::string& file;

  file_error error(std::string_view why) const {
    return file_error(fmt::format("wsl: {}: {}: {}", file, place.empty() ? "the document" : place, why));
  }
  squad_value at(const char* key) const {
    const auto found = value.is_object() ? value.find(key) : value.end();
    if (!value.is_object() || found == value.end())
      throw error(fmt::format("there is no '{}': the file should have the form of SQuAD", key));
    return {*found, place.empty() ? key : place + "." + key, file};
  }
  const std::string& text(const char* key) const {
    const squad_value x = at(key);
    if (!x.value.is_string()) throw x.error("it should be a text");
    return x.value.get_ref<const std::string&>();
  }
  template <class F>
  void each(const char* key, F f) const {
    const squad_value all = at(key);
    if (!all.value.is_array()) throw all.error("it should be an array");
    for (std::size_t i = 0; i < all.value.size(); ++i)
      f(squad_value{all.value[i], fmt::format("{}[{}]", all.place, i), file});
  }
};

/// The byte at which a character begins, by its number. More than there are: npos.
inline std::size_t byte_of_character(std::string_view text, u64 number) {
  std::size_t at = 0;
  for (; number > 0 && at < text.size(); --number) next_code_point(text, at);
  return number ? std::string_view::npos : at;
}

/// Adds the answers of a question; false if the text of one is not at its place.
inline bool add_answers(const squad_value& question, const std::string& context, squad_question& to) {
  bool fits = true;
  question.each("answers", [&](const squad_value& a) {
    const squad_value start = a.at("answer_start");
    const std::string& text = a.text("text");
    if (!start.value.is_number_integer()) throw start.error("it should be a whole number");
    const std::size_t begin = start.value.is_number_unsigned()
                                  ? byte_of_character(context, start.value.get<u64>())
                                  : std::string::npos;
    if (begin == std::string::npos || text.empty() || text.size() > context.size() - begin)
      throw a.error(fmt::format("the answer '{}' at character {} lies outside of the paragraph", text,
                                start.value.dump()));
    fits = fits && context.compare(begin, text.size(), text) == 0;
    to.answers.push_back({text, begin});
  });
  return fits;
}

}  // namespace detail

/// Reads a file. A question with "is_impossible": true has no answer. Throws file_error, with the place in
/// the document, for a file of another form and for an answer outside of its paragraph. With
/// `may_lack_answers` a question may have no `answers`.
inline squad_data read_squad(const std::string& name, bool may_lack_answers = false) {
  const nlohmann::json all = nlohmann::json::parse(read_text(name), nullptr, false);
  if (all.is_discarded()) throw file_error(fmt::format("wsl: {}: it is not JSON, or it is cut short", name));
  squad_data data;
  detail::squad_value{all, "", name}.each("data", [&](const detail::squad_value& article) {
    article.each("paragraphs", [&](const detail::squad_value& paragraph) {
      data.contexts.push_back(paragraph.text("context"));
      paragraph.each("qas", [&](const detail::squad_value& q) {
        squad_question made{.id = q.text("id"),
                            .text = q.text("question"),
                            .context = data.contexts.size() - 1,
                            .answers = {}};
        const auto impossible = q.value.find("is_impossible");
        const bool is_impossible = impossible != q.value.end() && *impossible != false;
        made.is_answered = !may_lack_answers || is_impossible || q.value.contains("answers");
        if (made.is_answered && !is_impossible && !detail::add_answers(q, data.contexts.back(), made))
          data.left_out.push_back(made.id);
        else data.questions.push_back(std::move(made));
      });
    });
  });
  if (data.questions.empty()) throw file_error(fmt::format("wsl: {}: there are no questions in it", name));
  return data;
}

}  // namespace wsl::ml
