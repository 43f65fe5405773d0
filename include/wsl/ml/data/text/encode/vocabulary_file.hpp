// SPDX-License-Identifier: MIT
// The tokenizer that a vocabulary file of the Model Zoo stands for. A list (.txt) has one token a line, in
// the order of their numbers: that of BERT's word pieces, or that of texts whose tokens are divided by
// blanks. Whatever tokenizer::from_file reads is taken as well.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "../../../tokenizer/tokenizer.hpp"
#include "../line_file.hpp"

namespace wsl::ml {

/// Whether a file has one token a line.
inline bool is_token_list(const std::string& name) {
  return std::filesystem::path(name).extension() == ".txt";
}

namespace detail {

/// The numbers of the tokens of a list. Throws file_error if one is there twice.
inline nlohmann::json numbers_of_tokens(const std::string& name) {
  const line_file in(name);
  nlohmann::json numbers = nlohmann::json::object();
  for (i64 i = 0; i < in.count(); ++i) {
    const std::string token(in.line(i));
    if (token.empty() && i + 1 == in.count()) break;
    if (!numbers.emplace(token, i).second)
      throw in.error(i, fmt::format("the token '{}' is there twice: remove one", token));
  }
  return numbers;
}
inline void add_special(nlohmann::json& to, const nlohmann::json& numbers, const std::string& token) {
  if (numbers.contains(token))
    to.push_back({{"id", numbers[token]},
                  {"content", token},
                  {"single_word", false},
                  {"lstrip", false},
                  {"rstrip", false},
                  {"normalized", false},
                  {"special", true}});
}

}  // namespace detail

namespace detail {

/// The tokenizer.json of BERT's WordPiece with the tokens of a list.
inline nlohmann::json json_of_word_pieces(const std::string& name, bool lowers) {
  const nlohmann::json vocabulary = numbers_of_tokens(name);
  for (const char* needed : {"[UNK]", "[CLS]", "[SEP]"})
    if (!vocabulary.contains(needed))
      throw file_error(fmt::format("wsl: {}: there is no token {}: is this BERT's vocab.txt?", name, needed));
  nlohmann::json added = nlohmann::json::array();
  for (const char* special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    add_special(added, vocabulary, special);
  const auto around = [&](const char* token) { return nlohmann::json::array({token, vocabulary[token]}); };
  return {
      {"version", "1.0"},
      {"model",
       {{"type", "WordPiece"},
        {"unk_token", "[UNK]"},
        {"continuing_subword_prefix", "##"},
        {"max_input_chars_per_word", 100},
        {"vocab", vocabulary}}},
      {"normalizer",
       {{"type", "BertNormalizer"},
        {"clean_text", true},
        {"handle_chinese_chars", true},
        {"strip_accents", nullptr},
        {"lowercase", lowers}}},
      {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"post_processor", {{"type", "BertProcessing"}, {"cls", around("[CLS]")}, {"sep", around("[SEP]")}}},
      {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
      {"added_tokens", added}};
}
/// That of texts whose tokens are divided by blanks.
inline nlohmann::json json_of_whole_words(const std::string& name, const std::string& unknown, bool lowers) {
  const nlohmann::json vocabulary = numbers_of_tokens(name);
  nlohmann::json added = nlohmann::json::array();
  for (const std::string& special : {unknown, std::string("<pad>"), std::string("<s>"), std::string("</s>")})
    add_special(added, vocabulary, special);
  nlohmann::json all = {{"version", "1.0"},
                        {"model", {{"type", "WordLevel"}, {"unk_token", unknown}, {"vocab", vocabulary}}},
                        {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
                        {"added_tokens", added}};
  if (lowers) all["normalizer"] = {{"type", "Lowercase"}};
  return all;
}

}  // namespace detail

/// The tokenizer.json of numbers as words, with blanks between them, for data whose tokens have no words: the
/// first tokens are special ones of these names, the first of which is the unknown one, and each other token
/// is its number. Throws std::invalid_argument for a vocabulary without room for them.
inline std::string vocabulary_of_numbers(int size, const std::vector<std::string>& special) {
  if (size <= std::ssize(special))
    throw std::invalid_argument(fmt::format(
        "wsl: a vocabulary of {} tokens has no room for {} special ones and others", size, special.size()));
  nlohmann::json vocabulary = nlohmann::json::object(), added = nlohmann::json::array();
  for (int id = 0; id < size; ++id)
    vocabulary[id < std::ssize(special) ? special[static_cast<std::size_t>(id)] : std::to_string(id)] = id;
  for (const std::string& token : special) detail::add_special(added, vocabulary, token);
  return nlohmann::json{
      {"version", "1.0"},
      {"model", {{"type", "WordLevel"}, {"unk_token", special.front()}, {"vocab", vocabulary}}},
      {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
      {"added_tokens", added}}
      .dump();
}

/// BERT's WordPiece with the tokens of a list. `lowers` also leaves out accents. Throws file_error if a token
/// is there twice, or one of [UNK], [CLS] and [SEP] is missing.
inline tokenizer word_pieces_of_list(const std::string& name, bool lowers) {
  return tokenizer::from_json(detail::json_of_word_pieces(name, lowers).dump(), name);
}

/// The tokens of a list, for texts that are such tokens with blanks between them; what is not in the list is
/// the token `unknown`. `lowers` makes texts lower case. Throws file_error if a token is there twice, or the
/// unknown one is missing.
inline tokenizer whole_words_of_list(const std::string& name, const std::string& unknown, bool lowers) {
  return tokenizer::from_json(detail::json_of_whole_words(name, unknown, lowers).dump(), name);
}

namespace detail {

inline void check_vocabulary_name(const std::string& name, const char* field) {
  if (name.empty())
    throw std::invalid_argument(
        fmt::format("wsl: {} is missing: name a list of tokens (.txt), a tokenizer.json, a SentencePiece "
                    "model, or a folder with one",
                    field));
}
inline void check_lower_case(const tokenizer& t, const std::string& name, bool lowers) {
  if (lowers && t.normalized("A") == "A")
    throw std::invalid_argument(
        fmt::format("wsl: {}: do_lower is set, but this tokenizer does not make texts lower case: leave it "
                    "out, or take a list of tokens (.txt)",
                    name));
}

}  // namespace detail

/// The tokenizer of a file or a folder; `lowers` is of lists of tokens, and must be true of another file.
/// Throws file_error, and std::invalid_argument if that is not so.
inline tokenizer tokenizer_of(const std::string& name, bool lowers) {
  detail::check_vocabulary_name(name, "vocab_file");
  if (is_token_list(name)) return word_pieces_of_list(name, lowers);
  const tokenizer t = tokenizer::from_file(name);
  detail::check_lower_case(t, name, lowers);
  return t;
}
/// The same for encoder-decoders, whose lists are of whole tokens. Other files say themselves which token is
/// the unknown one.
inline tokenizer tokenizer_of_words(const std::string& name, const std::string& unknown, bool lowers) {
  detail::check_vocabulary_name(name, "src_vocab_file");
  if (is_token_list(name)) return whole_words_of_list(name, unknown, lowers);
  const tokenizer t = tokenizer::from_file(name);
  detail::check_lower_case(t, name, lowers);
  if (!t.id(unknown))
    throw std::invalid_argument(fmt::format(
        "wsl: {}: the tokenizer has no token '{}', which oov_token names: name its own", name, unknown));
  return t;
}

/// The tokenizer.json that a vocabulary stands for, as one text that can be kept: of encoders, and of
/// encoder-decoders. Throw what the functions above throw for a file that cannot be read.
inline std::string vocabulary_json(const std::string& name, bool lowers) {
  detail::check_vocabulary_name(name, "vocab_file");
  return is_token_list(name) ? detail::json_of_word_pieces(name, lowers).dump() : tokenizer::json_of(name);
}
inline std::string vocabulary_json_of_words(const std::string& name, const std::string& unknown,
                                            bool lowers) {
  detail::check_vocabulary_name(name, "src_vocab_file");
  return is_token_list(name) ? detail::json_of_whole_words(name, unknown, lowers).dump()
                             : tokenizer::json_of(name);
}

/// The first difference of two vocabularies in words, the first "here" and the second "there"; empty: they
/// have the same tokens.
inline std::string difference_of(const tokenizer& a, const tokenizer& b) {
  const auto token = [](const tokenizer& t, i32 id) {
    try {
      return t.token(id);
    } catch (const std::invalid_argument&) { return std::string(); }  // a number without a token
  };
  for (i32 id = 0; id < std::max(a.size(), b.size()); ++id) {
    const std::string x = id < a.size() ? token(a, id) : "", y = id < b.size() ? token(b, id) : "";
    if (x != y)
      return fmt::format("token {} is {} here and {} there, of {} and {} tokens", id,
                         x.empty() ? "none" : "'" + x + "'", y.empty() ? "none" : "'" + y + "'", a.size(),
                         b.size());
  }
  constexpr const char* upper = "A\xc3\x84";
  if (a.normalized(upper) != b.normalized(upper))
    return fmt::format("texts become '{}' here and '{}' there, where they are {}", a.normalized(upper),
                       b.normalized(upper), upper);
  return "";
}

}  // namespace wsl::ml
