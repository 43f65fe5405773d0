// SPDX-License-Identifier: MIT
// WordPiece, the model of BERT: from the left, the longest token that a word begins with; those inside of a
// word have a prefix (##). A word that has a part without a token is the unknown token as a whole. With whole
// words only, this is the model WordLevel.
#pragma once
#include "token_model.hpp"

namespace wsl::ml::detail {

class word_piece final : public token_model {
 public:
  word_piece(const json_field& f, bool whole_words)
      : tokens_(vocabulary::of_object(f.at("vocab"))),
        prefix_(f.text("continuing_subword_prefix", "##")),
        whole_words_(whole_words) {
    if (f.has("max_input_chars_per_word"))
      longest_ = static_cast<std::size_t>(f.at("max_input_chars_per_word").id());
    const std::string unknown = f.text("unk_token", "[UNK]");
    const auto id = tokens_.id(unknown);
    if (!id) throw f.error(fmt::format("the vocabulary has no '{}', which 'unk_token' names", unknown));
    unknown_ = *id;
  }
  const char* name() const override { return whole_words_ ? "WordLevel" : "WordPiece"; }
  const vocabulary& tokens() const override { return tokens_; }

  void encode(std::string_view word, bool are_bytes, std::vector<i32>& ids) const override {
    if (are_bytes) return encode(letters_of_bytes(word), false, ids);
    if (whole_words_) return ids.push_back(tokens_.id(word).value_or(unknown_));
    std::size_t characters = 0;
    for (std::size_t at = 0; at < word.size(); ++characters) at += unicode::bytes_from(word[at]);
    const std::size_t first = ids.size();
    for (std::size_t begin = 0; begin < word.size();) {
      std::size_t end = word.size();
      std::optional<i32> id;
      for (; characters <= longest_ && end > begin; unicode::step_back(word, end)) {
        const std::string_view part = word.substr(begin, end - begin);
        id = begin > 0 ? tokens_.id(prefix_ + std::string(part)) : tokens_.id(part);
        if (id) break;
      }
      if (!id) {
        ids.resize(first);
        return ids.push_back(unknown_);
      }
      ids.push_back(*id);
      begin = end;
    }
  }

 private:
  vocabulary tokens_;
  std::string prefix_;
  bool whole_words_;
  std::size_t longest_ = 100;
  i32 unknown_;
};

}  // namespace wsl::ml::detail
