// SPDX-License-Identifier: MIT
// The work of a tokenizer, for tokenizer.hpp: a part of the library that can be compiled once, see
// tokenizer/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "../data/utf8.hpp"
#include "../io/input_file.hpp"
#include "added_tokens.hpp"
#include "byte_pair.hpp"
#include "decoder.hpp"
#include "gpt2_files.hpp"
#include "post_processor.hpp"
#include "sentencepiece.hpp"
#include "tokenizer.hpp"
#include "unigram.hpp"
#include "word_cache.hpp"
#include "word_piece.hpp"

namespace wsl::ml {

namespace detail {

/// The stages of a tokenizer, as its tokenizer.json describes them.
struct tokenizer_stages {
  std::shared_ptr<const token_model> model;
  normalizer normalizes;
  pre_tokenizer divides;
  post_processor arranges;
  token_decoder decodes;
  added_tokens added;

  explicit tokenizer_stages(const json_field& all) : model(model_of(all.at("model"))) {
    if (all.has("normalizer")) normalizes = normalizer_of(all.at("normalizer"));
    if (all.has("pre_tokenizer")) divides = pre_tokenizer_of(all.at("pre_tokenizer"));
    if (all.has("post_processor")) arranges = post_processor_of(all.at("post_processor"));
    if (all.has("decoder")) decodes = decoder_of(all.at("decoder"));
    if (all.has("added_tokens")) added = {all.at("added_tokens"), model->tokens(), normalizes};
    check_template(all, arranges.single), check_template(all, arranges.pair);
  }

  std::optional<i32> first_added(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (const auto found = added.id(name)) return found;
    return {};
  }
  encoded_pair arranged(const std::vector<template_piece>& by, std::string_view first,
                        std::string_view second, const encode_options& how) const {
    encoded_pair out;
    for (const template_piece& p : by) {
      if (p.is == template_piece::special) out.ids.insert(out.ids.end(), p.ids.begin(), p.ids.end());
      else append(out.ids, p.is == template_piece::first ? first : second, how);
      out.types.resize(out.ids.size(), p.type);
    }
    return out;
  }

 private:
  static std::shared_ptr<const token_model> model_of(const json_field& f) {
    // Files of the first versions do not name the model.
    const std::string type = f.has("type")                                         ? f.at("type").text()
                             : f.has("merges")                                     ? "BPE"
                             : f.has("unk_id") || f.at("vocab").value().is_array() ? "Unigram"
                             : f.has("continuing_subword_prefix")                  ? "WordPiece"
                                                                                   : "WordLevel";
    if (type == "BPE") return std::make_shared<byte_pair>(f);
    if (type == "Unigram") return std::make_shared<unigram>(f);
    if (type == "WordPiece" || type == "WordLevel")
      return std::make_shared<word_piece>(f, type == "WordLevel");
    throw f.at("type").error(
        fmt::format("there is no model '{}' here; known are BPE, Unigram, WordLevel and WordPiece", type));
  }
  void check_template(const json_field& all, const std::vector<template_piece>& pieces) const {
    for (const template_piece& p : pieces)
      for (i32 id : p.ids)
        if (!added.find(id) && !model->tokens().has(id))
          throw all.at("post_processor").error(fmt::format("there is no token {}", id));
  }
  void append(std::vector<i32>& ids, std::string_view text, const encode_options& how) const {
    if (text.size() >= std::size_t{1} << 30)
      throw std::invalid_argument(fmt::format(
          "wsl: a text of {} bytes is too long to encode at once: encode it in parts", text.size()));
    for (std::size_t at = 0; at < text.size();) next_code_point(text, at);
    word_cache cache;
    const auto token = [&](i32 id) { ids.push_back(id); };
    const auto raw = [&](std::size_t begin, std::size_t end) {
      std::string part(text.substr(begin, end - begin));
      if (normalizes) part = normalizes(std::move(part));
      added.divide(
          part, true, how.match_special_tokens,
          [&](std::size_t from, std::size_t to) {
            const bool is_all = from == 0 && to == part.size();
            append_words(ids, is_all ? std::move(part) : part.substr(from, to - from),
                         begin == 0 && from == 0, cache);
          },
          token);
    };
    added.divide(text, false, how.match_special_tokens, raw, token);
  }
  void append_words(std::vector<i32>& ids, std::string part, bool begins_input, word_cache& cache) const {
    words w(std::move(part), begins_input);
    if (divides) divides(w);
    for (const words::range& r : w.ranges)
      if (r.begin < r.end)
        cache.append(w.of(r), ids, [&](std::string_view word, std::vector<i32>& to) {
          model->encode(word, w.are_bytes, to);
        });
  }
};

inline nlohmann::json parsed_tokenizer(const std::string& text, const std::string& name) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object())
    throw file_error(
        fmt::format("wsl: {}: it is no tokenizer.json, for it is not one object in JSON: take the whole file "
                    "that came with the model, or make one with `wsl-data tokenizer train`",
                    name));
  return json;
}

