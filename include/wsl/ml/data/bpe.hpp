// SPDX-License-Identifier: MIT
// GPT-2's tokens: byte pair encoding (Sennrich, Haddow, Birch, 2016) over the bytes of a text. The bytes of a
// word are merged, two neighbours at a time, in the order in which the list of merges has the pairs.
// encoder.json numbers the tokens, vocab.bpe lists the merges; elsewhere the same files are called vocab.json
// and merges.txt.
//   const bpe gpt2 = bpe::in_folder("gpt2");
//   gpt2.encode("Hello world");  // 15496 995
#pragma once
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "pretokens.hpp"
#include "vocabulary.hpp"

namespace wsl::ml {

namespace detail {

// The files show each byte as a visible character: itself, or one from U+0100 on.
inline std::array<char32_t, 256> characters_of_bytes() {
  std::array<char32_t, 256> all{};
  char32_t next = 256;
  for (char32_t b = 0; b < 256; ++b) {
    const bool visible = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    all[b] = visible ? b : next++;
  }
  return all;
}

}  // namespace detail

class bpe {
 public:
  /// From encoder.json and vocab.bpe. Throws file_error.
  bpe(const std::string& numbers_file, const std::string& merges_file) {
    read_numbers(numbers_file);
    read_merges(merges_file);
  }
  /// From the files in a folder, under either pair of names. Throws file_error.
  static bpe in_folder(const std::string& folder) {
    const auto either = [&](const char* one, const char* other) {
      return folder + "/" + (std::filesystem::exists(folder + "/" + other) ? other : one);
    };
    return bpe(either("encoder.json", "vocab.json"), either("vocab.bpe", "merges.txt"));
  }

  int size() const { return static_cast<int>(bytes_.size()); }
  /// The number of <|endoftext|>. Throws std::invalid_argument if the vocabulary has none.
  i32 end_of_text() const {
    const auto found = numbers_.find("<|endoftext|>");
    if (found == numbers_.end()) throw std::invalid_argument("wsl: this vocabulary has no <|endoftext|>");
    return found->second;
  }

  /// The tokens of a text. Names of tokens in it, such as <|endoftext|>, are encoded as text. Throws
  /// std::invalid_argument if it is not UTF-8.
  std::vector<i32> encode(std::string_view text) const {
    std::vector<i32> ids;
    std::unordered_map<std::string_view, std::vector<i32>> known;
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view word = text.substr(at, pretoken_at(text, at));
      const auto [found, is_new] = known.try_emplace(word);
      if (is_new) found->second = merged(word);
      ids.insert(ids.end(), found->second.begin(), found->second.end());
      at += word.size();
    }
    return ids;
  }
  /// The bytes of tokens, which need not be UTF-8 for a part of a text. Throws std::invalid_argument for a
  /// number that is no token.
  std::string decode(std::span<const i32> ids) const {
    std::string text;
    for (i32 id : ids) {
      if (id < 0 || id >= size())
        throw std::invalid_argument(
            fmt::format("wsl: there is no token {} in a vocabulary of {}", id, size()));
      text += bytes_[static_cast<std::size_t>(id)];
    }
    return text;
  }

 private:
  struct merge {
    i32 rank, into;
  };
  static u64 pair_of(i32 a, i32 b) { return static_cast<u64>(a) << 32 | static_cast<u64>(b); }

