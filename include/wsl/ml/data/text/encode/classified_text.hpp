// SPDX-License-Identifier: MIT
// Classes of texts and of pairs of texts, such as those of GLUE: a column has the text, another the second
// one, a third the class. Batches have "input_ids", "attention_mask", "token_type_ids" and one of "labels"
// for each example.
//   {.files = {"sst2/train.tsv"}, .first = "sentence", .label = "label"}
#pragma once
#include "../masking.hpp"
#include "../records.hpp"
#include "sequences.hpp"
#include "text_survey.hpp"

namespace wsl::ml {

struct classified_text {
  std::vector<std::string> files;         ///< .tsv, .csv or .jsonl
  std::string first = {}, second = {};    ///< columns of the texts; without a second one there is one text
  std::string label = {};                 ///< the column of the class
  std::vector<std::string> classes = {};  ///< empty: the labels of the files, in the order of their names
  int max_sequence_length = 128;
  bool may_lack_labels = false;  ///< a text may have no class, which is then the label -100
};

namespace detail {

/// The labels that are in use; numbers count from 0 and are in the order of their values.
inline label_map labels_in(const records& all, const std::string& column) {
  std::vector<std::string> names;
  for (i64 i = 0; i < all.count(); ++i) {
    names.push_back(all.text(i, column));
    if (names.back().empty())
      throw all.error(i, column, "the label is empty: name a class, or leave the example out");
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    const auto number = [](const std::string& x) {
      return !x.empty() && x.size() < 10 && x.find_first_not_of("0123456789") == std::string::npos;
    };
    return number(a) && number(b) ? std::stol(a) < std::stol(b) : a < b;
  });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return label_map(std::move(names));
}
/// The number of the class of each example. Throws file_error for a label that is no class.
inline std::vector<i32> numbers_of_labels(const records& all, const std::string& column,
                                          const label_map& classes, bool may_lack) {
  std::vector<i32> numbers;
  for (i64 i = 0; i < all.count(); ++i) {
    if (may_lack && !all.find(i, column)) {
      numbers.push_back(ignored_label);
      continue;
    }
    const std::string label = all.text(i, column);
    const auto number = classes.find(label);
    if (!number)
      throw all.error(i, column,
                      fmt::format("there is no class '{}' among {}: correct the label, or name the classes",
                                  label, classes.text()));
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace detail

/// Throws file_error for files that cannot be read and labels that are no class, std::invalid_argument for
/// settings that do not fit.
inline text_task classification_of(const classified_text& how, const tokenizer& by) {
  const special_tokens special = special_tokens::of(by);
  const bool pair = !how.second.empty();
  check_length(how.max_sequence_length, special, pair);
  const auto all = std::make_shared<const records>(how.files);
  label_map classes = how.classes.empty() ? detail::labels_in(*all, how.label) : label_map(how.classes);
  const auto labels = std::make_shared<const std::vector<i32>>(
      detail::numbers_of_labels(*all, how.label, classes, how.may_lack_labels));
  const auto encode = std::make_shared<const piece_encoder>(by);
  for (const std::string* column : {&how.first, &how.second})
    if (!column->empty()) all->text(0, *column);
  const int room = how.max_sequence_length - special.around(pair);
  text_survey survey(by.token(special.unknown), special.unknown);
  for (i64 i = 0; i < all->count() && !survey.is_full(); ++i) {
    const std::vector<text_piece> first = (*encode)(all->text(i, how.first)),
                                  second =
                                      pair ? (*encode)(all->text(i, how.second)) : std::vector<text_piece>();
    survey.add_unknown(first), survey.add_unknown(second);
    survey.add_example(std::ssize(first) + std::ssize(second) > room);
  }
  text_task t;
  t.vocabulary = by.size(), t.token_types = special.types(pair);
  t.about = fmt::format("{} {} of {} classes: {}{}", all->count(), pair ? "pairs of texts" : "texts",
                        classes.count(), classes.text(),
                        survey.text(all->count(), "max_sequence_length", how.max_sequence_length));
  t.classes = std::move(classes);
  t.data.count = all->count(), t.data.length = how.max_sequence_length;
  t.data.named = encoder_fields(how.max_sequence_length);
  t.data.named.push_back({"labels", 1});
  t.source = [all, pair, how](i64 which) {
    text_source x{{all->text(which, how.first)}, {}};
    if (pair) x.texts.push_back(all->text(which, how.second));
    if (auto label = all->find(which, how.label)) x.labels.push_back(std::move(*label));
    return x;
  };
  t.data.get = [all, labels, encode, special, pair, room, how](i64 which, const example& to) {
    std::vector<text_piece> first = (*encode)(all->text(which, how.first)), second;
    if (pair) second = (*encode)(all->text(which, how.second));
    shorten(first, second, room);
    put(to, pair ? sequence_of(special, first, second) : sequence_of(special, first), special);
    to.named[3][0] = (*labels)[static_cast<std::size_t>(which)];
  };
  return t;
}

}  // namespace wsl::ml
