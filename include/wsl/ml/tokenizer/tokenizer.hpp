// SPDX-License-Identifier: MIT
// Tokenizers of language models: from text to the numbers of tokens and back, as a tokenizer.json of Hugging
// Face describes it (github.com/huggingface/tokenizers): GPT-2, Llama, Mistral, StarCoder, BERT, T5 and
// others. An encoding goes through five stages:
//   text -> special tokens -> normalizer -> pre-tokenizer -> model -> post-processor -> numbers
//         <|endoftext|>      lower case    words         BPE, ...  [CLS] ... [SEP]
// and decoding through one, the decoder.
//   const tokenizer t = tokenizer::from_file("tokenizer.json");
//   const std::vector<i32> ids = t.encode("Hello world");
//   const std::string text = t.decode(ids);
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../support/compiled.hpp"
#include "added_token.hpp"

namespace wsl::ml {

namespace detail {

struct tokenizer_stages;  // encoding.hpp

}  // namespace detail

struct encode_options {
  bool add_special_tokens = true;    ///< those of the post-processor, such as a token at the beginning
  bool match_special_tokens = true;  ///< special tokens that are written in a text are tokens, not text
};
struct decode_options {
  bool skip_special_tokens = true;
};

/// Two texts in a row, and the segment of each token (token_type_ids).
struct encoded_pair {
  std::vector<i32> ids, types;
};

class tokenizer {
 public:
  /// From a tokenizer.json, a SentencePiece model (tokenizer.model), or a folder that has one of them or
  /// GPT-2's vocab.json and merges.txt (also called encoder.json and vocab.bpe). Files beside it that
  /// transformers write (tokenizer_config.json, special_tokens_map.json) say which tokens begin and end a
  /// text. Truncation and padding in a tokenizer.json are left to the caller. Throws file_error.
  static tokenizer from_file(const std::string& path);
  /// Whether a folder has such files.
  static bool is_in(const std::string& folder);
  /// The text of the tokenizer.json that such a file or folder is or stands for, so that a tokenizer can be
  /// kept as one text. Which tokens begin and end a text is not in it if files beside it say so. Throws
  /// file_error.
  static std::string json_of(const std::string& path);
  /// From the text of a tokenizer.json; `name` is for messages.
  static tokenizer from_json(const std::string& text, const std::string& name);
  /// From GPT-2's two files.
  static tokenizer from_gpt2(const std::string& vocabulary_file, const std::string& merges_file);

  /// One more than the largest number of a token.
  int size() const { return size_; }
  /// BPE, Unigram, WordPiece or WordLevel.
  const char* model_name() const;
  /// The written form of a token, with the signs that its model has for spaces and bytes. Throws
  /// std::invalid_argument for a number that no token has.
  const std::string& token(i32 id) const;
  std::optional<i32> id(std::string_view token) const;
  const std::vector<added_token>& added() const;
  bool is_special(i32 id) const;
  /// The token at the beginning of a text, and the one at its end; that of GPT-2 is both.
  std::optional<i32> begin_of_text() const { return begin_; }
  std::optional<i32> end_of_text() const { return end_; }

  /// The tokens of a text. Throws std::invalid_argument if it is not UTF-8, or has a gigabyte or more.
  std::vector<i32> encode(std::string_view text, const encode_options& how = {}) const;
  /// The tokens of two texts, as models that compare texts take them.
  encoded_pair encode_pair(std::string_view first, std::string_view second,
                           const encode_options& how = {}) const;
  /// The text as the normalizer changes it before it is divided, for instance to lower case. Special tokens
  /// are not looked for.
  std::string normalized(std::string text) const;
  /// The text of tokens. Bytes that are not UTF-8, as at the edges of a part of a text, become U+FFFD. Throws
  /// std::invalid_argument for a number that no token has.
  std::string decode(std::span<const i32> ids, const decode_options& how = {}) const;

 private:
  explicit tokenizer(std::shared_ptr<const detail::tokenizer_stages> stages);
  // Where transformers have written which tokens begin and end a text.
  void read_roles(const std::filesystem::path& folder);

  std::shared_ptr<const detail::tokenizer_stages> stages_;
  int size_ = 0;
  std::optional<i32> begin_, end_;
};

/// The tokens of a text with the end of a text before each section; an empty line ends a section. This is how
/// llm.c makes its files of Shakespeare (dev/data/tinyshakespeare.py). Throws std::invalid_argument if no
/// token ends a text.
std::vector<i32> encode_sections(const tokenizer& by, std::string_view text, const encode_options& how = {});

}  // namespace wsl::ml

#ifndef WSL_TOKENIZER_COMPILED
#include "encoding.hpp"
#endif