/// The files of a tokenizer: a tokenizer.json or a SentencePiece model, or GPT-2's two.
struct tokenizer_files {
  std::string main, merges = {};

  nlohmann::json json() const {
    if (!merges.empty()) return json_of_gpt2(main, merges);
    const std::string bytes = read_whole(main);
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    const bool is_json = first < bytes.size() && bytes[first] == '{';
    return is_json ? parsed_tokenizer(bytes, main) : json_of_sentencepiece(bytes, main);
  }
};
/// Those of a file or a folder. Throws file_error if the folder has none.
inline tokenizer_files files_of_tokenizer(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  const auto is_there = [&](const char* name) { return std::filesystem::exists(path + "/" + name); };
  for (const char* name : {"tokenizer.json", "tokenizer.model", "spiece.model"})
    if (is_there(name)) return {path + "/" + name};
  if (!is_there("encoder.json") && !is_there("vocab.json"))
    throw file_error(
        fmt::format("wsl: {}: there is no tokenizer in this folder: no tokenizer.json, tokenizer.model, "
                    "spiece.model, vocab.json or encoder.json",
                    path));
  const auto either = [&](const char* one, const char* other) {
    return path + "/" + (is_there(other) ? other : one);
  };
  return {either("encoder.json", "vocab.json"), either("vocab.bpe", "merges.txt")};
}

/// Those that the document of that name describes. Throws file_error.
inline std::shared_ptr<const tokenizer_stages> stages_of(const nlohmann::json& json,
                                                         const std::string& name) {
  return std::make_shared<const tokenizer_stages>(json_field(json, "", name));
}

}  // namespace detail

WSL_TOKENIZER_COMPILED_PART tokenizer::tokenizer(std::shared_ptr<const detail::tokenizer_stages> stages)
    : stages_(std::move(stages)) {
  size_ = stages_->model->tokens().size();
  for (const added_token& t : stages_->added.all()) size_ = std::max(size_, t.id + 1);
  begin_ = stages_->first_added({"<s>", "<|begin_of_text|>", "<bos>", "[CLS]", "<|endoftext|>"});
  end_ = stages_->first_added({"</s>", "<|end_of_text|>", "<eos>", "[SEP]", "<|endoftext|>"});
}

WSL_TOKENIZER_COMPILED_PART tokenizer tokenizer::from_file(const std::string& path) {
  const detail::tokenizer_files files = detail::files_of_tokenizer(path);
  tokenizer t(detail::stages_of(files.json(), files.main));
  t.read_roles(std::filesystem::path(files.main).parent_path());
  return t;
}

WSL_TOKENIZER_COMPILED_PART bool tokenizer::is_in(const std::string& folder) {
  const auto has = [&](const char* name) { return std::filesystem::exists(folder + "/" + name); };
  return has("tokenizer.json") || has("tokenizer.model") || has("spiece.model") ||
         ((has("vocab.json") || has("encoder.json")) && (has("merges.txt") || has("vocab.bpe")));
}

WSL_TOKENIZER_COMPILED_PART std::string tokenizer::json_of(const std::string& path) {
  return detail::files_of_tokenizer(path).json().dump();
}

WSL_TOKENIZER_COMPILED_PART tokenizer tokenizer::from_json(const std::string& text, const std::string& name) {
  return tokenizer(detail::stages_of(detail::parsed_tokenizer(text, name), name));
}

