// SPDX-License-Identifier: MIT
// How GPT-2 cuts a text into words before it looks for tokens. The rule is a regular expression
// (openai/gpt-2, src/encoder.py),
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// in words: an English ending; or letters, numbers, or other signs, with the space before them; or white
// space, whose last character is left to the word that follows.
#pragma once
#include "unicode.hpp"
#include "utf8.hpp"

namespace wsl::ml {

namespace detail {

enum class sort_of : u8 { letter, number, space, sign };

inline sort_of sort_of_point(char32_t c) {
  return is_letter(c)   ? sort_of::letter
         : is_number(c) ? sort_of::number
         : is_space(c)  ? sort_of::space
                        : sort_of::sign;
}

/// The end of the code points of one sort from byte `at` on, and where the last of them begins.
struct run {
  std::size_t end, last;
};
inline run run_of(std::string_view text, std::size_t at, sort_of sort) {
  run r{at, at};
  while (r.end < text.size()) {
    std::size_t next = r.end;
    if (sort_of_point(next_code_point(text, next)) != sort) break;
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

/// How many bytes the word has that begins at byte `at`, which is in the text. Throws std::invalid_argument
/// if the text is not UTF-8.
inline std::size_t pretoken_at(std::string_view text, std::size_t at) {
  using namespace detail;
  if (const std::size_t n = ending_at(text.substr(at))) return n;
  const bool spaced = text[at] == ' ' && at + 1 < text.size();
  std::size_t next = at + (spaced ? 1 : 0);
  const sort_of sort = sort_of_point(next_code_point(text, next));
  if (sort != sort_of::space) return run_of(text, next, sort).end - at;
  const run white = run_of(text, at, sort_of::space);
  const bool gives_last = white.end < text.size() && white.last > at;
  return (gives_last ? white.last : white.end) - at;
}

}  // namespace wsl::ml
