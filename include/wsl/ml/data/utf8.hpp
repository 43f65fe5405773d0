// SPDX-License-Identifier: MIT
// Text as code points. UTF-8 is as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "../io/input_file.hpp"

namespace wsl::ml {

namespace detail {

/// The first code point of a text that is not empty, and its number of bytes; 0 bytes if it is not UTF-8.
struct decoded {
  char32_t point;
  std::size_t bytes;
};
inline decoded first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<u8>(text[i]); };
  const u8 lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return {0, 0};
  char32_t point = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    point = point << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (bytes == 3 && point < 0x800) || (bytes == 4 && point < 0x10000),
             surrogate = point >= 0xd800 && point < 0xe000;
  if (overlong || surrogate || point > 0x10ffff) return {0, 0};
  return {point, bytes};
}

}  // namespace detail

/// The code point at byte `at` of a text; `at` moves past it. Throws std::invalid_argument, with the place,
/// if it is not UTF-8.
inline char32_t next_code_point(std::string_view text, std::size_t& at) {
  const detail::decoded next = detail::first_code_point(text.substr(at));
  if (!next.bytes)
    throw std::invalid_argument(fmt::format(
        "wsl: byte {} of the text is not UTF-8: convert the text, for instance with iconv -t UTF-8", at));
  at += next.bytes;
  return next.point;
}

inline void append_utf8(std::string& text, char32_t point) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) return put(0xc0 | point >> 6), put(0x80 | (point & 0x3f));
  if (point < 0x10000)
    return put(0xe0 | point >> 12), put(0x80 | (point >> 6 & 0x3f)), put(0x80 | (point & 0x3f));
  put(0xf0 | point >> 18), put(0x80 | (point >> 12 & 0x3f)), put(0x80 | (point >> 6 & 0x3f)),
      put(0x80 | (point & 0x3f));
}

/// Reads a text file. Throws file_error, with the place, if it is not UTF-8.
inline std::string read_text(const std::string& name) {
  std::string text = read_whole(name);
  if (text.starts_with("\x1f\x8b"))
    throw file_error(fmt::format(
        "wsl: {}: this is not UTF-8, but compressed by gzip: write it without, as `gunzip -k` does", name));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = detail::first_code_point(std::string_view(text).substr(at)).bytes;
    if (!bytes)
      throw file_error(fmt::format(
          "wsl: {}, byte {}: this is not UTF-8: convert the file, for instance with iconv -t UTF-8", name,
          at));
    at += bytes;
  }
  return text;
}

}  // namespace wsl::ml
