// SPDX-License-Identifier: MIT
// Texts with hidden words, with which encoders are pre-trained. Batches have "input_ids", "attention_mask",
// "token_type_ids" and "labels", the hidden tokens (-100 elsewhere), and with next sentences also
// "next_sentence_label", one for each example: 1 if the second text is of another document. Files are
//   .txt   text: one sentence a line and an empty line between documents
//   .csv   tables of the Model Zoo with columns "tokens" (a list of tokens, special ones included) and, with
//          next sentences, "segment_ids" and "is_random_next"; words are hidden anew in each epoch
//   .csv   tables in which words are hidden already: columns "input_ids", "attention_mask" and "labels", and
//          "masked_lm_positions" with "masked_lm_weights" if labels are those of some places only
#pragma once
#include "../masking.hpp"
#include "../records.hpp"
#include "../sentence_pairs.hpp"
#include "sequences.hpp"
#include "text_survey.hpp"

namespace wsl::ml {

struct masked_text {
  std::vector<std::string> files = {};  ///< all .txt, or all .csv
  int max_sequence_length = 128;
  bool are_hidden = false;     ///< tables have hidden words already
  bool next_sentences = true;  ///< false: only hidden words, the Model Zoo's disable_nsp
  masking_settings masked = {};
};

namespace detail {

inline std::vector<named_field> masked_fields(const masked_text& how) {
  std::vector<named_field> all = encoder_fields(how.max_sequence_length);
  all.push_back({"labels", how.max_sequence_length});
  if (how.next_sentences) all.push_back({"next_sentence_label", 1});
  return all;
}
/// Hides words of a sequence and fills the fields.
inline void hide_and_put(const example& to, token_sequence s, const masking& hides,
                         const special_tokens& special, draws& random) {
  std::vector<i32> labels(s.ids.size());
  hides.hide(s.ids, labels, s.continues, random);
  put(to, s, special);
  fill(to.named[3], labels, ignored_label);
}
inline i32 next_sentence_label(const records& all, i64 which, const char* column) {
  const std::vector<i32> label = all.numbers(which, column);
  if (label.size() != 1 || (label[0] != 0 && label[0] != 1))
    throw all.error(which, column, "it should be 0, or 1 if the second text does not follow the first");
  return label[0];
}

inline text_task masked_lines(const masked_text& how, const tokenizer& by, const special_tokens& special,
                              const masking& hides) {
  const auto encode = std::make_shared<const piece_encoder>(by);
  const auto all = std::make_shared<const packed_text>(
      how.files, [encode](std::string_view line) { return (*encode)(line); },
      packing{.room = how.max_sequence_length - special.around(false),
              .whole_lines = true,
              .documents_together = 0,
              .between = special.separator});
  text_survey survey(by.token(special.unknown), special.unknown);
  for (i64 i = 0; i < all->count() && !survey.is_full(); ++i) survey.add(all->tokens(i), all->tokens_of(i));
  text_task t;
  t.about = fmt::format("{} texts of whole sentences with hidden words{}", all->count(),
                        survey.text(all->count(), "max_sequence_length", how.max_sequence_length));
  t.data.count = all->count();
  t.data.get = [all, special, hides](i64 which, const example& to) {
    draws random(to.key, which);
    hide_and_put(to, sequence_of(special, all->tokens(which)), hides, special, random);
  };
  return t;
}
inline text_task masked_pairs(const masked_text& how, const tokenizer& by, const special_tokens& special,
                              const masking& hides) {
  const auto encode = std::make_shared<const piece_encoder>(by);
  const auto all = std::make_shared<const sentence_pairs>(
      how.files, [encode](std::string_view line) { return (*encode)(line); },
      how.max_sequence_length - special.around(true));
  text_survey survey(by.token(special.unknown), special.unknown);
  for (i64 i = 0; i < all->count() && !survey.is_full(); ++i) {
    draws random(0, i);
    const sentence_pair x = all->get(i, random);
    survey.add_unknown(x.first), survey.add_unknown(x.second), survey.add_example(false);
  }
  text_task t;
  t.about =
      fmt::format("{} pairs of texts of {} documents with hidden words{}", all->count(), all->documents(),
                  survey.text(all->count(), "max_sequence_length", how.max_sequence_length));
  t.data.count = all->count();
  t.data.get = [all, special, hides](i64 which, const example& to) {
    draws random(to.key, which);
    const sentence_pair x = all->get(which, random);
    hide_and_put(to, sequence_of(special, x.first, x.second), hides, special, random);
    to.named[4][0] = x.is_random;
  };
  return t;
}

/// The sequence of a row of tokens.
inline token_sequence sequence_of_row(const records& all, i64 which, const tokenizer& by,
                                      const special_tokens& special, const masked_text& how) {
  std::vector<std::string> tokens = all.texts(which, "tokens");
  const auto most = static_cast<std::size_t>(how.max_sequence_length);
  if (tokens.size() > most && how.next_sentences)
    throw all.error(which, "tokens",
                    fmt::format("the sequence has {} tokens, more than max_sequence_length {}: take a larger "
                                "one, or set disable_nsp",
                                tokens.size(), most));
  tokens.resize(std::min(tokens.size(), most));
  token_sequence s;
  for (const std::string& token : tokens) {
    const auto id = by.id(token);
    s.ids.push_back(id ? *id : by.id(by.normalized(token)).value_or(special.unknown));
    s.continues.push_back(token.starts_with("##"));
  }
  s.types.resize(s.ids.size());
  if (how.next_sentences) s.types = all.numbers(which, "segment_ids");
  if (s.types.size() != s.ids.size())
    throw all.error(
        which, "segment_ids",
        fmt::format("there are {} for {} tokens: write one for each", s.types.size(), s.ids.size()));
  return s;
}
/// Calls f(number) for the rows of a survey. One that is refused is so when it is read for a batch.
template <class F>
void each_readable(const records& all, const text_survey& survey, F f) {
  for (i64 i = 0; i < all.count() && !survey.is_full(); ++i) {
    try {
      f(i);
    } catch (const file_error&) {}
  }
}
inline text_task masked_rows(const masked_text& how, std::shared_ptr<const records> all, const tokenizer& by,
                             const special_tokens& special, const masking& hides) {
  text_survey survey(by.token(special.unknown), special.unknown);
  each_readable(*all, survey, [&](i64 i) {
    survey.add_unknown(sequence_of_row(*all, i, by, special, how).ids);
    survey.add_example(std::ssize(all->texts(i, "tokens")) > how.max_sequence_length);
  });
  text_task t;
  t.about = fmt::format("{} sequences of tokens, whose words are hidden anew in each epoch{}", all->count(),
                        survey.text(all->count(), "max_sequence_length", how.max_sequence_length));
  t.data.count = all->count();
  t.data.get = [all, special, hides, how, by](i64 which, const example& to) {
    draws random(to.key, which);
    hide_and_put(to, sequence_of_row(*all, which, by, special, how), hides, special, random);
    if (how.next_sentences) to.named[4][0] = next_sentence_label(*all, which, "is_random_next");
  };
  return t;
}

/// The labels of a row whose words are hidden already, one for each token.
inline std::vector<i32> labels_of_row(const records& all, i64 which, std::size_t tokens) {
  const std::vector<i32> given = all.numbers(which, "labels");
  const bool has_weights = all.has("masked_lm_weights"), has_places = all.has("masked_lm_positions");
  const std::vector<i32> weights = has_weights ? all.numbers(which, "masked_lm_weights") : std::vector<i32>(),
                         places = has_places ? all.numbers(which, "masked_lm_positions") : std::vector<i32>();
  if (has_weights && weights.size() != given.size())
    throw all.error(which, "masked_lm_weights",
                    fmt::format("there are {} for {} labels", weights.size(), given.size()));
  if ((has_places ? places.size() : tokens) != given.size())
    throw all.error(
        which, "labels",
        fmt::format("there are {} for {} places", given.size(), has_places ? places.size() : tokens));
  std::vector<i32> labels(tokens, ignored_label);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const i32 place = has_places ? places[i] : static_cast<i32>(i);
    if (place < 0 || place >= static_cast<i32>(tokens))
      throw all.error(which, "masked_lm_positions",
                      fmt::format("there is no token {} among {}", place, tokens));
    // Without weights, what fills the list up is the first place, which is never hidden.
    const bool counts = has_weights ? weights[i] != 0 : !has_places || place != 0;
    if (counts) labels[static_cast<std::size_t>(place)] = given[i];
  }
  return labels;
}
inline text_task rows_with_labels(const masked_text& how, std::shared_ptr<const records> all,
                                  const special_tokens& special, const tokenizer& by) {
  const int vocabulary = by.size();
  text_survey survey(by.token(special.unknown), special.unknown);
  each_readable(*all, survey,
                [&](i64 i) { survey.add_unknown(all->numbers(i, "input_ids")), survey.add_example(false); });
  text_task t;
  t.about = fmt::format("{} sequences of tokens with hidden words{}", all->count(),
                        survey.text(all->count(), "max_sequence_length", how.max_sequence_length));
  t.data.count = all->count();
  t.data.get = [all, special, how, vocabulary](i64 which, const example& to) {
    const auto most = static_cast<std::size_t>(how.max_sequence_length);
    const std::vector<i32> ids = all->numbers(which, "input_ids"),
                           seen = all->numbers(which, "attention_mask");
    if (ids.size() > most || seen.size() != ids.size())
      throw all->error(
          which, "input_ids",
          fmt::format("there are {} tokens and {} numbers of attention_mask; a sequence has up to {} of both",
                      ids.size(), seen.size(), most));
    const std::vector<i32> labels = labels_of_row(*all, which, ids.size());
    for (const std::vector<i32>* x : {&ids, &labels})
      for (const i32 id : *x)
        if ((id < 0 && (x == &ids || id != ignored_label)) || id >= vocabulary)
          throw all->error(which, x == &ids ? "input_ids" : "labels",
                           fmt::format("there is no token {} in a vocabulary of {}", id, vocabulary));
    fill(to.named[0], ids, special.padding);
    fill(to.named[1], seen, 0);
    fill(to.named[2], how.next_sentences ? all->numbers(which, "token_type_ids") : std::vector<i32>(), 0);
    fill(to.named[3], labels, ignored_label);
    if (how.next_sentences) to.named[4][0] = next_sentence_label(*all, which, "next_sentence_label");
  };
  return t;
}

}  // namespace detail

/// Throws file_error for files that cannot be read, std::invalid_argument for settings that do not fit; rows
/// of tables are looked at when they are read.
inline text_task masked_of(const masked_text& how, const tokenizer& by) {
  const special_tokens special = special_tokens::of(by);
  const bool are_tables = detail::all_end_with(".csv", how.files);
  check_length(how.max_sequence_length, special, how.next_sentences);
  std::vector<i32> never = special.all();
  for (const added_token& t : by.added())
    if (t.is_special) never.push_back(t.id);
  const masking hides(how.masked, special.mask, by.size(), never);
  text_task t;
  if (are_tables) {
    const auto all = std::make_shared<const records>(how.files);
    all->text(0, how.are_hidden ? "input_ids" : "tokens");
    t = how.are_hidden ? detail::rows_with_labels(how, all, special, by)
                       : detail::masked_rows(how, all, by, special, hides);
  } else {
    t = how.next_sentences ? detail::masked_pairs(how, by, special, hides)
                           : detail::masked_lines(how, by, special, hides);
  }
  t.data.length = how.max_sequence_length;
  t.data.named = detail::masked_fields(how);
  t.vocabulary = by.size();
  t.token_types = special.types(how.next_sentences);
  return t;
}

}  // namespace wsl::ml
