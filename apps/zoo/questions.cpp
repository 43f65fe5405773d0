// SPDX-License-Identifier: MIT
#include "questions.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <wsl/ml/io/input_file.hpp>

#include "../files.hpp"

namespace zoo_app {
namespace {

using nlohmann::json;

/// A mistake in a line; read_questions adds where it is.
struct mistake {
  std::string what;
};

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string())
    throw mistake{"'" + std::string(name) + "' should be a text"};
  return found->get<std::string>();
}
std::vector<std::string> texts_in(const json& array, const char* name) {
  std::vector<std::string> all;
  if (array.is_array())
    for (const json& x : array)
      if (x.is_string()) all.push_back(x.get<std::string>());
  if (all.size() < 2 || all.size() != array.size())
    throw mistake{"'" + std::string(name) + "' should be a list of two texts or more"};
  return all;
}
std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}
std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// HellaSwag's texts have traces of their source, WikiHow: titles and notes in brackets.
std::string without_traces(const std::string& text) {
  std::string clean = replaced(trimmed(text), " [title]", ". ");
  for (std::size_t open = clean.find('['); open != std::string::npos; open = clean.find('[', open)) {
    const std::size_t close = clean.find(']', open);
    if (close == std::string::npos) break;
    clean.erase(open, close - open + 1);
  }
  return replaced(clean, "  ", " ");
}
/// As Python's str.capitalize, of ASCII.
std::string capitalized(std::string text) {
  const auto is_in = [](char c, char a, char z) { return c >= a && c <= z; };
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i == 0 ? is_in(text[i], 'a', 'z') : is_in(text[i], 'A', 'Z'))
      text[i] = static_cast<char>(text[i] ^ 0x20);
  return text;
}

question of_hellaswag(const json& line) {
  const std::string context = line.contains("ctx_a") && line.contains("ctx_b")
                                  ? text_in(line, "ctx_a") + " " + capitalized(text_in(line, "ctx_b"))
                                  : text_in(line, "ctx");
  const std::string activity = line.contains("activity_label") ? text_in(line, "activity_label") + ": " : "";
  question q{.context = without_traces(activity + context), .answers = {}};
  for (const std::string& ending : texts_in(line["endings"], "endings"))
    q.answers.push_back(" " + without_traces(ending));
  const json label = line.value("label", json());
  const std::string word = label.is_string() ? label.get<std::string>() : label.dump();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (word.empty() || word.size() > 3 || !std::all_of(word.begin(), word.end(), is_digit) ||
      std::stoul(word) >= q.answers.size())
    throw mistake{"'label' should be the number of an ending, from 0 to " +
                  std::to_string(q.answers.size() - 1)};
  q.right = std::stoi(word);
  return q;
}

/// Choices are lists {"text": [...], "label": [...]}, or objects of both, with the question in "stem".
question of_arc(const json& line) {
  const json& asked = line["question"];
  const json& choices = asked.is_object() ? asked.value("choices", json()) : line.value("choices", json());
  question q{
      .context = "Question: " + (asked.is_object() ? text_in(asked, "stem") : text_in(line, "question")) +
                 "\nAnswer:",
      .answers = {}};
  json texts = json::array(), labels = json::array();
  if (choices.is_array())
    for (const json& c : choices) {
      if (!c.is_object()) throw mistake{"'choices' should have objects with 'text' and 'label'"};
      texts.push_back(text_in(c, "text")), labels.push_back(text_in(c, "label"));
    }
  else if (choices.is_object())
    texts = choices.value("text", json()), labels = choices.value("label", json());
  for (const std::string& text : texts_in(texts, "choices")) q.answers.push_back(" " + text);
  const auto names = texts_in(labels, "label");
  const auto key = std::find(names.begin(), names.end(), text_in(line, "answerKey"));
  if (names.size() != q.answers.size() || key == names.end())
    throw mistake{"'answerKey' should be the label of a choice"};
  q.right = static_cast<int>(key - names.begin());
  return q;
}

question of_lambada(const json& line) {
  const std::string text = text_in(line, "text");
  const std::size_t blank = text.rfind(' ');
  if (text.empty() || blank + 1 == text.size()) throw mistake{"'text' should end with a word"};
  if (blank == std::string::npos) return {.context = "", .answers = {" " + text}};
  return {.context = text.substr(0, blank), .answers = {text.substr(blank)}};
}

json parsed(const std::string& text) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    // "[...] parse error at line 1, column 9: syntax error while parsing value - invalid string: ...; last
    // read: ..."
    std::string why = e.what();
    why = why.substr(0, why.find("; last read"));
    if (const std::size_t at = why.find(" - "); at != std::string::npos) why.erase(0, at + 3);
    throw mistake{"there should be a JSON object, and byte " + std::to_string(e.byte) + " ends it: " + why};
  }
}

question question_of(const std::string& text) {
  const json line = parsed(text);
  if (!line.is_object()) throw mistake{"there should be a JSON object"};
  if (line.contains("endings")) return of_hellaswag(line);
  if (line.contains("question")) return of_arc(line);
  if (line.contains("text")) return of_lambada(line);
  throw mistake{"there is neither 'endings' (HellaSwag) nor 'question' (ARC) nor 'text' (LAMBADA)"};
}

}  // namespace

std::vector<question> read_questions(const std::string& file, int limit) {
  std::istringstream in(app::read_file(file));
  std::vector<question> all;
  int number = 0;
  for (std::string line; std::getline(in, line) && (!limit || static_cast<int>(all.size()) < limit);) {
    ++number;
    if (trimmed(line).empty()) continue;
    try {
      all.push_back(question_of(line));
      all.back().place = file + ":" + std::to_string(number);
    } catch (const mistake& m) {
      throw wsl::ml::file_error(file + ":" + std::to_string(number) + ": " + m.what);
    }
  }
  if (all.empty())
    throw wsl::ml::file_error(file + " has no questions: give a file with a JSON object in each line");
  return all;
}

}  // namespace zoo_app
