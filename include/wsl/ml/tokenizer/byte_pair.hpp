// SPDX-License-Identifier: MIT
// Byte pair encoding (Sennrich, Haddow, Birch, 2016), the model of GPT-2, Llama and StarCoder. The characters
// of a word are merged, two neighbours at a time: the pair that comes first in the list of merges, of equal
// pairs the leftmost. A character without a token becomes the tokens of its bytes, where the vocabulary has
// those (Llama 2), or the unknown token.
#pragma once
#include <algorithm>
#include <queue>

#include "token_model.hpp"

namespace wsl::ml::detail {

class byte_pair final : public token_model {
 public:
  explicit byte_pair(const json_field& f)
      : tokens_(vocabulary::of_object(f.at("vocab"))),
        prefix_(f.text("continuing_subword_prefix", "")),
        suffix_(f.text("end_of_word_suffix", "")),
        fuses_unknown_(f.flag("fuse_unk", false)),
        takes_whole_words_(f.flag("ignore_merges", false)) {
    if (f.has("dropout") && f.at("dropout").number() != 0)
      throw f.at("dropout").error("tokens are not chosen at random here: set it to null");
    if (f.has("unk_token")) unknown_ = token_at(f.at("unk_token"), f.at("unk_token").text());
    if (f.flag("byte_fallback", false)) bytes_ = byte_tokens(tokens_);
    read_merges(f.at("merges"));
    for (std::size_t b = 0; b < 256; ++b) {
      std::string letter;
      append_utf8(letter, letters_of_all_bytes()[b]);
      of_byte_[b] = tokens_.id(letter).value_or(-1);
    }
    all_bytes_ = std::find(of_byte_.begin(), of_byte_.end(), -1) == of_byte_.end();
  }

  const char* name() const override { return "BPE"; }
  const vocabulary& tokens() const override { return tokens_; }

  void encode(std::string_view word, bool are_bytes, std::vector<i32>& ids) const override {
    const bool affixes = !prefix_.empty() || !suffix_.empty();
    if (are_bytes && all_bytes_ && !affixes) return encode_bytes(word, ids);
    if (are_bytes) return encode(letters_of_bytes(word), false, ids);
    if (takes_whole_words_)
      if (const auto id = tokens_.id(word)) return ids.push_back(*id);
    scratch s;
    if (affixes || takes_whole_words_) return encode_part(word, s, ids);
    // No token reaches across two characters that are side by side in none. So a text that has not been
    // divided into words, as those of Llama 2, falls into parts that are independent.
    std::size_t begin = 0;
    char32_t before = 0;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t here = at;
      const char32_t c = unicode::next(word, at);
      if (here > begin && !neighbours_[neighbours_at(before, c)] &&
          tokens_.id(word.substr(here, at - here))) {
        encode_known_part(word.substr(begin, here - begin), s, ids);
        begin = here;
      }
      before = c;
    }
    encode_known_part(word.substr(begin), s, ids);
  }

 private:
  struct merge {
    i32 rank, into;
  };
  struct part {
    i32 id;
    i32 before, after;  // -1: none
  };
  struct candidate {
    i32 rank, left, into;
    bool operator<(const candidate& o) const { return std::pair(rank, left) > std::pair(o.rank, o.left); }
  };
  // Memory that is used for one word after the other, and what has been found for parts of this text.
  struct scratch {
    std::vector<part> parts;
    std::vector<candidate> candidates;
    std::unordered_map<std::string_view, std::vector<i32>> known;
  };
  static u64 pair_of(i32 a, i32 b) { return static_cast<u64>(a) << 32 | static_cast<u64>(b); }

  i32 token_at(const json_field& f, const std::string& token) const {
    const auto id = tokens_.id(token);
    if (!id) throw f.error(fmt::format("the vocabulary has no '{}'", token));
    return *id;
  }

