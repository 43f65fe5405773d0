// SPDX-License-Identifier: MIT
// Lists that a field of a table holds as text, as the Model Zoo's scripts write them with Python: numbers,
// [101, 2023, 102], and texts, ['[CLS]', 'it', "'", 's', '[SEP]'].
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../utf8.hpp"

namespace wsl::ml {

namespace detail {

/// Reads a list item by item. Its errors say what is wrong; the caller knows where.
class list_reader {
 public:
  explicit list_reader(std::string_view text) : text_(text) {
    skip_blanks();
    is_open_ = take('[');
  }
  /// Whether an item follows; at the end, nothing else may.
  bool next() {
    skip_blanks();
    if (!std::exchange(is_first_, false) && take(',')) {
      skip_blanks();
      if (is_at_end()) return finish();  // Python allows a comma at the end
      return true;
    }
    return is_at_end() ? finish() : true;
  }
  i32 number() {
    i32 x = 0;
    const char *from = text_.data() + at_, *end = text_.data() + text_.size();
    const auto [past, error] = std::from_chars(from, end, x);
    if (error != std::errc()) throw wrong("a whole number of 32 bits");
    at_ += static_cast<std::size_t>(past - from);
    return x;
  }
  std::string text() {
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) throw wrong("a text in quotes");
    const char quote = text_[at_++];
    std::string x;
    for (;;) {
      if (at_ == text_.size()) throw std::invalid_argument("a text in the list has no quote at its end");
      const char c = text_[at_++];
      if (c == quote) return x;
      if (c == '\\') append_escape(x);
      else x += c;
    }
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) { return at_ < text_.size() && text_[at_] == c && (++at_, true); }
  bool is_at_end() const { return at_ == text_.size() || text_[at_] == ']'; }
  bool finish() {
    const bool closes = take(']');
    skip_blanks();
    if (closes != is_open_ || at_ != text_.size())
      throw std::invalid_argument("the brackets of the list are not balanced, or something follows them");
    return false;
  }
  void append_escape(std::string& to) {
    if (at_ == text_.size()) throw std::invalid_argument("a text in the list ends with a \\");
    const char c = text_[at_++];
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits) {
      u32 point = 0;
      const std::string_view number = text_.substr(at_, digits);
      const auto [past, error] = std::from_chars(number.data(), number.data() + number.size(), point, 16);
      const bool is_surrogate = point >= 0xd800 && point < 0xe000;
      if (error != std::errc() || past != number.data() + digits || point > 0x10ffff || is_surrogate)
        throw std::invalid_argument(fmt::format("\\{}{} in the list is no character", c, number));
      append_utf8(to, point);
      at_ += digits;
      return;
    }
    switch (c) {
      case 'b': to += '\b'; return;
      case 'f': to += '\f'; return;
      case 'n': to += '\n'; return;
      case 't': to += '\t'; return;
      case 'r': to += '\r'; return;
      case '\\':
      case '/':
      case '\'':
      case '"': to += c; return;
      default: throw std::invalid_argument(fmt::format("\\{} in the list is no escape", c));
    }
  }
  std::invalid_argument wrong(const char* wanted) const {
    return std::invalid_argument(
        fmt::format("the list should have {} where it has '{}'", wanted, text_.substr(at_, 20)));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_open_ = false, is_first_ = true;
};

}  // namespace detail

/// The numbers of a list, with brackets and commas or without. Throws std::invalid_argument.
inline std::vector<i32> numbers_of_list(std::string_view text) {
  std::vector<i32> all;
  for (detail::list_reader in(text); in.next();) all.push_back(in.number());
  return all;
}
/// The texts of a list. Throws std::invalid_argument.
inline std::vector<std::string> texts_of_list(std::string_view text) {
  std::vector<std::string> all;
  for (detail::list_reader in(text); in.next();) all.push_back(in.text());
  return all;
}

}  // namespace wsl::ml
