// SPDX-License-Identifier: MIT
// The data of a language model: files of text or of tokens, and the vocabulary that converts between them.
#pragma once
#include <memory>
#include <optional>
#include <wsl/ml/data/characters.hpp>
#include <wsl/ml/data/token_file.hpp>
#include <wsl/ml/tokenizer/streaming_decoder.hpp>

namespace gpt_app {

/// Converts text to tokens and back: characters, or the words of GPT-2, of which possibly only the numbers
/// are known. Without either, tokens are numbers without a text.
class vocabulary {
 public:
  vocabulary() = default;
  explicit vocabulary(wsl::ml::characters letters) : letters_(std::move(letters)) {}
  /// GPT-2's numbers; with a folder of encoder.json and vocab.bpe also their words.
  static vocabulary gpt2(const std::string& folder);
  /// The tokenizer of a model that another program has trained, with the special tokens with which its texts
  /// begin. Throws wsl::ml::file_error.
  static vocabulary of_model(const std::string& folder);

  /// The number of tokens; 0 if it is not known.
  int size() const { return letters_ ? letters_->size() : words_ ? words_->size() : is_gpt2_ ? 50257 : 0; }
  /// Without words a text is numbers with blanks between them. Throws std::invalid_argument for text that the
  /// vocabulary cannot encode.
  std::vector<wsl::i32> encode(std::string_view text) const;
  /// The prompt of a chat with one question, by the template beside the tokenizer in a folder, and the token
  /// that ends an answer. An empty `system` is none. Throws wsl::ml::file_error for a template that is not
  /// known.
  std::pair<std::vector<wsl::i32>, std::optional<wsl::i32>> chat(const std::string& folder,
                                                                 const std::string& system,
                                                                 const std::string& question) const;
  /// Numbers with blanks between them if there are no words.
  std::string decode(std::span<const wsl::i32> ids) const;
  /// The token with which a text begins that has no other, if it is known.
  std::optional<wsl::i32> begin_of_text() const {
    return of_model_ ? words_->begin_of_text() : std::optional<wsl::i32>();
  }

  /// The token that ends a text of a tokenizer, if it is known, the number of a token by its name, and the
  /// tokens with which the tokenizer begins every text.
  std::optional<wsl::i32> end_of_text() const {
    return words_ ? words_->end_of_text() : std::optional<wsl::i32>();
  }
  std::optional<wsl::i32> id(const std::string& token) const {
    return words_ ? words_->id(token) : std::optional<wsl::i32>();
  }
  std::vector<wsl::i32> begin_tokens() const;
  /// The tokenizer; none of characters and of numbers.
  const std::shared_ptr<const wsl::ml::tokenizer>& tokens() const { return words_; }

  /// The part of it that a checkpoint stores; words are in files of their own.
  std::string saved() const {
    return letters_ ? "characters\n" + letters_->letters() : is_gpt2_ ? "gpt2" : "";
  }
  /// `folder` holds encoder.json and vocab.bpe, if words are meant.
  static vocabulary from_saved(const std::string& text, const std::string& folder);

 private:
  friend class text_stream;

  std::optional<wsl::ml::characters> letters_;
  std::shared_ptr<const wsl::ml::tokenizer> words_;
  bool is_gpt2_ = false, of_model_ = false;  // whether texts have special tokens
};

/// Decodes tokens one at a time, as a model writes them: a character appears when its last byte is there.
class text_stream {
 public:
  /// Refers to the vocabulary.
  explicit text_stream(const vocabulary& by) : by_(&by) {
    if (by.words_) words_.emplace(*by.words_, wsl::ml::decode_options{.skip_special_tokens = by.of_model_});
  }
  std::string put(wsl::i32 id) { return words_ ? words_->put(id) : by_->decode({&id, 1}); }
  std::string finish() { return words_ ? words_->finish() : ""; }

 private:
  const vocabulary* by_;
  std::optional<wsl::ml::streaming_decoder> words_;
};

/// Whether two folders with tokenizers, or their files, have the same tokens. Throws wsl::ml::file_error.
bool have_same_tokens(const std::string& one, const std::string& other);

struct corpus {
  wsl::ml::tokens train, held_out;
  vocabulary words;
  int vocab_size = 0;              ///< that of a vocabulary of which only the size is known; 0: words.size()
  std::string tokenizer_dir = {};  ///< the folder of the tokenizer beside the tokens; empty: none
  std::string about;               ///< a description for people
  /// no file or option names the vocabulary, so it is the characters of the text
  bool is_vocabulary_assumed = false;
};

struct corpus_words {
  /// Files or folders, of tokens also lists and patterns (data_dir); both empty: this project's own pages.
  std::string train, held_out;
  bool only_held_out = false;  ///< the text to train with is not read; what is held out takes its place
  std::string kind;            ///< the kind of vocabulary: characters, gpt2; empty: that of the data
  std::string tokenizer_dir;
  /// the vocabulary of the weights that a run begins with, as a checkpoint stores it; a text of characters is
  /// encoded with it
  std::string of_weights = {};
  std::string of_model = {};  ///< the folder of the model that a run begins with: a text must have its tokens
};

/// Reads a corpus: a file of text, of which the last tenth is held out; files of tokens (.bin), patterns of
/// their names and folders with them, those for training with `train` and those for evaluation with `val` in
/// their names; or a folder of .txt and .md files. The vocabulary is that of the text to train with; a
/// character of the held-out text that it lacks is an error with its place. The kind of tokens is given by a
/// vocabulary beside their file, or by its header. Throws wsl::ml::file_error, also if it is not the kind
/// that was asked for.
corpus read_corpus(const corpus_words& asked);

}  // namespace gpt_app
