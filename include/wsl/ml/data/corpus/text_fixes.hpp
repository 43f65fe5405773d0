// SPDX-License-Identifier: MIT
// Repairs of texts from the web, after ftfy (https://ftfy.readthedocs.io): those that can be stated exactly
// and leave a text alone that may be meant as it is.
//   fix_counts counts;
//   const std::string text = fixed_text("schÃ¶n", {}, counts);  // "schön", and counts.mojibake is 1
#pragma once
#include <optional>

#include "../../tokenizer/unicode.hpp"

namespace wsl::ml {

struct text_fixing {
  unicode::form form = unicode::form::nfc;
  bool straight_quotes = false;  ///< curly quotes become ' and "
  bool entities = false;         ///< &eacute; and &#233; become characters in a text without the sign <
};

/// How often each repair was made.
struct fix_counts {
  i64 mojibake = 0;    ///< characters that were several, such as Ã© for é
  i64 c1 = 0;          ///< controls U+0080 to U+009F that are characters of Windows-1252
  i64 controls = 0;    ///< control characters, escapes of terminals and byte order marks, removed
  i64 line_ends = 0;   ///< ends of lines that were no \n
  i64 surrogates = 0;  ///< surrogates, joined to a character or, alone, replaced by U+FFFD
  i64 quotes = 0, entities = 0;
  i64 normalized = 0;  ///< texts that had another normal form

