// SPDX-License-Identifier: MIT
// A check that a decoder is a GPT-2, the only model that the files of llm.c describe.
#pragma once
#include <fmt/format.h>

#include <stdexcept>

#include "../model/decoder.hpp"

namespace wsl::ml {

/// Throws std::invalid_argument with the differences if the decoder is no GPT-2.
inline void check_is_gpt2(const decoder& d) {
  const auto differs = [](const char* what) {
    throw std::invalid_argument(fmt::format(
        "{}{}; this model has not", std::string("wsl: these files describe GPT-2, which has "), what));
  };
  if (d.norm != normalization::layernorm) differs("layernorm");
  if (d.position != positioning::learned) differs("learned positions");
  if (d.order != block_order::sequential) differs("its feed-forward part after attention");
  if (d.kv_heads && d.kv_heads != d.heads) differs("keys and values for each head");
  if (!d.tied) differs("the table of tokens as its head");
  if (d.window) differs("attention to all tokens before");
  if (d.width_of_head() * d.heads != d.width) differs("heads that share out the features");
  if (d.attention_scale != 0 || d.scale_by_layer) differs("scores divided by the root of a head's width");
  if (d.embedding_norm) differs("no norm after the embedding");
  if (d.unused_positions) differs("no unused rows in its table of positions");
  if (d.experts) differs("one feed-forward part in a block");
  if (d.embedding_scale != 1 || d.logit_scale != 1) differs("no factors of embedding and logits");
}

}  // namespace wsl::ml