  void read_merges(const json_field& f) {
    std::vector<json_field> all = f.items();
    merges_.reserve(all.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const json_field& m = all[rank];
      std::string first, second;
      if (m.value().is_array() && m.value().size() == 2) {
        const std::vector<json_field> both = m.items();
        first = both[0].text(), second = both[1].text();
      } else {
        const std::string& line = m.text();
        const std::size_t space = line.find(' ');
        if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos)
          throw m.wrong("two tokens with a space between them");
        first = line.substr(0, space), second = line.substr(space + 1);
      }
      const bool continues = !prefix_.empty() && second.starts_with(prefix_);
      const i32 a = token_at(m, first), b = token_at(m, second),
                both = token_at(m, first + (continues ? second.substr(prefix_.size()) : second));
      // Of a pair that is there twice, the reference takes the last.
      merges_[pair_of(a, b)] = {static_cast<i32>(rank), both};
      note_neighbours(tokens_.token(both));
    }
  }
  static std::size_t neighbours_at(char32_t a, char32_t b) {
    return (static_cast<u64>(a) * 0x9e3779b97f4a7c15u + static_cast<u64>(b) * 0xc2b2ae3d27d4eb4fu) >> 44;
  }
  void note_neighbours(std::string_view token) {
    char32_t before = 0;
    for (std::size_t at = 0; at < token.size();) {
      const bool is_first = at == 0;
      const char32_t c = unicode::next(token, at);
      if (!is_first) neighbours_[neighbours_at(before, c)] = true;
      before = c;
    }
  }

  void encode_bytes(std::string_view word, std::vector<i32>& ids) const {
    if (takes_whole_words_)
      if (const auto id = tokens_.id(letters_of_bytes(word))) return ids.push_back(*id);
    thread_local scratch s;
    s.parts.clear();
    for (char b : word) add(s, of_byte_[static_cast<u8>(b)]);
    merge_all(s, ids);
  }
  void encode_known_part(std::string_view word, scratch& s, std::vector<i32>& ids) const {
    if (word.size() > 64) return encode_part(word, s, ids);
    const auto [found, is_new] = s.known.try_emplace(word);
    if (is_new) encode_part(word, s, found->second);
    ids.insert(ids.end(), found->second.begin(), found->second.end());
  }
  void encode_part(std::string_view word, scratch& s, std::vector<i32>& ids) const {
    s.parts.clear();
    bool unknown = false;
    const auto add_unknown = [&] {
      if (std::exchange(unknown, false)) add(s, *unknown_);
    };
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t begin = at;
      unicode::next(word, at);
      const std::string_view c = word.substr(begin, at - begin);
      std::string with_affixes;
      if (begin > 0 && !prefix_.empty()) with_affixes = prefix_ + std::string(c);
      if (at == word.size() && !suffix_.empty())
        with_affixes = (with_affixes.empty() ? std::string(c) : with_affixes) + suffix_;
      const std::string_view letter = with_affixes.empty() ? c : std::string_view(with_affixes);
      if (const auto id = tokens_.id(letter)) {
        add_unknown();
        add(s, *id);
      } else if (!bytes_.empty()) {
        for (char b : letter) add(s, bytes_[static_cast<u8>(b)]);
      } else if (unknown_) {
        if (!fuses_unknown_) add_unknown();
        unknown = true;
      }
    }
    add_unknown();
    merge_all(s, ids);
  }

  static void add(scratch& s, i32 id) {
    const i32 n = static_cast<i32>(s.parts.size());
    if (n > 0) s.parts.back().after = n;
    s.parts.push_back({id, n - 1, -1});
  }
  // Candidates wait in a heap, so that the time grows as n log n with the length of a word.
  void merge_all(scratch& s, std::vector<i32>& ids) const {
    if (s.parts.empty()) return;
    const auto at = [&](i32 i) -> part& { return s.parts[static_cast<std::size_t>(i)]; };
    const auto found = [&](i32 left) -> const merge* {
      const auto m = merges_.find(pair_of(at(left).id, at(at(left).after).id));
      return m == merges_.end() ? nullptr : &m->second;
    };
    const auto candidate_at = [&](i32 left) -> std::optional<candidate> {
      if (left < 0 || at(left).after < 0) return {};
      const merge* m = found(left);
      if (!m) return {};
      return candidate{m->rank, left, m->into};
    };
    std::vector<candidate>& heap = s.candidates;
    heap.clear();
    for (i32 i = 0; i + 1 < static_cast<i32>(s.parts.size()); ++i)
      if (const auto c = candidate_at(i)) heap.push_back(*c);
    std::make_heap(heap.begin(), heap.end());
    const auto consider = [&](i32 left) {
      if (const auto c = candidate_at(left)) heap.push_back(*c), std::push_heap(heap.begin(), heap.end());
    };
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      const candidate c = heap.back();
      heap.pop_back();
      // One of the two may have been merged with another neighbour.
      if (at(c.left).id < 0 || at(c.left).after < 0) continue;
      const merge* m = found(c.left);
      if (!m || m->into != c.into) continue;
      const i32 right = at(c.left).after;
      at(c.left).id = c.into, at(c.left).after = at(right).after;
      if (at(right).after >= 0) at(at(right).after).before = c.left;
      at(right).id = -1;
      consider(at(c.left).before);
      consider(c.left);
    }
    for (i32 i = 0; i >= 0; i = at(i).after) ids.push_back(at(i).id);
  }

  vocabulary tokens_;
  std::string prefix_, suffix_;
  bool fuses_unknown_, takes_whole_words_, all_bytes_ = false;
  std::optional<i32> unknown_;
  std::vector<i32> bytes_;
  std::array<i32, 256> of_byte_{};
  std::unordered_map<u64, merge> merges_;
  std::vector<bool> neighbours_ = std::vector<bool>(std::size_t{1} << 20);  // hashed pairs
};

}  // namespace wsl::ml::detail
