// SPDX-License-Identifier: MIT
// The sequences of encoder-decoders: what is read, and what is to be written, which the decoder gets shifted
// by one token with a token at its beginning:
//   input_ids          I live here
//   decoder_input_ids  <s>  ich  wohne  hier
//   labels             ich  wohne  hier  </s>
// Batches have "input_ids", "attention_mask", "decoder_input_ids" and "labels"; padding has the label -100.
#pragma once
#include <fmt/format.h>

#include "../masking.hpp"
#include "../text_task.hpp"
#include "pieces.hpp"

namespace wsl::ml {

/// Both lengths, and the tokens that begin and end a text and fill it up, by name.
struct encoder_decoder_settings {
  int src_max_sequence_length = 512, tgt_max_sequence_length = 114;
  std::string sos_token = "<s>", eos_token = "</s>", pad_token = "<pad>";
  std::string oov_token = "<unk>";  ///< of which the sentence about the data says how many there are
};

/// The same, by number.
struct encoder_decoder_tokens {
  int sources = 0, targets = 0;  ///< the lengths
  i32 begin = 0, end = 0, padding = 0;
  i32 unknown = -1;  ///< -1: there is no such token

  /// Throws std::invalid_argument for a token that the vocabulary does not have and a length without room.
  static encoder_decoder_tokens of(const encoder_decoder_settings& how, const tokenizer& by) {
    if (how.src_max_sequence_length < 2 || how.tgt_max_sequence_length < 2)
      throw std::invalid_argument(fmt::format(
          "wsl: src_max_sequence_length and tgt_max_sequence_length are at least 2, not {} and {}",
          how.src_max_sequence_length, how.tgt_max_sequence_length));
    const auto id = [&](const char* field, const std::string& name) {
      if (const auto found = by.id(name)) return *found;
      throw std::invalid_argument(
          fmt::format("wsl: the vocabulary has no token '{}', which {} names: name another, such as {}", name,
                      field, by.id("<pad>") ? "<pad>, with which T5 begins" : "one that it has"));
    };
    return {how.src_max_sequence_length,    how.tgt_max_sequence_length,
            id("sos_token", how.sos_token), id("eos_token", how.eos_token),
            id("pad_token", how.pad_token), by.id(how.oov_token).value_or(-1)};
  }
  std::vector<named_field> fields() const {
    return {{"input_ids", sources},
            {"attention_mask", sources},
            {"decoder_input_ids", targets},
            {"labels", targets}};
  }
  /// Fills the fields of what is read alone; no label counts.
  void put(const example& to, std::span<const i32> source) const {
    put(to, source, {});
    std::fill(to.named[3].begin(), to.named[3].end(), ignored_label);
  }
  /// Fills the fields; both texts are without the tokens at their ends and have room.
  void put(const example& to, std::span<const i32> source, std::vector<i32> target) const {
    detail::fill(to.named[0], source, padding);
    detail::fill_mask(to.named[1], source.size());
    target.push_back(end);
    detail::fill(to.named[3], target, ignored_label);
    target.pop_back();
    target.insert(target.begin(), begin);
    detail::fill(to.named[2], target, padding);
  }
};

namespace detail {

inline std::vector<i32> ids_of(std::span<const text_piece> pieces) {
  std::vector<i32> ids;
  for (const text_piece& p : pieces) ids.push_back(p.id);
  return ids;
}

}  // namespace detail

}  // namespace wsl::ml