WSL_TOKENIZER_COMPILED_PART tokenizer tokenizer::from_gpt2(const std::string& vocabulary_file,
                                                           const std::string& merges_file) {
  return tokenizer(detail::stages_of(detail::json_of_gpt2(vocabulary_file, merges_file), vocabulary_file));
}

WSL_TOKENIZER_COMPILED_PART const char* tokenizer::model_name() const { return stages_->model->name(); }

WSL_TOKENIZER_COMPILED_PART const std::string& tokenizer::token(i32 id) const {
  if (const added_token* t = stages_->added.find(id)) return t->text;
  if (!stages_->model->tokens().has(id))
    throw std::invalid_argument(fmt::format("wsl: there is no token {} in a vocabulary of {}", id, size()));
  return stages_->model->tokens().token(id);
}

WSL_TOKENIZER_COMPILED_PART std::optional<i32> tokenizer::id(std::string_view token) const {
  if (const auto found = stages_->added.id(token)) return found;
  return stages_->model->tokens().id(token);
}

WSL_TOKENIZER_COMPILED_PART const std::vector<added_token>& tokenizer::added() const {
  return stages_->added.all();
}

WSL_TOKENIZER_COMPILED_PART bool tokenizer::is_special(i32 id) const {
  const added_token* t = stages_->added.find(id);
  return t && t->is_special;
}

WSL_TOKENIZER_COMPILED_PART std::vector<i32> tokenizer::encode(std::string_view text,
                                                               const encode_options& how) const {
  return stages_
      ->arranged(how.add_special_tokens ? stages_->arranges.single : detail::post_processor{}.single, text,
                 {}, how)
      .ids;
}

WSL_TOKENIZER_COMPILED_PART encoded_pair tokenizer::encode_pair(std::string_view first,
                                                                std::string_view second,
                                                                const encode_options& how) const {
  return stages_->arranged(how.add_special_tokens ? stages_->arranges.pair : detail::post_processor{}.pair,
                           first, second, how);
}

WSL_TOKENIZER_COMPILED_PART std::string tokenizer::normalized(std::string text) const {
  return stages_->normalizes ? stages_->normalizes(std::move(text)) : text;
}

WSL_TOKENIZER_COMPILED_PART std::string tokenizer::decode(std::span<const i32> ids,
                                                          const decode_options& how) const {
  detail::token_texts texts;
  texts.reserve(ids.size());
  for (i32 id : ids) {
    const std::string& text = token(id);
    if (!how.skip_special_tokens || !is_special(id)) texts.push_back(text);
  }
  if (stages_->decodes) texts = stages_->decodes(std::move(texts));
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) all += (i && !stages_->decodes ? " " : "") + texts[i];
  return all;
}

WSL_TOKENIZER_COMPILED_PART void tokenizer::read_roles(const std::filesystem::path& folder) {
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    const std::string path = (folder / name).string();
    if (!std::filesystem::exists(path)) continue;
    const nlohmann::json json = nlohmann::json::parse(read_whole(path), nullptr, false);
    if (!json.is_object()) throw file_error(fmt::format("wsl: {}: it is not one object in JSON", path));
    const detail::json_field all(json, "", path);
    const auto role = [&](const char* key, std::optional<i32>& to) {
      if (!all.has(key)) return;
      const detail::json_field f = all.at(key);
      const std::string& text = f.value().is_object() ? f.at("content").text() : f.text();
      if (const auto found = id(text)) to = found;
      else throw f.error(fmt::format("there is no token '{}'", text));
    };
    role("bos_token", begin_), role("eos_token", end_);
  }
}

WSL_TOKENIZER_COMPILED_PART std::vector<i32> encode_sections(const tokenizer& by, std::string_view text,
                                                             const encode_options& how) {
  if (!by.end_of_text()) throw std::invalid_argument("wsl: this tokenizer has no token that ends a text");
  std::vector<i32> ids;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t gap = text.find("\n\n", at),
                      end = gap == std::string_view::npos ? text.size() + 1 : gap + 2;
    const std::vector<i32> section = by.encode(text.substr(at, end - at), how);
    ids.push_back(*by.end_of_text());
    ids.insert(ids.end(), section.begin(), section.end());
    at = end;
  }
  return ids;
}

}  // namespace wsl::ml
