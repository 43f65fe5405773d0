// SPDX-License-Identifier: MIT
// The data of a language model in HDF5 files, as the Model Zoo's GptHDF5MapDataProcessor reads them: examples
// with their own targets and a mask of the loss, or tokens in a row that are cut into sequences here.
//   const dataset text = hdf5_text({.paths = {"data"}});
//   batches train(text, {.size = 8, .seed = 1});
#pragma once
#include "../../model/decoder.hpp"
#include "../dataset.hpp"
#include "examples.hpp"

namespace wsl::ml {

struct hdf5_text_settings {
  std::vector<std::string> paths;  ///< files, and folders of *.h5
  /// Tokens of a sequence. Examples have theirs, which it must be if it is given; tokens in a row need it.
  int max_sequence_length = 0;
  int vocabulary = 0;  ///< a token that is not below is an error when it is read; 0: any number from 0 on
  /// Whether tokens see only those of their own document: examples have "position_ids", which say where one
  /// begins, and so have the numbers of the dataset (decoder::packed).
  bool use_vsl = false;
};

namespace detail {

inline dataset hdf5_sequences(const std::vector<std::string>& files, const hdf5_text_settings& how) {
  const auto all = std::make_shared<const hdf5_corpus>(files);
  const int length = how.max_sequence_length;
  if (length < 1)
    throw std::invalid_argument(
        fmt::format("wsl: {} has tokens in a row, which are cut into sequences: give max_sequence_length",
                    files.front()));
  if (how.use_vsl)
    throw std::invalid_argument(fmt::format(
        "wsl: {} has tokens in a row, which do not say where documents begin: use_vsl needs examples",
        files.front()));
  if (all->size() <= length)
    throw file_error(
        fmt::format("wsl: {}: {} tokens have no sequence of {} with a token after it: take a smaller "
                    "max_sequence_length, or more data",
                    files.front(), all->size(), length));
  return {.count = (all->size() - 1) / length,
          .length = length,
          .get = [all, length, most = how.vocabulary](i64 which, const example& to) {
            const i64 begin = which * length;
            std::vector<i32> tokens(static_cast<std::size_t>(length) + 1);
            all->copy(begin, tokens);
            for (std::size_t t = 0; t < tokens.size(); ++t)
              if (tokens[t] < 0 || (most && tokens[t] >= most))
                throw all->error(
                    begin + static_cast<i64>(t),
                    fmt::format("token {} is none of the model's {}: take the vocabulary with which the "
                                "data were made",
                                tokens[t], most ? fmt::format("{} tokens", most) : "tokens, from 0 on"));
            std::copy(tokens.begin(), tokens.end() - 1, to.ids.begin());
            std::copy(tokens.begin() + 1, tokens.end(), to.targets.begin());
          }};
}

/// Whether labels are those of hidden tokens: of the first examples most tokens that are seen have none, and
/// no label is the next token.
inline bool are_hidden(const hdf5_examples& all, const hdf5_field& ids, const hdf5_field& labels,
                       const hdf5_field& mask) {
  constexpr i64 most = 16;
  i64 seen = 0, labelled = 0, next = 0;
  std::vector<i32> numbers(static_cast<std::size_t>(all.size()));
  for (i64 which = 0; which < std::min(all.count(), most); ++which) {
    all.read(which, numbers);
    for (i64 t = 0; t + 1 < ids.length; ++t) {
      const auto at = [&](const hdf5_field& x, i64 i) { return numbers[static_cast<std::size_t>(x.at + i)]; };
      if (at(mask, t) == 0) continue;
      ++seen;
      if (at(labels, t) == decoder::no_label) continue;
      ++labelled, next += at(labels, t) == at(ids, t + 1);
    }
  }
  constexpr i64 enough = 8;  // labels, not to judge by chance
  return labelled >= enough && 2 * labelled < seen && next == 0;
}

}  // namespace detail

/// Targets are the labels, or decoder::no_label where the mask is 0 or the label -100. Throws file_error for
/// files of another form or objective, and std::invalid_argument for settings that do not fit them; `get`
/// throws file_error for a token beyond the vocabulary and a mask of other numbers than 0 and 1.
inline dataset hdf5_text(const hdf5_text_settings& how) {
  const std::vector<std::string> files = hdf5_files_of(how.paths);
  if (hdf5_corpus::is_in(files.front())) return detail::hdf5_sequences(files, how);
  const auto all = std::make_shared<const hdf5_examples>(files);
  require_objective(files, "clm"), require_whole(*all, how.paths);
  for (const auto& [name, objective] : {std::pair("decoder_input_ids", "span_corruption"),
                                        {"masked_lm_positions", "mlm"},
                                        {"token_type_ids", "mlm"},
                                        {"next_sentence_label", "mlm"}})
    if (all->find(name)) throw other_objective(files.front(), objective, "clm");
  const hdf5_field ids = all->field("input_ids"), labels = all->field("labels"),
                   mask =
                       all->find("attention_mask") ? *all->find("attention_mask") : all->field("input_mask");
  for (const hdf5_field& x : {labels, mask})
    if (x.length != ids.length)
      throw all->error(
          0, fmt::format("'input_ids' are {} and '{}' {} numbers: each token has one label and one number "
                         "of the mask",
                         ids.length, x.name, x.length));
  std::optional<hdf5_field> positions;
  if (how.use_vsl) {
    const auto* const found = all->find("position_ids");
    if (!found || found->length != ids.length)
      throw std::invalid_argument(
          fmt::format("wsl: use_vsl keeps the documents of a sequence apart, and the examples of {} have no "
                      "'position_ids' that say where they begin: leave it out, or make data of five rows",
                      files.front()));
    positions = *found;
  }
  if (how.max_sequence_length && how.max_sequence_length != ids.length)
    throw std::invalid_argument(
        fmt::format("wsl: max_sequence_length is {}, and the examples of {} have {} tokens: leave it out",
                    how.max_sequence_length, files.front(), ids.length));
  if (detail::are_hidden(*all, ids, labels, mask)) throw other_objective(files.front(), "mlm", "clm");
  const int length = static_cast<int>(ids.length);
  return {
      .count = all->count(),
      .length = length,
      .get =
          [all, ids, labels, mask, positions, most = how.vocabulary](i64 which, const example& to) {
            const std::span<i32> to_ids = positions ? to.named[0] : to.ids,
                                 to_targets = positions ? to.named[1] : to.targets;
            std::vector<i32> numbers(static_cast<std::size_t>(all->size()));
            all->read(which, numbers);
            const auto part = [&](const hdf5_field& x) {
              return std::span(numbers).subspan(static_cast<std::size_t>(x.at),
                                                static_cast<std::size_t>(x.length));
            };
            const std::span<i32> of_ids = part(ids), of_labels = part(labels), of_mask = part(mask);
            const auto check = [&](const char* name, std::size_t t, i32 token) {
              if (token < 0 || (most && token >= most))
                throw all->error(
                    which,
                    fmt::format("number {} of '{}' is {}, none of the model's {}: take the vocabulary "
                                "with which the data were made",
                                t, name, token, most ? fmt::format("{} tokens", most) : "tokens, from 0 on"));
            };
            for (std::size_t t = 0; t < of_ids.size(); ++t) {
              check("input_ids", t, of_ids[t]);
              if (of_mask[t] != 0 && of_mask[t] != 1)
                throw all->error(
                    which, fmt::format("number {} of '{}' is {}, and the mask of the loss is 0 or 1: write "
                                       "the data again",
                                       t, mask.name, of_mask[t]));
              const bool counts = of_mask[t] && of_labels[t] != decoder::no_label;
              if (counts) check("labels", t, of_labels[t]);
              to_ids[t] = of_ids[t], to_targets[t] = counts ? of_labels[t] : decoder::no_label;
            }
            if (!positions) return;
            const std::span<i32> of_positions = part(*positions);
            for (std::size_t t = 0; t < of_positions.size(); ++t) {
              if (of_positions[t] != 0 && (t == 0 || of_positions[t] != of_positions[t - 1] + 1))
                throw all->error(which,
                                 fmt::format("number {} of 'position_ids' is {}: they count up from 0, and "
                                             "from 0 again where another document begins: write the data "
                                             "again",
                                             t, of_positions[t]));
              to.named[2][t] = of_positions[t];
            }
          },
      .named = positions
                   ? std::vector<named_field>{{"ids", length}, {"targets", length}, {"position_ids", length}}
                   : std::vector<named_field>{}};
}

}  // namespace wsl::ml