  void read_numbers(const std::string& name) {
    const auto error = [&](const std::string& why) {
      return file_error(fmt::format("wsl: {}: {}: it is no encoder.json of GPT-2", name, why));
    };
    for (const std::string& token : read_vocabulary(name)) {
      if (!to_bytes(token, bytes_.emplace_back()))
        throw error(fmt::format("token '{}' has a character that stands for no byte", token));
      numbers_.emplace(bytes_.back(), size() - 1);
    }
    for (std::size_t b = 0; b < 256; ++b) {
      const auto found = numbers_.find(std::string(1, static_cast<char>(b)));
      if (found == numbers_.end()) throw error(fmt::format("byte {} has no token", b));
      single_[b] = found->second;
    }
  }
  void read_merges(const std::string& name) {
    const std::string text = read_text(name);
    std::size_t line = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string_view words = std::string_view(text).substr(at, end - at);
      at = end + 1, ++line;
      if (words.ends_with('\r')) words.remove_suffix(1);
      if (words.empty() || (line == 1 && words.starts_with("#version"))) continue;
      const auto error = [&](const std::string& why) {
        return file_error(fmt::format("wsl: {}, line {}: {}", name, line, why));
      };
      const std::size_t space = words.find(' ');
      if (space == std::string_view::npos) throw error("a merge is two tokens with a space between them");
      std::string first, second;
      if (!to_bytes(words.substr(0, space), first) || !to_bytes(words.substr(space + 1), second))
        throw error("a character stands for no byte");
      const auto a = numbers_.find(first), b = numbers_.find(second), both = numbers_.find(first + second);
      if (a == numbers_.end() || b == numbers_.end() || both == numbers_.end())
        throw error(fmt::format(
            "'{}' or what it makes is no token: this list does not belong to the tokens of encoder.json",
            words));
      merges_.try_emplace(pair_of(a->second, b->second), merge{static_cast<i32>(line), both->second});
    }
  }
  static bool to_bytes(std::string_view token, std::string& bytes) {
    static const std::unordered_map<char32_t, char> byte_of = [] {
      std::unordered_map<char32_t, char> all;
      const auto characters = detail::characters_of_bytes();
      for (std::size_t b = 0; b < 256; ++b) all[characters[b]] = static_cast<char>(b);
      return all;
    }();
    for (std::size_t at = 0; at < token.size();) {
      const auto found = byte_of.find(next_code_point(token, at));
      if (found == byte_of.end()) return false;
      bytes += found->second;
    }
    return true;
  }

  // Merges neighbours as long as the list of merges has them: the pair that comes first in the list, of equal
  // pairs the leftmost. Candidates wait in a priority queue, so that the time grows as n log n with the
  // length of a word.
  std::vector<i32> merged(std::string_view word) const {
    struct part {
      i32 id;
      std::ptrdiff_t before, after;  // -1: none
    };
    struct candidate {
      i32 rank;
      std::ptrdiff_t left;
      i32 a, b, into;
      bool operator<(const candidate& o) const { return std::pair(rank, left) > std::pair(o.rank, o.left); }
    };
    const auto n = static_cast<std::ptrdiff_t>(word.size());
    std::vector<part> parts(word.size());
    const auto at = [&](std::ptrdiff_t i) -> part& { return parts[static_cast<std::size_t>(i)]; };
    std::priority_queue<candidate> candidates;
    const auto consider = [&](std::ptrdiff_t left) {
      if (left < 0 || at(left).after < 0) return;
      const i32 a = at(left).id, b = at(at(left).after).id;
      if (const auto found = merges_.find(pair_of(a, b)); found != merges_.end())
        candidates.push({found->second.rank, left, a, b, found->second.into});
    };
    for (std::ptrdiff_t i = 0; i < n; ++i)
      at(i) = {single_[static_cast<u8>(word[static_cast<std::size_t>(i)])], i - 1, i + 1 < n ? i + 1 : -1};
    for (std::ptrdiff_t i = 0; i < n; ++i) consider(i);
    while (!candidates.empty()) {
      const candidate c = candidates.top();
      candidates.pop();
      const std::ptrdiff_t right = at(c.left).after;
      // One of the two has been merged with another neighbour.
      if (at(c.left).id != c.a || right < 0 || at(right).id != c.b) continue;
      at(c.left).id = c.into, at(c.left).after = at(right).after;
      if (at(right).after >= 0) at(at(right).after).before = c.left;
      at(right).id = -1;
      consider(at(c.left).before);
      consider(c.left);
    }
    std::vector<i32> ids;
    for (std::ptrdiff_t i = 0; i >= 0; i = at(i).after) ids.push_back(at(i).id);
    return ids;
  }

  std::vector<std::string> bytes_;                // the bytes of each token
  std::unordered_map<std::string, i32> numbers_;  // the number of each token, by its bytes
  std::array<i32, 256> single_{};                 // the token of each byte
  std::unordered_map<u64, merge> merges_;
};

/// The tokens of a text with <|endoftext|> before each section; an empty line ends a section. This is how
/// llm.c makes its files of Shakespeare (dev/data/tinyshakespeare.py).
inline std::vector<i32> encode_sections(const bpe& by, std::string_view text) {
  std::vector<i32> ids;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t gap = text.find("\n\n", at),
                      end = gap == std::string_view::npos ? text.size() + 1 : gap + 2;
    const std::vector<i32> section = by.encode(text.substr(at, end - at));
    ids.push_back(by.end_of_text());
    ids.insert(ids.end(), section.begin(), section.end());
    at = end;
  }
  return ids;
}

}  // namespace wsl::ml
