// SPDX-License-Identifier: MIT
// The smallest vocabulary: the characters of a text, numbered in the order of their code points, as in
// nanoGPT.
//   const characters letters = characters::of(text);
//   const std::vector<i32> ids = letters.encode(text);
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "utf8.hpp"

namespace wsl::ml {

/// A character of a text that a vocabulary lacks.
class unknown_character : public std::invalid_argument {
 public:
  std::size_t at;         ///< its first byte in the text
  std::string character;  ///< UTF-8

  unknown_character(std::size_t byte, std::string_view what, int known)
      : std::invalid_argument(fmt::format(
            "wsl: byte {} of the text: the vocabulary of {} characters has no '{}'", byte, known, what)),
        at(byte),
        character(what) {}
};

class characters {
 public:
  /// The vocabulary of the characters of a text. Throws std::invalid_argument if it is not UTF-8.
  static characters of(std::string_view text) {
    std::vector<char32_t> seen;
    std::vector<bool> is_seen(0x110000);
    for (std::size_t at = 0; at < text.size();) {
      const char32_t c = next_code_point(text, at);
      if (!is_seen[c]) seen.push_back(c);
      is_seen[c] = true;
    }
    std::sort(seen.begin(), seen.end());
    return characters(std::move(seen));
  }
  /// The vocabulary that `letters` described. Throws std::invalid_argument if a character is there twice or
  /// out of order.
  static characters in_order(std::string_view letters) {
    std::vector<char32_t> points;
    for (std::size_t at = 0; at < letters.size();) points.push_back(next_code_point(letters, at));
    if (!std::is_sorted(points.begin(), points.end(), std::less_equal<>()))
      throw std::invalid_argument(
          "wsl: a vocabulary of characters has each once, in the order of their code points");
    return characters(std::move(points));
  }

  int size() const { return static_cast<int>(points_.size()); }
  /// All characters in order, to save.
  std::string letters() const {
    std::string all;
    for (char32_t c : points_) append_utf8(all, c);
    return all;
  }

  /// The number of each character. Throws unknown_character for one that is not in the vocabulary.
  std::vector<i32> encode(std::string_view text) const {
    std::vector<i32> ids;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      const char32_t c = next_code_point(text, at);
      const auto found = std::lower_bound(points_.begin(), points_.end(), c);
      if (found == points_.end() || *found != c)
        throw unknown_character(begin, text.substr(begin, at - begin), size());
      ids.push_back(static_cast<i32>(found - points_.begin()));
    }
    return ids;
  }
  /// The text of some numbers. Throws std::invalid_argument for a number that no character has.
  std::string decode(std::span<const i32> ids) const {
    std::string text;
    for (i32 id : ids) {
      if (id < 0 || id >= size())
        throw std::invalid_argument(
            fmt::format("wsl: there is no character {} in a vocabulary of {}", id, size()));
      append_utf8(text, points_[static_cast<std::size_t>(id)]);
    }
    return text;
  }

 private:
  explicit characters(std::vector<char32_t> points) : points_(std::move(points)) {}
  std::vector<char32_t> points_;
};

}  // namespace wsl::ml
