// SPDX-License-Identifier: MIT
// The questions of tokenizers about Unicode, answered by ICU: classes of code points, normal forms, lower
// case, and text between UTF-8 and ICU's UTF-16. Texts are valid UTF-8 here; tokenizer::encode has checked
// them.
#pragma once
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <string>
#include <string_view>

#include "../data/utf8.hpp"

namespace wsl::ml::unicode {

inline bool is_in(char32_t c, u32 categories) {
  return (U_MASK(u_charType(static_cast<UChar32>(c))) & categories) != 0;
}
inline bool is_number(char32_t c) { return is_in(c, U_GC_N_MASK); }
inline bool is_mark(char32_t c) { return is_in(c, U_GC_MN_MASK); }
inline bool is_space(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_WHITE_SPACE) != 0;
}
/// Punctuation, and all of ASCII's signs such as $ and +.
inline bool is_punctuation(char32_t c) {
  return c < 128 ? (c > 32 && c < 127 && !u_isalnum(static_cast<UChar32>(c))) : is_in(c, U_GC_P_MASK);
}
/// The \w of regular expressions: letters, marks, decimal digits and connectors.
inline bool is_word(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_ALPHABETIC) ||
         is_in(c, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK);
}

/// The code point at byte `at` of valid UTF-8; `at` moves past it.
inline char32_t next(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<u8>(text[i])); };
  const char32_t lead = byte(at);
  if (lead < 0x80) return ++at, lead;
  if (lead < 0xe0) return at += 2, (lead & 0x1f) << 6 | (byte(at - 1) & 0x3f);
  if (lead < 0xf0) return at += 3, (lead & 0xf) << 12 | (byte(at - 2) & 0x3f) << 6 | (byte(at - 1) & 0x3f);
  return at += 4,
         (lead & 7) << 18 | (byte(at - 3) & 0x3f) << 12 | (byte(at - 2) & 0x3f) << 6 | (byte(at - 1) & 0x3f);
}
inline void step_back(std::string_view text, std::size_t& at) {
  do --at;
  while ((static_cast<u8>(text[at]) & 0xc0) == 0x80);
}
/// The number of bytes of the code point that begins with this byte.
inline std::size_t bytes_from(char lead) {
  const u8 b = static_cast<u8>(lead);
  return b < 0x80 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
}

/// Calls f with each code point of a text.
template <class F>
void each(std::string_view text, F f) {
  for (std::size_t at = 0; at < text.size();) f(next(text, at));
}

inline icu::UnicodeString utf16(std::string_view text) {
  return icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<i32>(text.size())));
}
inline std::string utf8(const icu::UnicodeString& text) {
  std::string bytes;
  text.toUTF8String(bytes);
  return bytes;
}

/// The text with U+FFFD for each sequence of bytes that is not UTF-8.
inline std::string repaired(std::string bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t n = ml::detail::first_code_point(std::string_view(bytes).substr(at)).bytes;
    if (!n) return utf8(utf16(bytes));
    at += n;
  }
  return bytes;
}

inline std::string lower_case(std::string_view text) {
  std::string lower;
  each(text, [&](char32_t c) {
    // A code point at a time, as the reference does: a final sigma is not known here.
    if (c == 0x130) return lower.append("i\xcc\x87"), void();
    append_utf8(lower, static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
  });
  return lower;
}

enum class form { nfc, nfd, nfkc, nfkd };

inline std::string normalized(std::string_view text, form as) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* by = as == form::nfc    ? icu::Normalizer2::getNFCInstance(status)
                               : as == form::nfd  ? icu::Normalizer2::getNFDInstance(status)
                               : as == form::nfkc ? icu::Normalizer2::getNFKCInstance(status)
                                                  : icu::Normalizer2::getNFKDInstance(status);
  std::string out;
  if (U_SUCCESS(status)) {
    icu::StringByteSink<std::string> sink(&out);
    by->normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<i32>(text.size())), sink, nullptr, status);
  }
  if (U_FAILURE(status))
    throw std::invalid_argument(fmt::format("wsl: ICU cannot normalize a text of {} bytes ({}): shorten it",
                                            text.size(), u_errorName(status)));
  return out;
}

}  // namespace wsl::ml::unicode
