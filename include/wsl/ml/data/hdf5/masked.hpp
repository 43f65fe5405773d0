// SPDX-License-Identifier: MIT
// Texts with hidden words in HDF5 files, as the Model Zoo's BertHDF5DataProcessor reads them:
//   data    (n, 2, length)   input_ids and attention_mask; a third row is token_type_ids
//   labels  (n, 1, length)   a label for each token, -100 for those that were not hidden, or
//           (n, 3, m)        the labels of m places, masked_lm_positions, and masked_lm_mask: 0 for places
//                            that are not used (masked_lm_weights in data of one dataset a name)
//   next_sentence_label      of wsl-data: 1 if the second text does not follow the first
// or a dataset for each of these names. Batches have the numbers of masked_text.
//   const text_task t = hdf5_masked({.paths = {"data"}, .vocabulary = 30522});
#pragma once
#include "../text/masking.hpp"
#include "../text/text_task.hpp"
#include "rows_of_text.hpp"

namespace wsl::ml {

struct hdf5_masked_settings {
  std::vector<std::string> paths;  ///< files, and folders of *.h5
  int max_sequence_length = 0;     ///< that of the examples; 0: whatever they have
  int vocabulary = 0;           ///< a token that is not below is an error when it is read; 0: any from 0 on
  bool next_sentences = false;  ///< examples have next_sentence_label
};

namespace detail {

/// The names of the mask of the labels' places, today's and an earlier one.
inline const char* places_mask_of(const hdf5_examples& all) {
  return all.find("masked_lm_mask") ? "masked_lm_mask" : "masked_lm_weights";
}

/// The label of each token, `ignored_label` where none is to be guessed.
inline void put_labels(const text_rows::row& r, bool has_places, const char* places_mask, int vocabulary,
                       std::span<const i32> seen, std::span<i32> to) {
  const std::span<const i32> labels = r["labels"];
  std::fill(to.begin(), to.end(), ignored_label);
  std::span<const i32> places, mask;
  if (has_places) {
    r.check_below("masked_lm_positions", static_cast<i32>(to.size()), "an example has fewer tokens");
    r.check_mask(places_mask);
    places = r["masked_lm_positions"], mask = r[places_mask];
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (has_places ? mask[i] == 0 : labels[i] == ignored_label) continue;
    const std::size_t place = has_places ? static_cast<std::size_t>(places[i]) : i;
    r.check_token("labels", i, vocabulary);
    if (!seen[place])
      r.wrong("labels", i,
              fmt::format(", the label of token {}, which is padding by 'attention_mask'", place));
    if (to[place] != ignored_label)
      r.wrong("masked_lm_positions", i, ", and an earlier label is of that token as well");
    to[place] = labels[i];
  }
}

/// Whether each label of the first example is the next token, as of decoders; none is hidden.
inline bool are_next_tokens(const text_rows& all) {
  const text_rows::row r = all.read(0);
  const std::span<const i32> ids = r["input_ids"], seen = r["attention_mask"], labels = r["labels"];
  std::size_t compared = 0;
  for (std::size_t t = 0; t + 1 < ids.size(); ++t) {
    if (!seen[t]) continue;
    if (labels[t] != ids[t + 1]) return false;
    ++compared;
  }
  return compared > 2;
}

}  // namespace detail

/// Throws file_error for files of another form or objective, and std::invalid_argument for settings that do
/// not fit them;
/// rows are looked at when they are read.
inline text_task hdf5_masked(const hdf5_masked_settings& how) {
  const auto all = std::make_shared<const detail::text_rows>(hdf5_files_of(how.paths));
  const hdf5_examples& x = all->all();
  const int length = all->length_of("input_ids", {"attention_mask", "token_type_ids"});
  require_objective(x.files(), "mlm"), require_whole(x, how.paths);
  if (x.find("decoder_input_ids")) throw other_objective(x.files().front(), "span_corruption", "mlm");
  x.field("attention_mask"), x.field("labels");
  const bool has_places = x.find("masked_lm_positions"), has_types = x.find("token_type_ids");
  const char* const mask = detail::places_mask_of(x);
  if (has_places) x.field(mask), all->length_of("labels", {"masked_lm_positions", mask});
  else if (all->length_of("input_ids", {"labels"}); detail::are_next_tokens(*all))
    throw other_objective(x.files().front(), "clm", "mlm");
  if (how.max_sequence_length && how.max_sequence_length != length)
    throw std::invalid_argument(
        fmt::format("wsl: max_sequence_length is {}, and the examples of {} have {} tokens: leave it out",
                    how.max_sequence_length, x.files().front(), length));
  if (how.next_sentences && (!x.find("next_sentence_label") || x.find("next_sentence_label")->length != 1))
    throw std::invalid_argument(fmt::format(
        "wsl: the examples of {} have no 'next_sentence_label', one for each: set disable_nsp, or "
        "make data with `wsl-data convert --form bert --next_sentences`",
        x.files().front()));
  text_task t;
  t.token_types = has_types ? 2 : 1, t.vocabulary = how.vocabulary;
  t.about = fmt::format("{} with hidden words", x.about());
  t.data.count = x.count(), t.data.length = length;
  t.data.named = {
      {"input_ids", length}, {"attention_mask", length}, {"token_type_ids", length}, {"labels", length}};
  if (how.next_sentences) t.data.named.push_back({"next_sentence_label", 1});
  t.data.get = [all, has_places, has_types, mask, how](i64 which, const example& to) {
    const detail::text_rows::row r = all->read(which);
    r.check_tokens("input_ids", how.vocabulary), r.check_mask("attention_mask");
    if (has_types) r.check_below("token_type_ids", 2, "a token is of text 0 or 1: write the data again");
    const auto put = [&](std::size_t k, std::span<const i32> numbers) {
      std::copy(numbers.begin(), numbers.end(), to.named[k].begin());
    };
    put(0, r["input_ids"]), put(1, r["attention_mask"]);
    if (has_types) put(2, r["token_type_ids"]);
    else std::fill(to.named[2].begin(), to.named[2].end(), 0);
    detail::put_labels(r, has_places, mask, how.vocabulary, r["attention_mask"], to.named[3]);
    if (!how.next_sentences) return;
    r.check_below("next_sentence_label", 2, "it is 0, or 1 if the second text does not follow the first");
    put(4, r["next_sentence_label"]);
  };
  return t;
}

}  // namespace wsl::ml
