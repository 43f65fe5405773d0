// SPDX-License-Identifier: MIT
// Training of a byte pair encoding over bytes: the pair of neighbours that is most frequent in the words of
// the texts becomes a token, again and again; of equally frequent pairs, the one whose tokens came first.
//   byte_pair_training training({.size = 8000});
//   training.add(read_text("input.txt"));
//   write_whole_file("tokenizer.json", training.tokenizer_json());
#pragma once
#include <algorithm>
#include <queue>
#include <unordered_set>

#include "byte_level_document.hpp"

namespace wsl::ml {

struct byte_pair_settings {
  int size = 8000;                                       ///< of the vocabulary, special tokens included
  u64 least_count = 2;                                   ///< a rarer pair does not become a token
  std::vector<std::string> special = {"<|endoftext|>"};  ///< they have the first numbers
  word_style style = word_style::gpt2;
};

class byte_pair_training {
 public:
  /// Throws std::invalid_argument for a vocabulary that does not hold the bytes and the special tokens, or
  /// has more than 2^24 tokens, and for special tokens that are empty, twice there, or the letter of a byte.
  explicit byte_pair_training(byte_pair_settings how) : how_(std::move(how)) {
    const std::size_t least = 256 + how_.special.size();
    if (how_.size < static_cast<i64>(least) || how_.size > 1 << 24)
      throw std::invalid_argument(
          fmt::format("wsl: a vocabulary of {} tokens: it has {} at least, the bytes and the special tokens, "
                      "and 2^24 at most",
                      how_.size, least));
    for (const std::string& token : how_.special) add_token(token);
    // As the reference numbers them, in the order of the letters that stand for them.
    std::vector<std::pair<char32_t, std::size_t>> letters;
    for (std::size_t b = 0; b < 256; ++b) letters.emplace_back(letters_of_all_bytes()[b], b);
    std::sort(letters.begin(), letters.end());
    for (const auto& [letter, byte] : letters) {
      std::string token;
      append_utf8(token, letter);
      of_byte_[byte] = add_token(token);
    }
  }

  /// Counts the words of a text. Throws std::invalid_argument if it is not UTF-8.
  void add(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) next_code_point(text, at);
    words_.divide(text, [&](std::size_t begin, std::size_t end, bool) {
      const std::string_view part = text.substr(begin, end - begin);
      const auto found = counts_.find(part);
      if (found != counts_.end()) ++found->second;
      else counts_.emplace(part, 1);
    });
  }

  /// The trained tokenizer, as the text of a tokenizer.json.
  std::string tokenizer_json() const {
    nlohmann::json numbers = nlohmann::json::object(), added = nlohmann::json::array(),
                   merges = nlohmann::json::array();
    state s = begin();
    while (static_cast<int>(s.tokens.size()) < how_.size && merge_one(s)) {}
    for (std::size_t id = 0; id < s.tokens.size(); ++id) numbers[s.tokens[id]] = id;
    for (std::size_t id = 0; id < how_.special.size(); ++id)
      added.push_back(detail::added_entry(how_.special[id], static_cast<i32>(id), true));
    for (const auto& [a, b] : s.merges)
      merges.push_back({s.tokens[static_cast<std::size_t>(a)], s.tokens[static_cast<std::size_t>(b)]});
    return detail::byte_level_document(std::move(numbers), std::move(merges), std::move(added), how_.style)
        .dump(1);
  }

 private:
  using pair = std::pair<i32, i32>;
  struct pair_hash {
    std::size_t operator()(const pair& p) const {
      return (static_cast<u64>(p.first) << 32 | static_cast<u32>(p.second)) * 0x9e3779b97f4a7c15u >> 7;
    }
  };
  struct word {
    std::vector<i32> ids;
    i64 count;
  };
  struct candidate {
    i64 count;
    pair of;
    bool operator<(const candidate& o) const { return count != o.count ? count < o.count : of > o.of; }
  };
  struct state {
    std::vector<std::string> tokens;
    std::unordered_map<std::string, i32> ids;
    std::vector<word> words;
    std::unordered_map<pair, i64, pair_hash> counts;
    std::unordered_map<pair, std::unordered_set<u32>, pair_hash> places;  // the words that may have a pair
    std::priority_queue<candidate> candidates;                            // counts may have become less since
    std::vector<pair> merges;
  };

