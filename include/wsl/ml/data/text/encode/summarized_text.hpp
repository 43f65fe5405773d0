// SPDX-License-Identifier: MIT
// Extractive summaries, as BertSum makes them (arXiv:1903.10318): each sentence of a document begins with a
// [CLS] of its own, whose label says whether the sentence is part of the summary; segments alternate.
//   [CLS] first sentence [SEP] [CLS] second sentence [SEP] [CLS] third sentence [SEP]
//   types   0 0 0 0              1 1 1 1                     0 0 0 0
//   labels  1 - - -              0 - - -                     1 - - -
// Files are tables (.csv) of the Model Zoo, with lists of numbers in the columns "input_token_ids", "labels",
// "segment_ids" and "cls_indices", or objects (.jsonl) with a list of texts "sentences" and a list of numbers
// "labels". Batches have "input_ids", "attention_mask", "token_type_ids" and "labels", one for each token.
#pragma once
#include "../masking.hpp"
#include "../records.hpp"
#include "sequences.hpp"
#include "text_survey.hpp"

namespace wsl::ml {

struct summarized_text {
  std::vector<std::string> files = {};
  int max_sequence_length = 512;
  int max_cls_tokens = 50;       ///< sentences of a document; those behind them do not count
  bool may_lack_labels = false;  ///< a document may have none; the labels say then where sentences begin
};

namespace detail {

/// A document as its tokens, and the label of each.
struct labelled_sentences {
  token_sequence tokens;
  std::vector<i32> labels;
};

/// Cuts a document to a length and a number of sentences.
inline void cut(labelled_sentences& x, const summarized_text& how) {
  const auto most = static_cast<std::size_t>(how.max_sequence_length);
  if (x.tokens.ids.size() > most)
    x.tokens.ids.resize(most), x.tokens.types.resize(most), x.labels.resize(most);
  int sentences = 0;
  for (i32& label : x.labels)
    if (label != ignored_label && sentences++ >= how.max_cls_tokens) label = ignored_label;
}
inline void check_summary_labels(const records& all, i64 which, std::span<const i32> labels) {
  for (const i32 label : labels)
    if (label != 0 && label != 1)
      throw all.error(which, "labels",
                      fmt::format("a sentence is part of the summary (1) or not (0), not {}", label));
}

/// The labels of the sentences of a document; zeros if it has none and need not have any.
inline std::vector<i32> summary_labels(const records& all, i64 which, std::size_t sentences,
                                       const summarized_text& how) {
  if (how.may_lack_labels && !all.find(which, "labels")) return std::vector<i32>(sentences);
  return all.numbers(which, "labels");
}
/// Of a table of the Model Zoo.
inline labelled_sentences summary_of_numbers(const records& all, i64 which, int vocabulary,
                                             const summarized_text& how) {
  labelled_sentences x;
  x.tokens.ids = all.numbers(which, "input_token_ids"), x.tokens.types = all.numbers(which, "segment_ids");
  const std::vector<i32> places = all.numbers(which, "cls_indices"),
                         labels = summary_labels(all, which, places.size(), how);
  const auto size = static_cast<i32>(x.tokens.ids.size());
  if (x.tokens.types.size() != x.tokens.ids.size())
    throw all.error(which, "segment_ids",
                    fmt::format("there are {} for {} tokens", x.tokens.types.size(), size));
  // A document that was cut may have labels of sentences that have gone.
  if (labels.size() < places.size())
    throw all.error(which, "labels",
                    fmt::format("there are {} for {} sentences", labels.size(), places.size()));
  for (const i32 id : x.tokens.ids)
    if (id < 0 || id >= vocabulary)
      throw all.error(which, "input_token_ids",
                      fmt::format("there is no token {} in a vocabulary of {}", id, vocabulary));
  check_summary_labels(all, which, labels);
  x.labels.assign(x.tokens.ids.size(), ignored_label);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || places[i] >= size)
      throw all.error(which, "cls_indices", fmt::format("there is no token {} among {}", places[i], size));
    x.labels[static_cast<std::size_t>(places[i])] = labels[i];
  }
  return x;
}
/// Of texts; the last sentence that has room is cut.
inline labelled_sentences summary_of_texts(const records& all, i64 which, const piece_encoder& encode,
                                           const special_tokens& special, const summarized_text& how) {
  const std::vector<std::string> sentences = all.texts(which, "sentences");
  const std::vector<i32> labels = summary_labels(all, which, sentences.size(), how);
  if (labels.size() != sentences.size())
    throw all.error(which, "labels",
                    fmt::format("there are {} labels for {} sentences: write one for each", labels.size(),
                                sentences.size()));
  check_summary_labels(all, which, labels);
  labelled_sentences x;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const int room = how.max_sequence_length - static_cast<int>(x.tokens.ids.size()) - special.around(false);
    if (room < 1 || static_cast<int>(i) == how.max_cls_tokens) break;
    std::vector<text_piece> pieces = encode(sentences[i]);
    if (std::ssize(pieces) > room) pieces.resize(static_cast<std::size_t>(room));
    const i32 type = static_cast<i32>(i % 2);
    x.tokens.add_special(special.begin, type), x.tokens.add(pieces, type),
        x.tokens.add_special(special.separator, type);
    x.labels.resize(x.tokens.ids.size(), ignored_label);
    x.labels[x.labels.size() - pieces.size() - 2] = labels[i];
  }
  return x;
}

}  // namespace detail

