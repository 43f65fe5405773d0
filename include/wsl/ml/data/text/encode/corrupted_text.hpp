// SPDX-License-Identifier: MIT
// Texts with spans left out, with which T5 is trained (../span_corruption.hpp). Files have one document a
// line. A document is cut into the longest parts whose inputs
// and targets have room; with `pack_sequences` parts go on in the next document. Sentinels are <extra_id_0>
// and so on if the vocabulary has them, or else `extra_ids` numbers behind it, the last one first.
#pragma once
#include "../packed_text.hpp"
#include "../records.hpp"
#include "../span_corruption.hpp"
#include "encoder_decoder_text.hpp"
#include "text_survey.hpp"

namespace wsl::ml {

struct corrupted_text {
  std::vector<std::string> files = {};
  encoder_decoder_settings sequences = {};
  int extra_ids = 100;                     ///< sentinels
  bool pack_sequences = false;             ///< a part may have text of several documents
  int num_documents_to_concatenate = 128;  ///< with it, documents in a row that may share parts
  bool ends_inputs = false;                ///< inputs end with eos_token, as T5's own; the Model Zoo's do not
  f64 noise_density = 0.15, mean_noise_span_length = 3;
};

/// The number of tokens of the model's vocabulary, sentinels included.
inline int vocabulary_with_sentinels(const tokenizer& by, int extra_ids) {
  return by.id("<extra_id_0>") ? by.size() : by.size() + extra_ids;
}

namespace detail {

inline i32 first_sentinel_of(const tokenizer& by, int extra_ids) {
  const auto first = by.id("<extra_id_0>");
  if (!first) return by.size() + extra_ids - 1;
  for (int i = 0; i < extra_ids; ++i)
    if (by.id(fmt::format("<extra_id_{}>", i)) != *first - i)
      throw std::invalid_argument(
          fmt::format("wsl: extra_ids is {}, but the vocabulary has no token <extra_id_{}> with the number "
                      "{}: take as many as it has",
                      extra_ids, i, *first - i));
  return *first;
}

}  // namespace detail

/// Throws file_error for files that cannot be read, std::invalid_argument for settings that do not fit.
inline text_task corrupted_of(const corrupted_text& how, const tokenizer& by) {
  const encoder_decoder_tokens tokens = encoder_decoder_tokens::of(how.sequences, by);
  const span_corruption spans{how.noise_density, how.mean_noise_span_length,
                              detail::first_sentinel_of(by, how.extra_ids)};
  spans.check();
  const bool ends = how.ends_inputs;
  const int length = spans.longest(tokens.sources - 1, tokens.targets - 1),
            of_inputs = spans.longest(tokens.sources - 1, 2 * tokens.sources);
  if (length < of_inputs)
    throw std::invalid_argument(
        fmt::format("wsl: texts of {} tokens fill src_max_sequence_length {}, but have targets of {}: take a "
                    "tgt_max_sequence_length of as many or more, not {}",
                    of_inputs, tokens.sources, spans.shape_of(of_inputs).targets + 1, tokens.targets));
  if (length < 2)
    throw std::invalid_argument(fmt::format(
        "wsl: src_max_sequence_length {} has no room for a text with a span left out", tokens.sources));
  if (spans.shape_of(length).spans > how.extra_ids)
    throw std::invalid_argument(
        fmt::format("wsl: texts of {} tokens have {} spans left out: take as many extra_ids, not {}", length,
                    spans.shape_of(length).spans, how.extra_ids));
  for (const std::string& file : how.files) detail::check_meta(file, line_file(file).count());
  const auto encode = std::make_shared<const piece_encoder>(by);
  const auto all = std::make_shared<const packed_text>(
      how.files, [encode](std::string_view line) { return (*encode)(line); },
      packing{.room = length,
              .documents_together = how.pack_sequences ? how.num_documents_to_concatenate : 1});
  // A text of one token has nothing to leave out.
  const auto parts = std::make_shared<std::vector<i64>>();
  for (i64 i = 0; i < all->count(); ++i)
    if (all->tokens_of(i) > 1) parts->push_back(i);
  if (parts->empty())
    throw file_error(fmt::format("wsl: {}: there is no text of two tokens or more in it", how.files.front()));
  text_survey survey(how.sequences.oov_token, tokens.unknown);
  for (auto part = parts->begin(); part != parts->end() && !survey.is_full(); ++part)
    survey.add(all->tokens(*part), length);
  text_task t;
  t.vocabulary = vocabulary_with_sentinels(by, how.extra_ids);
  t.about = fmt::format("{} texts of up to {} tokens with spans left out{}", parts->size(), length,
                        survey.text(std::ssize(*parts), "src_max_sequence_length", tokens.sources));
  t.data.count = std::ssize(*parts), t.data.length = tokens.sources, t.data.named = tokens.fields();
  t.data.get = [all, parts, tokens, spans, ends](i64 which, const example& to) {
    draws random(to.key, which);
    const std::vector<i32> text = detail::ids_of(all->tokens((*parts)[static_cast<std::size_t>(which)]));
    const std::vector<bool> noise = spans.noise_mask(static_cast<int>(text.size()), random);
    std::vector<i32> inputs = spans.replaced(text, noise);
    if (ends) inputs.push_back(tokens.end);
    tokens.put(to, inputs, spans.replaced(text, noise, false));
  };
  return t;
}

}  // namespace wsl::ml