  fix_counts& operator+=(const fix_counts& x) {
    mojibake += x.mojibake, c1 += x.c1, controls += x.controls, line_ends += x.line_ends;
    surrogates += x.surrogates, quotes += x.quotes, entities += x.entities, normalized += x.normalized;
    return *this;
  }
};

namespace detail {

/// What Windows-1252 has for the bytes 0x80 to 0x9f; 0 for nothing.
inline constexpr char16_t windows_1252[32] = {0x20ac, 0,      0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
                                              0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0,      0x17d,  0,
                                              0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                              0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0,      0x17e,  0x178};

/// The byte that Windows-1252 or Latin-1 has for a character; nothing if neither has it.
inline std::optional<u8> byte_of(char32_t c) {
  if (c < 0x100) return static_cast<u8>(c);
  for (u8 i = 0; i < 32; ++i)
    if (windows_1252[i] == c) return static_cast<u8>(0x80 + i);
  return {};
}

inline bool is_one_of(char32_t c, std::u32string_view all) { return all.find(c) != all.npos; }

/// A character at a place that was written in UTF-8 and read in Windows-1252 or Latin-1: the number of
/// characters that it became, 0 if there is none, and whether no text would have these side by side.
struct mojibake {
  char32_t point = 0;
  std::size_t characters = 0;
  bool is_evident = false;
};
inline mojibake mojibake_at(std::u32string_view text, std::size_t at) {
  const char32_t lead = text[at];
  if (lead < 0xc2 || lead > 0xf4) return {};
  std::string bytes;
  for (std::size_t i = at; i < std::min(at + 4, text.size()); ++i) {
    const auto byte = byte_of(text[i]);
    if (!byte) break;
    bytes += static_cast<char>(*byte);
  }
  const decoded found = first_code_point(bytes);
  if (!found.bytes) return {};
  // Signs that do not stand behind a letter; and those that do, behind some: letters of Czech and Slovak, and
  // marks of footnotes.
  constexpr std::u32string_view never = U"€ƒˆ‰˜¢£¤¥¦¨¬¯±µ¸¼½¾", seldom = U"ŠŒŽšœžŸ©¡†‡§¶",
                                accented = U"ÁÉÍÓÚÝÄÖÜÔÊÀáéíóúýäöüôêà", within_word = U"ª²³´¹º\u00ad";
  mojibake m{found.point, found.bytes, false};
  const bool is_capital = lead <= 0xde && lead != U'×';
  if (lead != U'×')
    for (std::size_t i = at + 1; i < at + m.characters; ++i)
      m.is_evident |= (text[i] >= 0x80 && text[i] < 0xa0) || is_one_of(text[i], never) ||
                      (is_one_of(text[i], seldom) && !is_one_of(lead, accented));
  const auto is_small = [&](std::size_t i) { return i < text.size() && text[i] >= U'a' && text[i] <= U'z'; };
  if (is_capital && at > 0 && is_small(at - 1)) m.is_evident = true;
  if (is_capital && is_one_of(text[at + 1], within_word) && is_small(at + 2)) m.is_evident = true;
  return m;
}

/// A line whose mojibake is decoded, once: if a character of it is evident, and every letter of Latin-1 in
/// the line belongs to a character. Returns the number of characters, 0 if the line stays.
inline i64 decode_once(std::u32string& line) {
  std::u32string out;
  bool is_evident = false;
  i64 count = 0;
  for (std::size_t at = 0; at < line.size();) {
    const mojibake m = mojibake_at(line, at);
    if (m.characters == 0) {
      const char32_t c = line[at++];
      if (c >= 0xc0 && c <= 0xff && c != U'×' && c != U'÷') return 0;
      out += c;
      continue;
    }
    is_evident |= m.is_evident, ++count;
    out += m.point, at += m.characters;
  }
  if (!is_evident) return 0;
  line = std::move(out);
  return count;
}

inline constexpr const char* latin_1_entities =
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 "
    "acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde "
    "Auml "
    "Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc "
    "Otilde "
    "Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring "
    "aelig "
    "ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml "
    "divide "
    "oslash ugrave uacute ucirc uuml yacute thorn yuml ";
struct named_character {
  std::string_view name;
  char32_t point;
};
inline constexpr named_character other_entities[] = {
    {"amp", U'&'},    {"lt", U'<'},     {"gt", U'>'},     {"quot", U'"'},  {"apos", U'\''},  {"OElig", U'Œ'},
    {"oelig", U'œ'},  {"Scaron", U'Š'}, {"scaron", U'š'}, {"Yuml", U'Ÿ'},  {"ndash", U'–'},  {"mdash", U'—'},
    {"lsquo", U'‘'},  {"rsquo", U'’'},  {"sbquo", U'‚'},  {"ldquo", U'“'}, {"rdquo", U'”'},  {"bdquo", U'„'},
    {"hellip", U'…'}, {"bull", U'•'},   {"euro", U'€'},   {"trade", U'™'}, {"lsaquo", U'‹'}, {"rsaquo", U'›'},
    {"dagger", U'†'}, {"Dagger", U'‡'}, {"permil", U'‰'}, {"fnof", U'ƒ'},  {"circ", U'ˆ'},   {"tilde", U'˜'}};

/// The character that an entity names, by the text between & and ;. Nothing if it is none that HTML 4 knows
/// as a character of Latin-1 or Windows-1252, or no number of a character.
inline std::optional<char32_t> entity(std::string_view name) {
  if (name.starts_with('#')) {
    const bool is_hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
    const std::string digits(name.substr(is_hex ? 2 : 1));
    if (digits.empty() || digits.size() > 7 ||
        digits.find_first_not_of(is_hex ? "0123456789abcdefABCDEF" : "0123456789") != digits.npos)
      return {};
    const auto point = static_cast<char32_t>(std::stoul(digits, nullptr, is_hex ? 16 : 10));
    if (point < 32 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return {};
    return point;
  }
  for (const named_character& x : other_entities)
    if (x.name == name) return x.point;
  char32_t point = 0xa0;
  for (std::string_view left = latin_1_entities; !left.empty(); ++point) {
    const std::size_t end = left.find(' ');
    if (left.substr(0, end) == name) return point;
    left.remove_prefix(end + 1);
  }
  return {};
}
inline std::string without_entities(std::string_view text, i64& count) {
  constexpr std::size_t longest = 10;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '&' ? text.substr(at, longest).find(';') : text.npos;
    const auto found = end == text.npos ? std::nullopt : entity(text.substr(at + 1, end - 1));
    if (!found) {
      out += text[at++];
      continue;
    }
    append_utf8(out, *found), ++count;
    at += end + 1;
  }
  return out;
}

/// A surrogate in the form that UTF-8 would have for it, at a place; 0 for none.
inline char32_t surrogate_at(std::string_view text, std::size_t at) {
  if (text.size() - at < 3 || static_cast<u8>(text[at]) != 0xed) return 0;
  const auto second = static_cast<u8>(text[at + 1]), third = static_cast<u8>(text[at + 2]);
  if (second < 0xa0 || second > 0xbf || (third & 0xc0) != 0x80) return 0;
  return 0xd000u | (second & 0x3fu) << 6 | (third & 0x3fu);
}

}  // namespace detail

/// The bytes with each pair of surrogates, three bytes each as in CESU-8, as the character that it stands
/// for, and U+FFFD for each that is alone. Other bytes stay.
inline std::string joined_surrogates(std::string_view bytes, i64& count) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t next = bytes.find('\xed', at);
    out += bytes.substr(at, next - at);
    if (next == bytes.npos) break;
    at = next;
    const char32_t high = detail::surrogate_at(bytes, at);
    const char32_t low = high ? detail::surrogate_at(bytes, at + 3) : 0;
    if (high == 0) out += bytes[at++];
    else if (high < 0xdc00 && low >= 0xdc00)
      append_utf8(out, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)), at += 6, count += 2;
    else append_utf8(out, 0xfffd), at += 3, ++count;
  }
  return out;
}

