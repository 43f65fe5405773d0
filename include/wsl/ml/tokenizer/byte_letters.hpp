// SPDX-License-Identifier: MIT
// Vocabularies over bytes show each byte as a visible character (openai/gpt-2, src/encoder.py): itself, or,
// for a control character, a space and the like, one from U+0100 on.
#pragma once
#include <array>
#include <optional>
#include <unordered_map>

#include "unicode.hpp"

namespace wsl::ml {

/// The character for each byte.
inline const std::array<char32_t, 256>& letters_of_all_bytes() {
  static const std::array<char32_t, 256> all = [] {
    std::array<char32_t, 256> letters{};
    char32_t next = 256;
    for (char32_t b = 0; b < 256; ++b) {
      const bool visible = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
      letters[b] = visible ? b : next++;
    }
    return letters;
  }();
  return all;
}

namespace detail {

inline std::string letters_of_bytes(std::string_view bytes) {
  std::string letters;
  for (char b : bytes) append_utf8(letters, letters_of_all_bytes()[static_cast<u8>(b)]);
  return letters;
}

/// Nothing if a character stands for no byte.
inline std::optional<std::string> bytes_of_letters(std::string_view letters) {
  static const std::unordered_map<char32_t, char> byte_of = [] {
    std::unordered_map<char32_t, char> all;
    for (std::size_t b = 0; b < 256; ++b) all[letters_of_all_bytes()[b]] = static_cast<char>(b);
    return all;
  }();
  std::string bytes;
  for (std::size_t at = 0; at < letters.size();) {
    const auto found = byte_of.find(unicode::next(letters, at));
    if (found == byte_of.end()) return {};
    bytes += found->second;
  }
  return bytes;
}

}  // namespace detail

}  // namespace wsl::ml
