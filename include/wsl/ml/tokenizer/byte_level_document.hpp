// SPDX-License-Identifier: MIT
// The tokenizer.json of a byte pair encoding over bytes, from its vocabulary and merges. GPT-2's older files
// and training both make one, so that one reader knows the format.
#pragma once
#include "pre_tokenizer.hpp"

namespace wsl::ml {

/// How a text is divided into words before pairs of bytes are merged.
enum class word_style { gpt2, llama3 };

namespace detail {

// Meta's expression (llama-models, models/llama3/tokenizer.py): endings in any case, numbers of up to three
// digits, a sign before a word, and lines.
constexpr const char* llama3_words = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
                                     R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

inline nlohmann::json byte_level_document(nlohmann::json vocabulary, nlohmann::json merges,
                                          nlohmann::json added, word_style style) {
  using json = nlohmann::json;
  const auto stage = [](bool divides) {
    return json{
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", divides}};
  };
  json pre = stage(true);
  if (style == word_style::llama3)
    pre = {{"type", "Sequence"},
           {"pretokenizers", json::array({{{"type", "Split"},
                                           {"pattern", {{"Regex", llama3_words}}},
                                           {"behavior", "Isolated"},
                                           {"invert", false}},
                                          stage(false)})}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", std::move(added)},
          {"normalizer", nullptr},
          {"pre_tokenizer", std::move(pre)},
          {"post_processor", stage(true)},
          {"decoder", stage(true)},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", style == word_style::llama3},
            {"vocab", std::move(vocabulary)},
            {"merges", std::move(merges)}}}};
}

/// An entry of "added_tokens".
inline nlohmann::json added_entry(const std::string& text, i32 id, bool is_special) {
  return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", is_special}};
}

}  // namespace detail

}  // namespace wsl::ml
