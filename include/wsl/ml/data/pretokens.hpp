// SPDX-License-Identifier: MIT
// GPT-2's division of a text into words, which precedes the search for tokens. The rule is a regular
// expression (openai/gpt-2, src/encoder.py),
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// or in words: an English ending; or letters, numbers, or other signs, with the space before them; or white
// space, whose last character is left to the word that follows.
#pragma once
#include "unicode.hpp"
#include "utf8.hpp"

namespace wsl::ml {

namespace detail {

enum class character_class : u8 { letter, number, space, sign };

inline character_class class_of(char32_t c) {
  return is_letter(c)   ? character_class::letter
         : is_number(c) ? character_class::number
         : is_space(c)  ? character_class::space
                        : character_class::sign;
}

/// The end of a run of code points of one class, and where the last of them begins.
struct run {
  std::size_t end, last;
};
inline run run_of(std::string_view text, std::size_t at, character_class kind) {
  run r{at, at};
  while (r.end < text.size()) {
    std::size_t next = r.end;
    if (class_of(next_code_point(text, next)) != kind) break;
    r.last = r.end, r.end = next;
  }
  return r;
}

inline std::size_t ending_at(std::string_view text) {
  for (std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

}  // namespace detail

/// The number of bytes of the word that begins at byte `at` of the text, which is before its end. Throws
/// std::invalid_argument if the text is not UTF-8.
inline std::size_t pretoken_at(std::string_view text, std::size_t at) {
  using namespace detail;
  if (const std::size_t n = ending_at(text.substr(at))) return n;
  const bool spaced = text[at] == ' ' && at + 1 < text.size();
  std::size_t next = at + (spaced ? 1 : 0);
  const character_class kind = class_of(next_code_point(text, next));
  if (kind != character_class::space) return run_of(text, next, kind).end - at;
  const run white = run_of(text, at, character_class::space);
  const bool gives_last = white.end < text.size() && white.last > at;
  return (gives_last ? white.last : white.end) - at;
}

}  // namespace wsl::ml
