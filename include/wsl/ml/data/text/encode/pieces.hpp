// SPDX-License-Identifier: MIT
// The tokens of a text with the part of it that each stands for. The text is encoded word by word, where
// white space divides it, as BERT's and T5's tokenizers divide it themselves. Inside a word a token is placed
// by what the normalizer makes of each character:
//   text        Cafés      normalized   c a f e s      tokens   cafe ##s
//   characters  C a f é s  token cafe covers Café, ##s covers s
// Where that is not known, as for a token that stands for anything unknown, a token covers all that its
// neighbours leave.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../../tokenizer/byte_letters.hpp"
#include "../../../tokenizer/tokenizer.hpp"
#include "../piece.hpp"

namespace wsl::ml {

class piece_encoder {
 public:
  explicit piece_encoder(tokenizer by) : by_(std::move(by)) {
    std::vector<i32> apart = ids("a"), spaced = apart;
    append(apart, ids("b")), append(spaced, ids(" b"));
    const std::vector<i32> together = ids("a b");
    spaces_ = together == spaced && together != apart;
    for (const i32 id : ids("\xc3\xa9"))
      are_bytes_ = are_bytes_ || by_.token(id).find("\xc3\x83") != std::string::npos;
    for (std::size_t c = 0; c < 128; ++c)
      ascii_[c] = without_spaces(by_.normalized(std::string(1, static_cast<char>(c))));
  }

  const tokenizer& by() const { return by_; }
  /// The tokens of a text, without special ones. Throws std::invalid_argument if it is not UTF-8.
  std::vector<text_piece> operator()(std::string_view text) const {
    std::vector<text_piece> all;
    i32 number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      bool gap = false;
      while (at < text.size() && !(gap = is_gap(text, at))) next_code_point(text, at);
      if (at > begin) append_word(all, text, begin, at, number++);
      if (gap) next_code_point(text, at);
    }
    return all;
  }
  /// The tokens of words that are divided already; pieces have no place in a text.
  std::vector<text_piece> of_words(std::span<const std::string> words) const {
    std::vector<text_piece> all;
    for (std::size_t w = 0; w < words.size(); ++w)
      for (const i32 id : ids_of_word(words[w], w == 0)) all.push_back({id, static_cast<i32>(w), 0, 0});
    return all;
  }

 private:
  std::vector<i32> ids(std::string_view text) const {
    return by_.encode(text, {.add_special_tokens = false, .match_special_tokens = false});
  }
  std::vector<i32> ids_of_word(std::string_view word, bool is_first) const {
    std::string text(is_first || !spaces_ ? "" : " ");
    return ids(text.append(word));
  }
  static void append(std::vector<i32>& to, const std::vector<i32>& some) {
    to.insert(to.end(), some.begin(), some.end());
  }
  static bool is_gap(std::string_view text, std::size_t at) {
    const char32_t c = next_code_point(text, at);
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' ||
           (c >= 128 && unicode::is_space(c) && !unicode::is_in(c, U_GC_CC_MASK));
  }
  static std::string without_spaces(std::string text) {
    std::erase(text, ' ');
    for (std::size_t at; (at = text.find("\xe2\x96\x81")) != std::string::npos;) text.erase(at, 3);
    return text;
  }
  /// The characters that a token shows.
  std::string shown(i32 id, bool continues) const {
    std::string text = by_.token(id);
    if (are_bytes_) text = detail::bytes_of_letters(text).value_or(text);
    else if (continues && text.starts_with("##")) text.erase(0, 2);
    return without_spaces(std::move(text));
  }

  /// A character with the marks behind it, and what the normalizer makes of it.
  struct unit {
    std::size_t begin, end;                        // in the text
    std::size_t normal_begin = 0, normal_end = 0;  // in the normalized word
  };
  std::vector<unit> units_of(std::string_view text, std::size_t begin, std::size_t end,
                             std::string& normal) const {
    std::vector<unit> all;
    for (std::size_t at = begin; at < end;) {
      unit u{at, at};
      next_code_point(text, at);
      for (std::size_t next = at;
           next < end && static_cast<u8>(text[next]) >= 128 && unicode::is_mark(next_code_point(text, next));)
        at = next;
      u.end = at, u.normal_begin = normal.size();
      const bool is_ascii = u.end - u.begin == 1;
      normal += is_ascii ? ascii_[static_cast<std::size_t>(text[u.begin])]
                         : without_spaces(by_.normalized(std::string(text.substr(u.begin, u.end - u.begin))));
      u.normal_end = normal.size();
      all.push_back(u);
    }
    return all;
  }

  void append_word(std::vector<text_piece>& all, std::string_view text, std::size_t begin, std::size_t end,
                   i32 number) const {
    const std::vector<i32> tokens = ids_of_word(text.substr(begin, end - begin), number == 0);
    std::string normal;
    const std::vector<unit> units = units_of(text, begin, end, normal);
    struct range {
      std::size_t begin, end;
    };
    std::vector<range> places(tokens.size());
    // From the left as long as tokens fit, then from the right; what is between has the rest.
    std::size_t left = 0, right = tokens.size(), from = 0, to = normal.size();
    for (; left < right; ++left) {
      const std::string part = shown(tokens[left], left > 0);
      if (normal.compare(from, part.size(), part) != 0) break;
      places[left] = {from, from + part.size()};
      from += part.size();
    }
    for (; right > left; --right) {
      const std::string part = shown(tokens[right - 1], right > 1);
      if (part.size() > to - from || normal.compare(to - part.size(), part.size(), part) != 0) break;
      places[right - 1] = {to - part.size(), to};
      to -= part.size();
    }
    for (std::size_t i = left; i < right; ++i) places[i] = {from, to};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      text_piece p{tokens[i], number, end, begin};
      for (const unit& u : units)
        if (u.normal_begin < places[i].end && u.normal_end > places[i].begin)
          p.begin = std::min(p.begin, u.begin), p.end = std::max(p.end, u.end);
      if (p.end < p.begin) p.begin = p.end = i ? all.back().end : begin;  // it shows nothing
      all.push_back(p);
    }
  }

  tokenizer by_;
  bool spaces_ = false;     // a word that is not the first is encoded with a space before it
  bool are_bytes_ = false;  // tokens show bytes as letters
  std::array<std::string, 128> ascii_;
};

}  // namespace wsl::ml
