// SPDX-License-Identifier: MIT
// Tags of words, such as names of persons and places (named entities). Of a word that is several tokens the
// first has the label; the others, special tokens and padding do not count.
//   U.N. official   B-ORG O      ->   [CLS] U . N . official [SEP]
//                           labels     -   3 - - -  0        -
// Files are CoNLL's, or tables (.csv) of the Model Zoo with a column "tokens" and one of "labels", each with
// a space between its entries: there, tokens are those of the vocabulary already, special ones included, and
// each has a label. Batches have "input_ids", "attention_mask", "token_type_ids" and "labels".
#pragma once
#include "../masking.hpp"
#include "../records.hpp"
#include "../tagged_words.hpp"
#include "sequences.hpp"

namespace wsl::ml {

struct tagged_text {
  std::vector<std::string> files = {};
  label_map classes =
      {};  ///< empty: the tags of the files, "O" first and the others in the order of their names
  int max_sequence_length = 128;
};

namespace detail {

/// A sentence as tokens, each with its label.
struct labelled_tokens {
  std::vector<i32> ids, labels;
};

inline i32 number_of_tag(const label_map& classes, const std::string& tag, const std::string& file) {
  if (const auto number = classes.find(tag)) return *number;
  throw file_error(fmt::format("wsl: {}: there is no tag '{}' among {}: correct it, or name the tags", file,
                               tag, classes.text()));
}
inline labelled_tokens labelled(const tagged_sentence& s, const label_map& classes, const std::string& file,
                                const piece_encoder& encode, const special_tokens& special, int length) {
  std::vector<text_piece> pieces = encode.of_words(s.words);
  if (std::ssize(pieces) > length - special.around(false))
    pieces.resize(static_cast<std::size_t>(length - special.around(false)));
  labelled_tokens made{.ids = {special.begin}, .labels = {ignored_label}};
  i32 before = -1;
  for (const text_piece& p : pieces) {
    const std::string& tag = s.tags[static_cast<std::size_t>(p.word)];
    made.ids.push_back(p.id);
    made.labels.push_back(p.word == before ? ignored_label : number_of_tag(classes, tag, file));
    before = p.word;
  }
  made.ids.push_back(special.separator), made.labels.push_back(ignored_label);
  return made;
}

/// The rows of a table of the Model Zoo: tokens, each with a tag.
inline std::vector<tagged_sentence> tagged_rows(const std::string& file) {
  const records rows({file});
  std::vector<tagged_sentence> all;
  for (i64 i = 0; i < rows.count(); ++i) {
    all.push_back({divided(rows.text(i, "tokens")), divided(rows.text(i, "labels"))});
    if (all.back().words.size() != all.back().tags.size())
      throw rows.error(i, "labels",
                       fmt::format("there are {} labels for {} tokens: write one for each",
                                   all.back().tags.size(), all.back().words.size()));
  }
  return all;
}
inline labelled_tokens labelled_row(const tagged_sentence& s, const label_map& classes,
                                    const std::string& file, const tokenizer& by,
                                    const special_tokens& special, int length) {
  labelled_tokens made;
  for (std::size_t i = 0; i < s.words.size() && std::ssize(made.ids) < length; ++i) {
    made.ids.push_back(by.id(s.words[i]).value_or(special.unknown));
    made.labels.push_back(number_of_tag(classes, s.tags[i], file));
  }
  return made;
}

}  // namespace detail

/// All sentences are held in memory as tokens. Throws file_error for files that cannot be read and for tags
/// that are no class.
inline text_task tagging_of(const tagged_text& how, const tokenizer& by) {
  const special_tokens special = special_tokens::of(by);
  check_length(how.max_sequence_length, special, false);
  const piece_encoder encode(by);
  std::vector<tagged_sentence> sentences;
  struct source {
    std::string file;
    bool is_table;    // of tokens, not of words
    std::size_t end;  // one more than its last sentence
  };
  std::vector<source> sources;
  for (const std::string& file : how.files) {
    const bool is_table = file.ends_with(".csv");
    const std::vector<tagged_sentence> some = is_table ? detail::tagged_rows(file) : read_tagged_words(file);
    sentences.insert(sentences.end(), some.begin(), some.end());
    sources.push_back({file, is_table, sentences.size()});
  }
  const label_map classes = how.classes.count() ? how.classes : label_map(tags_of(sentences));
  auto all = std::make_shared<std::vector<detail::labelled_tokens>>();
  for (const source& from : sources)
    while (all->size() < from.end) {
      const tagged_sentence& s = sentences[all->size()];
      all->push_back(from.is_table
                         ? detail::labelled_row(s, classes, from.file, by, special, how.max_sequence_length)
                         : detail::labelled(s, classes, from.file, encode, special, how.max_sequence_length));
    }
  text_task t;
  t.vocabulary = by.size();
  t.about = fmt::format("{} sentences with {} tags: {}", all->size(), classes.count(), classes.text());
  t.classes = classes;
  t.data.count = std::ssize(*all), t.data.length = how.max_sequence_length;
  t.data.named = encoder_fields(how.max_sequence_length);
  t.data.named.push_back({"labels", how.max_sequence_length});
  t.data.get = [all, special](i64 which, const example& to) {
    const detail::labelled_tokens& s = (*all)[static_cast<std::size_t>(which)];
    detail::fill(to.named[0], s.ids, special.padding);
    detail::fill_mask(to.named[1], s.ids.size());
    detail::fill(to.named[2], {}, 0);
    detail::fill(to.named[3], s.labels, ignored_label);
  };
  return t;
}

}  // namespace wsl::ml
