// SPDX-License-Identifier: MIT
// Normalizers: what a tokenizer does to a text before it divides it, such as Unicode's normal forms, lower
// case, and SentencePiece's sign for a space. `normalizer_of` makes one of the entry "normalizer" of a
// tokenizer.json.
#pragma once
#include <functional>

#include "byte_letters.hpp"
#include "charsmap.hpp"
#include "json_field.hpp"
#include "pattern.hpp"

namespace wsl::ml::detail {

using normalizer = std::function<std::string(std::string)>;

/// Sequences of sequences end somewhere.
constexpr int deepest_sequence = 8;
inline void check_depth(const json_field& f, int depth) {
  if (depth > deepest_sequence)
    throw f.error(
        fmt::format("sequences are nested more than {} deep: write one sequence", deepest_sequence));
}

/// {"String": "..."} or {"Regex": "..."}.
inline pattern pattern_of(const json_field& f) {
  if (f.has("String")) return pattern::of_text(f.at("String").text());
  if (!f.has("Regex")) throw f.wrong("a \"String\" or a \"Regex\"");
  try {
    return pattern::of(f.at("Regex").text());
  } catch (const std::invalid_argument& e) { throw f.error(e.what()); }
}

// BERT's (google-research/bert, tokenization.py, BasicTokenizer).
struct bert_normalizer {
  bool cleans = true, spaces_chinese = true, strips_accents = true, lowers = true;

  static bool is_control(char32_t c) {
    return c != '\t' && c != '\n' && c != '\r' &&
           unicode::is_in(c, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CN_MASK | U_GC_CO_MASK);
  }
  static bool is_chinese(char32_t c) {
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
           (c >= 0x2a700 && c <= 0x2b73f) || (c >= 0x2b740 && c <= 0x2b81f) ||
           (c >= 0x2b920 && c <= 0x2ceaf) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
  }
  std::string operator()(const std::string& text) const {
    std::string out;
    unicode::each(text, [&](char32_t c) {
      if (cleans) {
        if (c == 0 || c == 0xfffd || is_control(c)) return;
        if (unicode::is_space(c)) c = ' ';
      }
      const bool apart = spaces_chinese && is_chinese(c);
      if (apart) out += ' ';
      append_utf8(out, c);
      if (apart) out += ' ';
    });
    if (strips_accents) out = without_marks(unicode::normalized(out, unicode::form::nfd));
    return lowers ? unicode::lower_case(out) : out;
  }
  static std::string without_marks(std::string_view text) {
    std::string out;
    unicode::each(text, [&](char32_t c) {
      if (!unicode::is_mark(c)) append_utf8(out, c);
    });
    return out;
  }
};

/// Without the white space at the ends.
inline std::string stripped(const std::string& text, bool left, bool right) {
  std::size_t begin = 0, end = text.size();
  for (std::size_t at = 0; left && at < end && unicode::is_space(unicode::next(text, at));) begin = at;
  for (std::size_t at = end; right && at > begin;) {
    unicode::step_back(text, at);
    std::size_t next = at;
    if (!unicode::is_space(unicode::next(text, next))) break;
    end = at;
  }
  return text.substr(begin, end - begin);
}

// SentencePiece's rule nmt: control characters go, other white space becomes a space.
inline std::string nmt(const std::string& text) {
  std::string out;
  unicode::each(text, [&](char32_t c) {
    if ((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f)
      return;
    const bool space = c == 9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 ||
                       (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xfeff || c == 0xfffd;
    append_utf8(out, space ? U' ' : c);
  });
  return out;
}

inline normalizer normalizer_of(const json_field& f, int depth = 0) {
  const std::string& type = f.at("type").text();
  const auto to = [](unicode::form form) {
    return [form](const std::string& text) { return unicode::normalized(text, form); };
  };
  if (type == "Sequence") {
    check_depth(f, depth);
    std::vector<normalizer> all;
    for (const json_field& one : f.at("normalizers").items()) all.push_back(normalizer_of(one, depth + 1));
    return [all](std::string text) {
      for (const normalizer& one : all) text = one(std::move(text));
      return text;
    };
  }
  if (type == "NFC") return to(unicode::form::nfc);
  if (type == "NFD") return to(unicode::form::nfd);
  if (type == "NFKC") return to(unicode::form::nfkc);
  if (type == "NFKD") return to(unicode::form::nfkd);
  if (type == "Lowercase") return unicode::lower_case;
  if (type == "StripAccents") return bert_normalizer::without_marks;
  if (type == "Nmt") return nmt;
  if (type == "Strip")
    return [left = f.flag("strip_left", true), right = f.flag("strip_right", true)](const std::string& text) {
      return stripped(text, left, right);
    };
  if (type == "Prepend")
    return [head = f.at("prepend").text()](std::string text) { return text.empty() ? text : head + text; };
  if (type == "Replace")
    return [from = pattern_of(f.at("pattern")), by = f.at("content").text()](const std::string& text) {
      return from.replaced(text, by);
    };
  if (type == "ByteLevel") return [](const std::string& text) { return letters_of_bytes(text); };
  if (type == "BertNormalizer") {
    const bool lowers = f.flag("lowercase", true);
    return bert_normalizer{.cleans = f.flag("clean_text", true),
                           .spaces_chinese = f.flag("handle_chinese_chars", true),
                           .strips_accents = f.flag("strip_accents", lowers),
                           .lowers = lowers};
  }
  if (type == "Precompiled") {
    const json_field table = f.at("precompiled_charsmap");
    const auto bytes = from_base64(table.text());
    if (!bytes) throw table.error("it is not base64");
    if (bytes->empty()) return [](std::string text) { return text; };
    try {
      // Only tables that come from a SentencePiece model say `longest`.
      return [map = charsmap(*bytes), longest = f.flag("longest", false)](const std::string& text) {
        return longest ? map.applied_to_longest(text) : map.applied(text);
      };
    } catch (const std::invalid_argument& e) { throw table.error(e.what()); }
  }
  throw f.error(fmt::format(
      "there is no normalizer '{}' here; known are BertNormalizer, ByteLevel, Lowercase, NFC, NFD, "
      "NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip and StripAccents",
      type));
}

}  // namespace wsl::ml::detail
