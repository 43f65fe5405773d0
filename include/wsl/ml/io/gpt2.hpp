// SPDX-License-Identifier: MIT
// A check that a decoder is a GPT-2, the only model that the files of llm.c and of Hugging Face's
// GPT2LMHeadModel describe.
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
}

}  // namespace wsl::ml