  i32 add_token(const std::string& token) {
    if (token.empty() || !ids_.emplace(token, static_cast<i32>(tokens_.size())).second)
      throw std::invalid_argument(
          fmt::format("wsl: the special token '{}' is empty, there twice, or the letter of a byte", token));
    tokens_.push_back(token);
    return static_cast<i32>(tokens_.size()) - 1;
  }

  state begin() const {
    state s{.tokens = tokens_,
            .ids = ids_,
            .words = {},
            .counts = {},
            .places = {},
            .candidates = {},
            .merges = {}};
    for (const auto& [text, count] : counts_) {
      word w{{}, count};
      for (char b : text) w.ids.push_back(of_byte_[static_cast<u8>(b)]);
      s.words.push_back(std::move(w));
    }
    for (u32 i = 0; i < s.words.size(); ++i)
      for (std::size_t j = 0; j + 1 < s.words[i].ids.size(); ++j) {
        const pair p{s.words[i].ids[j], s.words[i].ids[j + 1]};
        s.counts[p] += s.words[i].count;
        s.places[p].insert(i);
      }
    for (const auto& [p, count] : s.counts) s.candidates.push({count, p});
    return s;
  }

  // False if no pair is frequent enough.
  bool merge_one(state& s) const {
    while (!s.candidates.empty()) {
      candidate top = s.candidates.top();
      s.candidates.pop();
      const i64 now = s.counts[top.of];
      if (now != top.count) {
        if (now > 0) s.candidates.push({now, top.of});
        continue;
      }
      if (now < 1 || static_cast<u64>(now) < how_.least_count) return false;
      merge(s, top.of);
      return true;
    }
    return false;
  }
  void merge(state& s, const pair& p) const {
    const std::string made =
        s.tokens[static_cast<std::size_t>(p.first)] + s.tokens[static_cast<std::size_t>(p.second)];
    const auto [found, is_new] = s.ids.emplace(made, static_cast<i32>(s.tokens.size()));
    const i32 id = found->second;
    if (is_new) s.tokens.push_back(made);
    s.merges.push_back(p);
    const std::unordered_set<u32> words = std::exchange(s.places[p], {});
    std::unordered_set<pair, pair_hash> grown;
    for (u32 w : words) merge_in(s, w, p, id, grown);
    for (const pair& g : grown)
      if (const i64 count = s.counts[g]; count > 0) s.candidates.push({count, g});
  }
  static void merge_in(state& s, u32 index, const pair& p, i32 id,
                       std::unordered_set<pair, pair_hash>& grown) {
    word& w = s.words[index];
    const auto count = [&](const std::vector<i32>& ids, i64 change) {
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        const pair q{ids[i], ids[i + 1]};
        s.counts[q] += change;
        if (change > 0 && (q.first == id || q.second == id)) s.places[q].insert(index), grown.insert(q);
      }
    };
    std::vector<i32> merged;
    for (std::size_t i = 0; i < w.ids.size(); ++i) {
      const bool here = i + 1 < w.ids.size() && w.ids[i] == p.first && w.ids[i + 1] == p.second;
      merged.push_back(here ? id : w.ids[i]);
      if (here) ++i;
    }
    if (merged.size() == w.ids.size()) return;
    count(w.ids, -w.count);
    count(merged, w.count);
    w.ids = std::move(merged);
  }

  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view t) const { return std::hash<std::string_view>()(t); }
  };

  byte_pair_settings how_;
  pattern words_ = pattern::of(how_.style == word_style::gpt2 ? detail::gpt2_words : detail::llama3_words);
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, i32> ids_;
  std::array<i32, 256> of_byte_{};
  std::unordered_map<std::string, i64, text_hash, std::equal_to<>> counts_;
};

}  // namespace wsl::ml