/// A line of JSON with \ufffd for each escape of a surrogate that is not one of a pair.
inline std::string joined_escapes(std::string_view json, i64& count) {
  std::string out(json);
  const auto unit = [&](std::size_t at) -> unsigned {  // of \uXXXX; 0 for something else
    if (out.size() - std::min(at, out.size()) < 6 || out[at] != '\\' || out[at + 1] != 'u') return 0;
    const std::string digits = out.substr(at + 2, 4);
    if (digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos) return 0;
    return static_cast<unsigned>(std::stoul(digits, nullptr, 16));
  };
  for (std::size_t at = 0; (at = out.find('\\', at)) != out.npos;) {
    const unsigned high = unit(at);
    if (high < 0xd800 || high > 0xdfff) {
      at += 2;  // with the character behind it, which may be another backslash
      continue;
    }
    const unsigned low = unit(at + 6);
    if (high < 0xdc00 && low >= 0xdc00 && low <= 0xdfff) {
      at += 12;
      continue;
    }
    out.replace(at, 6, "\\ufffd"), ++count;
    at += 6;
  }
  return out;
}

/// The repaired text, in this order: entities; escapes of terminals (ESC [ numbers letter); mojibake, line by
/// line and as often as there are layers of it; the controls U+0080 to U+009F; quotes; ends of lines (\r\n,
/// \r, U+2028, U+2029); control characters (U+0000 to U+0008, U+000B, U+000E to U+001F, U+007F, U+206A to
/// U+206F, U+FEFF, U+FFF9 to U+FFFB); the normal form. The text is UTF-8. Adds to the counts.
inline std::string fixed_text(std::string_view text, const text_fixing& how, fix_counts& counts) {
  std::string unescaped;
  if (how.entities && text.find('&') != text.npos && text.find('<') == text.npos)
    text = unescaped = detail::without_entities(text, counts.entities);
  std::string out;
  out.reserve(text.size());
  const auto put = [&](char32_t c) {
    if (c >= 0x80 && c < 0xa0 && detail::windows_1252[c - 0x80])
      c = detail::windows_1252[c - 0x80], ++counts.c1;
    if (how.straight_quotes && detail::is_one_of(c, U"‘’‚‛ʼ“”„‟")) {
      ++counts.quotes;
      return void(out += detail::is_one_of(c, U"“”„‟") ? '"' : '\'');
    }
    const bool is_control = c < 9 || c == 0xb || (c >= 0xe && c < 0x20) || c == 0x7f ||
                            (c >= 0x206a && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb);
    if (is_control) return void(++counts.controls);
    append_utf8(out, c);
  };
  std::u32string line;
  const auto end_line = [&] {
    for (i64 found; (found = detail::decode_once(line)) > 0;) counts.mojibake += found;
    for (const char32_t c : line) put(c);
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = unicode::next(text, at);
    if (c == 0x1b && text.substr(at).starts_with('[')) {
      const std::size_t end = text.find_first_not_of("0123456789;", at + 1);
      if (end != text.npos &&
          ((text[end] >= 'a' && text[end] <= 'z') || (text[end] >= 'A' && text[end] <= 'Z'))) {
        at = end + 1, ++counts.controls;
        continue;
      }
    }
    if (c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029) {
      if (c == '\r' && text.substr(at).starts_with('\n')) ++at;
      counts.line_ends += c != '\n';
      end_line(), out += '\n';
      continue;
    }
    line += c;
  }
  end_line();
  const bool is_ascii = std::all_of(out.begin(), out.end(), [](char c) { return static_cast<u8>(c) < 0x80; });
  if (is_ascii) return out;  // all normal forms of ASCII are itself
  std::string normal = unicode::normalized(out, how.form);
  counts.normalized += normal != out;
  return normal;
}

}  // namespace wsl::ml
