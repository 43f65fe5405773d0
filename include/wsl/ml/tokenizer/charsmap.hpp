// SPDX-License-Identifier: MIT
// SentencePiece's table of replacements (precompiled_charsmap), which T5's normalizer is: a double-array trie
// (darts-clone, four bytes a unit) from sequences of bytes to places in a text of replacements, each of which
// ends with a zero byte.
#pragma once
#include <unicode/brkiter.h>

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "unicode.hpp"

namespace wsl::ml::detail {

/// The bytes of a text in base64; nothing if it is none.
inline std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  u32 bits = 0, count = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (char c : text) {
    const u32 digit = c >= 'A' && c <= 'Z'   ? static_cast<u32>(c - 'A')
                      : c >= 'a' && c <= 'z' ? static_cast<u32>(c - 'a' + 26)
                      : c >= '0' && c <= '9' ? static_cast<u32>(c - '0' + 52)
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : 64;
    if (digit > 63) return {};
    bits = bits << 6 | digit, count += 6;
    if (count >= 8) count -= 8, bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}
inline std::string to_base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    u32 bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (at + i < bytes.size() ? static_cast<u8>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= bytes.size() - at ? digits[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

class charsmap {
 public:
  /// From the table's bytes. Throws std::invalid_argument if they are none.
  explicit charsmap(std::string_view bytes) {
    u32 size = 0;
    if (bytes.size() >= 4) std::memcpy(&size, bytes.data(), 4);
    if (bytes.size() < 4 || size % 4 || size == 0 || size > bytes.size() - 4)
      throw std::invalid_argument("it is no table of replacements: its trie is longer than it is itself");
    units_.resize(size / 4);
    std::memcpy(units_.data(), bytes.data() + 4, size);
    replacements_ = bytes.substr(4 + size);
  }

  // From left to right, the longest sequence of bytes that the table has is replaced, as SentencePiece does.
  std::string applied_to_longest(std::string_view text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t bytes = unicode::bytes_from(text[at]);
      std::string_view by = text.substr(at, bytes);
      each_entry(text.substr(at), [&](std::size_t n, std::string_view found) {
        bytes = n, by = found;
        return true;
      });
      out += by, at += bytes;
    }
    return out;
  }
  // A grapheme of up to five bytes is replaced as a whole, if the table has it or its beginning; otherwise
  // each of its characters is. This is how the library of tokenizer.json applies the table.
  std::string applied(std::string_view text) const {
    std::string out;
    const auto append = [&](std::string_view part) {
      if (const auto found = replacement(part)) return out += *found, true;
      return false;
    };
    each_grapheme(text, [&](std::string_view grapheme) {
      if (grapheme.size() < 6 && append(grapheme)) return;
      for (std::size_t at = 0; at < grapheme.size();) {
        const std::string_view c = grapheme.substr(at, unicode::bytes_from(grapheme[at]));
        if (!append(c)) out += c;
        at += c.size();
      }
    });
    return out;
  }

 private:
  template <class F>
  static void each_grapheme(std::string_view text, F f) {
    const auto joins = [](char c) { return static_cast<u8>(c) >= 128; };
    // Between two characters of ASCII there is always a boundary, but in CR LF.
    for (std::size_t at = 0; at < text.size();) {
      const bool alone =
          !joins(text[at]) && (at + 1 == text.size() || !joins(text[at + 1])) && text[at] != '\r';
      if (alone) {
        f(text.substr(at, 1));
        ++at;
        continue;
      }
      std::size_t end = at + 1;
      while (end < text.size() && (joins(text[end]) || joins(text[end - 1]) || text[end - 1] == '\r')) ++end;
      each_of_icu(text.substr(at, end - at), f);
      at = end;
    }
  }
  template <class F>
  static void each_of_icu(std::string_view text, F f) {
    UErrorCode status = U_ZERO_ERROR;
    const std::unique_ptr<icu::BreakIterator> by(
        icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), status));
    if (U_FAILURE(status))
      throw std::invalid_argument("wsl: ICU has no data of graphemes: install all of libicu");
    const icu::UnicodeString wide = unicode::utf16(text);
    by->setText(wide);
    std::size_t begin = 0;
    for (i32 unit = by->first(), end = by->next(); end != icu::BreakIterator::DONE; end = by->next()) {
      std::size_t byte = begin;
      for (; unit < end; unit = wide.moveIndex32(unit, 1)) byte += unicode::bytes_from(text[byte]);
      f(text.substr(begin, byte - begin));
      begin = byte;
    }
  }

  // Calls f(bytes, replacement) for the beginnings of a text that the table has, from the shortest on, as
  // long as it returns true.
  template <class F>
  void each_entry(std::string_view text, F f) const {
    const auto offset = [](u32 unit) { return (unit >> 10) << ((unit & 1u << 9) >> 6); };
    std::size_t at = offset(units_[0]);
    for (std::size_t n = 1; n <= text.size(); ++n) {
      const u32 byte = static_cast<u8>(text[n - 1]);
      at ^= byte;
      if (byte == 0 || at >= units_.size() || (units_[at] & (1u << 31 | 0xff)) != byte) return;
      const bool has_leaf = units_[at] >> 8 & 1;
      at ^= offset(units_[at]);
      if (at >= units_.size()) return;
      if (!has_leaf) continue;
      const std::size_t place = units_[at] & ((1u << 31) - 1);
      if (place >= replacements_.size()) return;
      const std::size_t end = std::min(replacements_.find('\0', place), replacements_.size());
      if (!f(n, std::string_view(replacements_).substr(place, end - place))) return;
    }
  }
  // The replacement of the shortest beginning of a text that the table has.
  std::optional<std::string_view> replacement(std::string_view text) const {
    std::optional<std::string_view> shortest;
    each_entry(text, [&](std::size_t, std::string_view found) {
      shortest = found;
      return false;
    });
    return shortest;
  }

  std::vector<u32> units_;
  std::string replacements_;
};

}  // namespace wsl::ml::detail
