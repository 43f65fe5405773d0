// SPDX-License-Identifier: MIT
// The unigram language model (Kudo, 2018), the model of T5: of all divisions of a word into tokens the one
// whose sum of scores (logarithms of probabilities) is largest, found from left to right (Viterbi).
#pragma once
#include <algorithm>
#include <limits>

#include "byte_trie.hpp"
#include "token_model.hpp"

namespace wsl::ml::detail {

class unigram final : public token_model {
 public:
  explicit unigram(const json_field& f) {
    f64 least = 0;
    const std::vector<json_field> all = f.at("vocab").items();
    for (std::size_t id = 0; id < all.size(); ++id) {
      const std::vector<json_field> entry = all[id].items();
      if (entry.size() != 2) throw all[id].wrong("a token and its score");
      const std::string& token = entry[0].text();
      tokens_.add(token, static_cast<i32>(id));
      scores_.push_back(entry[1].number());
      least = std::min(least, scores_.back());
      trie_.add(token, static_cast<i32>(id));
    }
    if (f.has("unk_id")) {
      unknown_ = f.at("unk_id").id();
      if (!tokens_.has(unknown_)) throw f.at("unk_id").error("the vocabulary has no such token");
    }
    if (f.flag("byte_fallback", false)) bytes_ = byte_tokens(tokens_);
    if (unknown_ < 0 && bytes_.empty())
      throw f.error(
          "neither 'unk_id' nor tokens of bytes: a character that no token has would have no number");
    unknown_score_ = least - 10;
  }
  const char* name() const override { return "Unigram"; }
  const vocabulary& tokens() const override { return tokens_; }

  void encode(std::string_view word, bool are_bytes, std::vector<i32>& ids) const override {
    if (are_bytes) return encode(letters_of_bytes(word), false, ids);
    struct node {
      f64 score = 0;
      i32 id = -1;
      std::size_t begin = std::string_view::npos;
    };
    std::vector<node> best(word.size() + 1);  // the best division of what is before a byte
    const auto consider = [&](std::size_t begin, std::size_t end, i32 id, f64 score) {
      if (best[end].begin == std::string_view::npos || score > best[end].score)
        best[end] = {score, id, begin};
    };
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t one = unicode::bytes_from(word[at]);
      const f64 before = best[at].score;
      bool has_character = false;
      trie_.each_beginning(word.substr(at), [&](std::size_t bytes, i32 id) {
        consider(at, at + bytes, id, before + scores_[static_cast<std::size_t>(id)]);
        has_character = has_character || bytes == one;
      });
      if (!has_character) consider(at, at + one, missing, before + unknown_score_);
      at += one;
    }
    // Unknown characters in a row are one token.
    std::vector<words_part> parts;
    for (std::size_t end = word.size(); end > 0;) {
      const node& n = best[end];
      const bool is_unknown = n.id == missing || n.id == unknown_;
      if (is_unknown && !parts.empty() && parts.back().is_unknown) parts.back().begin = n.begin;
      else parts.push_back({n.begin, end, n.id, is_unknown});
      end = n.begin;
    }
    for (auto p = parts.rbegin(); p != parts.rend(); ++p)
      append(word.substr(p->begin, p->end - p->begin), *p, ids);
  }

 private:
  struct words_part {
    std::size_t begin, end;
    i32 id;
    bool is_unknown;
  };
  void append(std::string_view text, const words_part& p, std::vector<i32>& ids) const {
    if (!p.is_unknown) return ids.push_back(p.id);
    if (const auto id = tokens_.id(text)) return ids.push_back(*id);
    if (bytes_.empty()) return ids.push_back(unknown_);
    for (char b : text) ids.push_back(bytes_[static_cast<u8>(b)]);
  }

  static constexpr i32 missing = -2;
  vocabulary tokens_;
  std::vector<f64> scores_;
  byte_trie trie_;
  i32 unknown_ = -1;
  f64 unknown_score_ = 0;
  std::vector<i32> bytes_;
};

}  // namespace wsl::ml::detail
