// SPDX-License-Identifier: MIT
// The tokenizer that a vocabulary file of the Model Zoo stands for. BERT's vocab.txt has one token a line, in
// the order of their numbers; whatever tokenizer::from_file reads is taken as well.
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "../../../tokenizer/tokenizer.hpp"
#include "../line_file.hpp"

namespace wsl::ml {

/// Whether a file has one token a line.
inline bool is_token_list(const std::string& name) {
  return std::filesystem::path(name).extension() == ".txt";
}

/// BERT's WordPiece with the tokens of a list. `lowers` also leaves out accents. Throws file_error if a token
/// is there twice, or one of [UNK], [CLS] and [SEP] is missing.
inline tokenizer word_pieces_of_list(const std::string& name, bool lowers) {
  const line_file in(name);
  nlohmann::json vocabulary = nlohmann::json::object(), added = nlohmann::json::array();
  for (i64 i = 0; i < in.count(); ++i) {
    const std::string token(in.line(i));
    if (token.empty() && i + 1 == in.count()) break;
    if (!vocabulary.emplace(token, i).second)
      throw in.error(i, fmt::format("the token '{}' is there twice: remove one", token));
    for (const char* special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
      if (token == special)
        added.push_back({{"id", i}, {"content", token}, {"special", true}, {"normalized", false}});
  }
  for (const char* needed : {"[UNK]", "[CLS]", "[SEP]"})
    if (!vocabulary.contains(needed))
      throw file_error(fmt::format("wsl: {}: there is no token {}: is this BERT's vocab.txt?", name, needed));
  const auto around = [&](const char* token) { return nlohmann::json::array({token, vocabulary[token]}); };
  const nlohmann::json all = {
      {"model", {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", vocabulary}}},
      {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", lowers}}},
      {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"post_processor", {{"type", "BertProcessing"}, {"cls", around("[CLS]")}, {"sep", around("[SEP]")}}},
      {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
      {"added_tokens", added}};
  return tokenizer::from_json(all.dump(), name);
}

/// The tokenizer of a file or a folder; `lowers` is of lists of tokens, and another file says it itself.
/// Throws file_error.
inline tokenizer tokenizer_of(const std::string& name, bool lowers) {
  if (name.empty())
    throw std::invalid_argument(
        "wsl: vocab_file is missing: name a vocab.txt, a tokenizer.json, a "
        "SentencePiece model, or a folder with one");
  return is_token_list(name) ? word_pieces_of_list(name, lowers) : tokenizer::from_file(name);
}

}  // namespace wsl::ml
