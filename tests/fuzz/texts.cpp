// SPDX-License-Identifier: MIT
// The readers of files of text: tables, lists, tagged words and questions with their answers.
#include <wsl/ml/data/text/delimited.hpp>
#include <wsl/ml/data/text/squad.hpp>
#include <wsl/ml/data/text/tagged_words.hpp>
#include <wsl/ml/data/text/text_list.hpp>

#include "fuzz.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using namespace fuzz;

// A table that has been read is the same when it is written with all fields in quotes.
void csv(std::string_view bytes) {
  const memory_file f(bytes);
  const delimited_file in(f.name(), csv_form);
  const auto quoted = [](const std::string& field) {
    std::string all = "\"";
    for (char c : field) all += c == '"' ? "\"\"" : std::string(1, c);
    return all + "\"";
  };
  std::string written;
  const auto add = [&](const std::string& field, std::size_t column) {
    written += (column ? "," : "") + quoted(field) + (column + 1 == in.columns().size() ? "\n" : "");
  };
  for (std::size_t c = 0; c < in.columns().size(); ++c) add(in.columns()[c], c);
  for (i64 row = 0; row < in.count(); ++row)
    for (std::size_t c = 0; c < in.columns().size(); ++c) add(in.at(row, static_cast<int>(c)), c);
  const memory_file again(written);
  const delimited_file back(again.name(), csv_form);
  holds(back.columns() == in.columns() && back.count() == in.count());
  for (i64 row = 0; row < in.count(); ++row)
    for (int c = 0; c < static_cast<int>(in.columns().size()); ++c) holds(back.at(row, c) == in.at(row, c));
}
void tsv(std::string_view bytes) {
  const memory_file f(bytes);
  const delimited_file in(f.name(), tsv_form);
  for (i64 row = 0; row < in.count(); ++row) in.at(row, 0);
}
void lists(std::string_view bytes) {
  for (const auto& read : {+[](std::string_view x) { return numbers_of_list(x).size(); },
                           +[](std::string_view x) { return texts_of_list(x).size(); }}) {
    try {
      holds(read(bytes) <= bytes.size() + 1);
    } catch (const std::invalid_argument&) {}  // the caller says where
  }
}
void tags(std::string_view bytes) {
  const memory_file f(bytes);
  for (const tagged_sentence& s : read_tagged_words(f.name()))
    holds(!s.words.empty() && s.words.size() == s.tags.size());
}
void squad(std::string_view bytes) {
  const memory_file f(bytes);
  const squad_data d = read_squad(f.name());
  for (const squad_question& q : d.questions)
    for (const squad_answer& a : q.answers)
      holds(d.contexts.at(q.context).compare(a.begin, a.text.size(), a.text) == 0);
}

const enter table{{"csv", csv}, {"tsv", tsv}, {"list", lists}, {"tags", tags}, {"squad", squad}};
}  // namespace