/// All files have the same form. Throws file_error for files that cannot be read and for lists that do not
/// belong together; those of an example when it is read.
inline text_task summaries_of(const summarized_text& how, const tokenizer& by) {
  const special_tokens special = special_tokens::of(by);
  check_length(how.max_sequence_length, special, false);
  if (how.max_cls_tokens < 1)
    throw std::invalid_argument(fmt::format("wsl: max_cls_tokens is at least 1, not {}", how.max_cls_tokens));
  const bool are_numbers = detail::all_end_with(".csv", how.files);
  const auto all = std::make_shared<const records>(how.files);
  const auto encode = std::make_shared<const piece_encoder>(by);
  text_task t;
  t.vocabulary = by.size(), t.token_types = 2;  // sentences have the types 0 and 1 by turns
  text_survey survey(by.token(special.unknown), special.unknown);
  for (i64 i = 0; i < all->count() && !survey.is_full(); ++i) {
    if (are_numbers) {
      survey.add_example(std::ssize(all->numbers(i, "input_token_ids")) > how.max_sequence_length);
      continue;
    }
    i64 tokens = 0;
    for (const std::string& sentence : all->texts(i, "sentences")) {
      const std::vector<text_piece> pieces = (*encode)(sentence);
      survey.add_unknown(pieces), tokens += std::ssize(pieces) + special.around(false);
    }
    survey.add_example(tokens > how.max_sequence_length);
  }
  t.about = fmt::format("{} documents with the sentences of their summaries{}", all->count(),
                        survey.text(all->count(), "max_sequence_length", how.max_sequence_length));
  t.source = [all, are_numbers](i64 which) {
    text_source x;
    if (are_numbers)
      for (const i32 place : all->numbers(which, "cls_indices"))
        x.texts.push_back(fmt::format("token {}", place));
    else x.texts = all->texts(which, "sentences");
    if (!all->find(which, "labels")) return x;
    for (const i32 label : all->numbers(which, "labels")) x.labels.push_back(std::to_string(label));
    x.labels.resize(x.texts.size());
    return x;
  };
  t.data.count = all->count(), t.data.length = how.max_sequence_length;
  t.data.named = encoder_fields(how.max_sequence_length);
  t.data.named.push_back({"labels", how.max_sequence_length});
  t.data.get = [all, encode, special, how, are_numbers, vocabulary = by.size()](i64 which,
                                                                                const example& to) {
    detail::labelled_sentences x = are_numbers ? detail::summary_of_numbers(*all, which, vocabulary, how)
                                               : detail::summary_of_texts(*all, which, *encode, special, how);
    detail::cut(x, how);
    put(to, x.tokens, special);
    detail::fill(to.named[3], x.labels, ignored_label);
  };
  return t;
}

}  // namespace wsl::ml
