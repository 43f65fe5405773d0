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
#include "text_survey.hpp"

namespace wsl::ml {

struct tagged_text {
  std::vector<std::string> files = {};
  label_map classes =
      {};  ///< empty: the tags of the files, "O" first and the others in the order of their names
  int max_sequence_length = 128;
  bool may_lack_tags = false;  ///< words may have no tags; the labels say then which tokens begin a word
  std::optional<i32> padding_tag = {};  ///< the tag of padding; none: padding does not count
};

namespace detail {

/// A sentence as tokens, each with its label.
struct labelled_tokens {
  std::vector<i32> ids, labels;
};

/// The sentences of a file with the places of their words, for messages.
struct tagged_file {
  std::string name;
  std::optional<records> rows;  // of tokens; none: the file has a word a line
  std::vector<tagged_sentence> sentences;

  file_error error(std::size_t sentence, std::size_t word, const std::string& why) const {
    if (rows) return rows->error(static_cast<i64>(sentence), "labels", why);
    return file_error(
        fmt::format("wsl: {}, line {}: {}", name, sentences[sentence].line + static_cast<i64>(word), why));
  }
  /// The number of the tag of a word; 0 if the sentence has no tags.
  i32 tag(std::size_t sentence, std::size_t word, const label_map& classes) const {
    if (sentences[sentence].tags.empty()) return 0;
    const std::string& name_of_tag = sentences[sentence].tags[word];
    if (const auto number = classes.find(name_of_tag)) return *number;
    throw error(sentence, word,
                fmt::format("there is no tag '{}' among {}: correct it, or name the tags", name_of_tag,
                            classes.text()));
  }
};

inline labelled_tokens labelled(const tagged_file& from, std::size_t sentence, const label_map& classes,
                                std::span<const text_piece> pieces, const special_tokens& special, int room) {
  labelled_tokens made{.ids = {special.begin}, .labels = {ignored_label}};
  i32 before = -1;
  for (const text_piece& p : pieces) {
    const i32 tag =
        p.word == before ? ignored_label : from.tag(sentence, static_cast<std::size_t>(p.word), classes);
    before = p.word;
    if (std::ssize(made.ids) > room) continue;  // the tags of what is left out are looked at as well
    made.ids.push_back(p.id), made.labels.push_back(tag);
  }
  made.ids.push_back(special.separator), made.labels.push_back(ignored_label);
  return made;
}

/// The rows of a table of the Model Zoo: tokens, each with a tag.
inline std::vector<tagged_sentence> tagged_rows(const records& rows, bool may_lack_tags) {
  std::vector<tagged_sentence> all;
  for (i64 i = 0; i < rows.count(); ++i) {
    all.push_back({divided(rows.text(i, "tokens")), {}});
    if (may_lack_tags && !rows.find(i, "labels")) continue;
    all.back().tags = divided(rows.text(i, "labels"));
    if (all.back().words.size() != all.back().tags.size())
      throw rows.error(i, "labels",
                       fmt::format("there are {} labels for {} tokens: write one for each",
                                   all.back().tags.size(), all.back().words.size()));
  }
  return all;
}
inline labelled_tokens labelled_row(const tagged_file& from, std::size_t sentence, const label_map& classes,
                                    std::span<const text_piece> pieces, int length) {
  labelled_tokens made;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const i32 tag = from.tag(sentence, i, classes);
    if (std::ssize(made.ids) < length) made.ids.push_back(pieces[i].id), made.labels.push_back(tag);
  }
  return made;
}
inline tagged_file read_tagged(const std::string& name, bool may_lack_tags) {
  tagged_file x{name, {}, {}};
  if (name.ends_with(".csv")) x.rows.emplace(std::vector{name});
  x.sentences = x.rows ? tagged_rows(*x.rows, may_lack_tags) : read_tagged_words(name, may_lack_tags);
  return x;
}
inline std::vector<text_piece> pieces_of_row(const tagged_sentence& s, const tokenizer& by, i32 unknown) {
  std::vector<text_piece> all;
  for (const std::string& word : s.words)
    all.push_back({by.id(word).value_or(unknown), static_cast<i32>(all.size())});
  return all;
}

}  // namespace detail

/// All sentences are held in memory as tokens. Throws file_error for files that cannot be read and for tags
/// that are no class.
inline text_task tagging_of(const tagged_text& how, const tokenizer& by) {
  const special_tokens special = special_tokens::of(by);
  check_length(how.max_sequence_length, special, false);
  const piece_encoder encode(by);
  std::vector<detail::tagged_file> files;
  const auto sentences = std::make_shared<std::vector<tagged_sentence>>();
  for (const std::string& name : how.files) {
    files.push_back(detail::read_tagged(name, how.may_lack_tags));
    const std::vector<tagged_sentence>& some = files.back().sentences;
    sentences->insert(sentences->end(), some.begin(), some.end());
  }
  const label_map classes = how.classes.count() ? how.classes : label_map(tags_of(*sentences));
  const int length = how.max_sequence_length, of_words = length - special.around(false);
  auto all = std::make_shared<std::vector<detail::labelled_tokens>>();
  text_survey survey(by.token(special.unknown), special.unknown);
  for (const detail::tagged_file& from : files)
    for (std::size_t s = 0; s < from.sentences.size(); ++s) {
      const std::vector<text_piece> pieces =
          from.rows ? detail::pieces_of_row(from.sentences[s], by, special.unknown)
                    : encode.of_words(from.sentences[s].words);
      if (!survey.is_full()) survey.add(pieces, from.rows ? length : of_words);
      all->push_back(from.rows ? detail::labelled_row(from, s, classes, pieces, length)
                               : detail::labelled(from, s, classes, pieces, special, of_words));
    }
  text_task t;
  t.vocabulary = by.size();
  t.about = fmt::format("{} sentences with {} tags: {}{}", all->size(), classes.count(), classes.text(),
                        survey.text(std::ssize(*all), "max_sequence_length", length));
  t.classes = classes;
  t.source = [sentences](i64 which) {
    const tagged_sentence& s = (*sentences)[static_cast<std::size_t>(which)];
    return text_source{s.words, s.tags};
  };
  t.data.count = std::ssize(*all), t.data.length = how.max_sequence_length;
  t.data.named = encoder_fields(how.max_sequence_length);
  t.data.named.push_back({"labels", how.max_sequence_length});
  const i32 of_padding = how.padding_tag.value_or(ignored_label);
  t.data.get = [all, special, of_padding](i64 which, const example& to) {
    const detail::labelled_tokens& s = (*all)[static_cast<std::size_t>(which)];
    detail::fill(to.named[0], s.ids, special.padding);
    detail::fill_mask(to.named[1], s.ids.size());
    detail::fill(to.named[2], {}, 0);
    detail::fill(to.named[3], s.labels, of_padding);
  };
  return t;
}

}  // namespace wsl::ml
