// SPDX-License-Identifier: MIT
// What a language model reads: files of text or of tokens, and the vocabulary that leads from one to the
// other.
#pragma once
#include <memory>
#include <optional>
#include <wsl/ml/data/bpe.hpp>
#include <wsl/ml/data/characters.hpp>
#include <wsl/ml/data/token_file.hpp>

namespace gpt_app {

/// Text to tokens and back: characters, or the words of GPT-2, of which only the numbers may be known.
/// Without either, tokens are numbers that nobody can read.
class vocabulary {
 public:
  vocabulary() = default;
  explicit vocabulary(wsl::ml::characters letters) : letters_(std::move(letters)) {}
  /// GPT-2's numbers; with a folder of encoder.json and vocab.bpe their words, too.
  static vocabulary gpt2(const std::string& folder);

  /// 0 if nobody can say.
  int size() const { return letters_ ? letters_->size() : words_ ? words_->size() : is_gpt2_ ? 50257 : 0; }
  /// Throws std::invalid_argument for text that the vocabulary cannot say.
  std::vector<wsl::i32> encode(std::string_view text) const;
  /// Numbers with blanks between them if there are no words.
  std::string decode(std::span<const wsl::i32> ids) const;

  /// What a checkpoint keeps of it; words are in files of their own.
  std::string saved() const {
    return letters_ ? "characters\n" + letters_->letters() : is_gpt2_ ? "gpt2" : "";
  }
  /// `folder` holds encoder.json and vocab.bpe, if words are meant.
  static vocabulary from_saved(const std::string& text, const std::string& folder);

 private:
  std::optional<wsl::ml::characters> letters_;
  std::shared_ptr<const wsl::ml::bpe> words_;
  bool is_gpt2_ = false;
};

struct corpus {
  wsl::ml::tokens train, held_out;
  vocabulary words;
  std::string about;                   ///< for people
  bool is_vocabulary_assumed = false;  ///< nobody has said what the tokens are: characters of a text
};

struct corpus_words {
  std::string train, held_out;  ///< files or folders; both empty: this project's own pages
  std::string kind;             ///< of vocabulary: characters, gpt2; empty: what the data are
  std::string tokenizer_dir;
};

/// Reads what there is: a file of text, of which the last tenth is held out; a file or a folder of tokens
/// (train.bin and val.bin); or a folder of .txt and .md files. What tokens are is said by a vocabulary beside
/// their file, or by its header. Throws wsl::ml::file_error, also if that is not the kind that was asked for.
corpus read_corpus(const corpus_words& asked);

}  // namespace gpt_app
