// SPDX-License-Identifier: MIT
// The places of a text that a regular expression matches. The expressions with which tokenizers divide a text
// into words are alternatives of short sequences of sets of characters,
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// These run on UTF-8 as it is, with ICU's sets, some twenty times as fast as ICU's matcher; every other
// expression is ICU's (unicode/regex.h). Both give the same matches.
#pragma once
#include <unicode/regex.h>
#include <unicode/uniset.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "unicode.hpp"

namespace wsl::ml {

namespace detail {

/// A set of code points; those of ASCII are looked up in a table.
class character_set {
 public:
  explicit character_set(icu::UnicodeSet of) : all_(std::move(of)) {
    all_.removeAllStrings();
    for (UChar32 c = 0; c < 128; ++c) ascii_[static_cast<std::size_t>(c)] = all_.contains(c) != 0;
    all_.freeze();
  }
  bool has_ascii(u8 c) const { return ascii_[c]; }
  /// Whether the code point at byte `at` is in the set; if so, `at` moves past it.
  bool takes(std::string_view text, std::size_t& at) const {
    const u8 lead = static_cast<u8>(text[at]);
    if (lead < 128) return ascii_[lead] && (++at, true);
    std::size_t end = at;
    if (!all_.contains(static_cast<UChar32>(unicode::next(text, end)))) return false;
    at = end;
    return true;
  }

 private:
  std::array<bool, 128> ascii_{};
  icu::UnicodeSet all_;
};

/// A set so many times; or the condition that no code point of the set follows.
struct pattern_item {
  character_set set;
  std::size_t least = 1, most = 1;
  bool possessive = false, is_negative_lookahead = false;
};
using pattern_sequence = std::vector<pattern_item>;

/// Parses the expressions that `sequences_of` runs; nothing for any other.
class sequence_parser {
 public:
  explicit sequence_parser(std::string_view of) : text_(of) {}
  std::optional<std::vector<pattern_sequence>> parse() {
    std::vector<pattern_sequence> all;
    do {
      auto some = alternatives();
      if (!some) return {};
      for (pattern_sequence& s : *some) {
        // One that matches nothing at all has places between characters, which ICU counts as it does.
        if (std::all_of(s.begin(), s.end(),
                        [](const auto& i) { return i.least == 0 || i.is_negative_lookahead; }))
          return {};
        all.push_back(std::move(s));
      }
    } while (take("|"));
    if (at_ != text_.size() || all.size() > 64) return {};
    return all;
  }

 private:
  bool take(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }
  bool ends() const { return at_ >= text_.size() || text_[at_] == '|' || text_[at_] == ')'; }

  // One alternative; several if a group inside of it has several.
  std::optional<std::vector<pattern_sequence>> alternatives() {
    std::vector<pattern_sequence> all(1);
    while (!ends()) {
      const bool any_case = take("(?i:");
      if (any_case || take("(?:")) {
        // Items that may give up characters again must not be tried anew for each alternative.
        for (const pattern_sequence& s : all)
          for (const pattern_item& i : s)
            if (i.least != i.most && !i.possessive) return {};
        std::vector<pattern_sequence> inner;
        do {
          pattern_sequence s;
          while (!ends())
            if (!item(s, any_case)) return {};
          inner.push_back(std::move(s));
        } while (take("|"));
        if (!take(")") || is_quantifier()) return {};
        std::vector<pattern_sequence> longer;
        for (const pattern_sequence& head : all)
          for (const pattern_sequence& tail : inner) {
            longer.push_back(head);
            longer.back().insert(longer.back().end(), tail.begin(), tail.end());
          }
        if (longer.size() > 64) return {};
        all = std::move(longer);
      } else {
        pattern_sequence one;
        if (!item(one, false)) return {};
        for (pattern_sequence& s : all) s.push_back(one.front());
      }
    }
    return all;
  }
  bool is_quantifier() const {
    return at_ < text_.size() && std::string_view("?*+{").find(text_[at_]) != std::string_view::npos;
  }

  bool item(pattern_sequence& to, bool any_case) {
    if (take("(?!")) {
      auto s = set(any_case);
      if (!s || !take(")") || is_quantifier()) return false;
      to.push_back({.set = character_set(std::move(*s)), .is_negative_lookahead = true});
      return true;
    }
    auto s = set(any_case);
    if (!s) return false;
    pattern_item i{.set = character_set(std::move(*s))};
    constexpr std::size_t many = std::string_view::npos;
    const bool counts = at_ < text_.size() && text_[at_] == '{';
    if (take("?")) i.least = 0;
    else if (take("*")) i.least = 0, i.most = many;
    else if (take("+")) i.most = many;
    else if (counts && !count(i)) return false;
    else if (!counts) return to.push_back(std::move(i)), true;
    i.possessive = !counts && take("+");
    if (is_quantifier()) return false;
    to.push_back(std::move(i));
    return true;
  }
  bool count(pattern_item& i) {
    const auto number = [&]() -> std::optional<std::size_t> {
      std::size_t n = 0, digits = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && digits < 4; ++at_, ++digits)
        n = 10 * n + static_cast<std::size_t>(text_[at_] - '0');
      if (!digits) return {};
      return n;
    };
    take("{");
    const auto least = number();
    if (!least) return false;
    i.least = i.most = *least;
    if (take(",")) i.most = number().value_or(std::string_view::npos);
    return take("}") && i.most > 0 && i.least <= i.most;
  }

  // A character, an escape such as \s and \p{L}, or a set in brackets.
  std::optional<icu::UnicodeSet> set(bool any_case) {
    if (at_ >= text_.size()) return {};
    icu::UnicodeSet s;
    if (take("[")) {
      const bool inverted = take("^");
      while (!take("]")) {
        if (at_ >= text_.size() || text_[at_] == '[' || text_.substr(at_).starts_with("&&")) return {};
        char32_t first = 0, last = 0;
        auto one = character(first);
        if (!one) return {};
        if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
          ++at_;
          if (one->size() != 1 || text_[at_] == '[' || !character(last) || last < first || !last) return {};
          one->add(static_cast<UChar32>(first), static_cast<UChar32>(last));
        }
        s.addAll(*one);
      }
      if (any_case) s.closeOver(USET_CASE_INSENSITIVE);
      if (inverted) s.complement();
      return s;
    }
    if (std::string_view(".^$*+?{}()|]").find(text_[at_]) != std::string_view::npos) return {};
    char32_t c = 0;
    auto one = character(c);
    if (one && any_case) one->closeOver(USET_CASE_INSENSITIVE);
    return one;
  }
  // `point` is the character if it is one.
  std::optional<icu::UnicodeSet> character(char32_t& point) {
    const auto of = [](const char* pattern) { return with(pattern); };
    if (!take("\\")) {
      point = unicode::next(text_, at_);
      return icu::UnicodeSet(static_cast<UChar32>(point), static_cast<UChar32>(point));
    }
    if (at_ >= text_.size()) return {};
    const char c = text_[at_++];
    const auto literal = [&](char32_t p) {
      return point = p, icu::UnicodeSet(static_cast<UChar32>(p), static_cast<UChar32>(p));
    };
    switch (c) {
      case 'r': return literal('\r');
      case 'n': return literal('\n');
      case 't': return literal('\t');
      case 's': return of("\\p{White_Space}");
      case 'S': return of("\\P{White_Space}");
      case 'd': return of("\\p{Nd}");
      case 'D': return of("\\P{Nd}");
      case 'p':
      case 'P': {
        const std::size_t end = text_.find('}', at_);
        if (end == std::string_view::npos || text_[at_] != '{' || end - at_ > 40) return {};
        const std::string name(text_.substr(at_ - 2, end + 1 - (at_ - 2)));
        at_ = end + 1;
        return of(name.c_str());
      }
      default: break;
    }
    // Of letters and digits, escapes have meanings; signs stand for themselves.
    if (static_cast<u8>(c) >= 128 || u_isalnum(c)) return {};
    return literal(static_cast<char32_t>(c));
  }
  static std::optional<icu::UnicodeSet> with(const char* pattern) {
    UErrorCode status = U_ZERO_ERROR;
    icu::UnicodeSet s(icu::UnicodeString::fromUTF8(pattern), status);
    if (U_FAILURE(status)) return {};
    return s;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace detail

class pattern {
 public:
  /// From a regular expression. Throws std::invalid_argument, with ICU's reason, if it is none.
  static pattern of(const std::string& expression) {
    pattern p;
    if (auto some = detail::sequence_parser(expression).parse()) p.take(std::move(*some));
    else p.compile(expression);
    return p;
  }
  /// The same by ICU alone.
  static pattern of_icu(const std::string& expression) {
    pattern p;
    p.compile(expression);
    return p;
  }
  /// A text that is matched as it is.
  static pattern of_text(std::string text) {
    pattern p;
    p.literal_ = std::move(text);
    return p;
  }
  bool is_fast() const { return !icu_; }

  /// Calls f(begin, end, is_match) for the matches and for what is between them, in order. Throws
  /// std::invalid_argument if the expression takes too long on this text.
  template <class F>
  void divide(std::string_view text, F f) const {
    std::size_t done = 0;
    const auto match = [&](std::size_t begin, std::size_t end) {
      if (done < begin) f(done, begin, false);
      f(begin, end, true);
      done = end;
    };
    if (icu_) divide_by_icu(text, match);
    else if (!sequences_.empty()) divide_by_sequences(text, match);
    else if (!literal_.empty())
      for (std::size_t at = 0; (at = text.find(literal_, at)) != std::string_view::npos;
           at += literal_.size())
        match(at, at + literal_.size());
    if (done < text.size()) f(done, text.size(), false);
  }

  /// The text with another one in the place of each match.
  std::string replaced(std::string_view text, std::string_view by) const {
    std::string out;
    divide(text, [&](std::size_t begin, std::size_t end, bool is_match) {
      out += is_match ? by : text.substr(begin, end - begin);
    });
    return out;
  }

 private:
  void take(std::vector<detail::pattern_sequence> some) {
    sequences_ = std::move(some);
    for (std::size_t s = 0; s < sequences_.size(); ++s)
      for (std::size_t byte = 0; byte < 256; ++byte)
        if (byte >= 128 || may_begin(sequences_[s], static_cast<u8>(byte))) beginning_[byte] |= u64{1} << s;
  }
  static bool may_begin(const detail::pattern_sequence& s, u8 ascii) {
    for (const detail::pattern_item& i : s) {
      if (i.is_negative_lookahead) continue;
      if (i.set.has_ascii(ascii)) return true;
      if (i.least > 0) return false;
    }
    return true;
  }
  void compile(const std::string& expression) {
    UErrorCode status = U_ZERO_ERROR;
    UParseError place{};
    icu_.reset(icu::RegexPattern::compile(unicode::utf16(expression), place, status));
    if (U_FAILURE(status))
      throw std::invalid_argument(fmt::format("character {} of the regular expression '{}': {}", place.offset,
                                              expression, u_errorName(status)));
  }

  static constexpr std::size_t none = std::string_view::npos;
  // The end of the items from `item` on, if they match at byte `at`.
  static std::size_t end_of(const detail::pattern_sequence& s, std::size_t item, std::string_view text,
                            std::size_t at) {
    if (item == s.size()) return at;
    const detail::pattern_item& i = s[item];
    if (i.is_negative_lookahead) {
      std::size_t past = at;
      return at < text.size() && i.set.takes(text, past) ? none : end_of(s, item + 1, text, at);
    }
    std::size_t count = 0;
    while (count < i.most && at < text.size() && i.set.takes(text, at)) ++count;
    if (count < i.least) return none;
    if (i.possessive || item + 1 == s.size()) return end_of(s, item + 1, text, at);
    for (;; --count, unicode::step_back(text, at)) {
      if (const std::size_t end = end_of(s, item + 1, text, at); end != none) return end;
      if (count == i.least) return none;
    }
  }
  template <class F>
  void divide_by_sequences(std::string_view text, F match) const {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = none;
      for (u64 left = beginning_[static_cast<u8>(text[at])]; left && end == none; left &= left - 1)
        end = end_of(sequences_[static_cast<std::size_t>(std::countr_zero(left))], 0, text, at);
      if (end == none) {
        at += unicode::bytes_from(text[at]);
      } else {
        match(at, end);
        at = end;
      }
    }
  }
  template <class F>
  void divide_by_icu(std::string_view text, F match) const {
    const icu::UnicodeString wide = unicode::utf16(text);
    UErrorCode status = U_ZERO_ERROR;
    const std::unique_ptr<icu::RegexMatcher> matcher(icu_->matcher(wide, status));
    if (U_SUCCESS(status)) matcher->setTimeLimit(time_limit, status);
    i32 at = 0;
    std::size_t byte = 0;
    const auto byte_of = [&](i32 unit) {
      for (; at < unit; at = wide.moveIndex32(at, 1)) byte += unicode::bytes_from(text[byte]);
      return byte;
    };
    while (U_SUCCESS(status) && matcher->find(status) && U_SUCCESS(status)) {
      const std::size_t begin = byte_of(matcher->start(status));
      match(begin, byte_of(matcher->end(status)));
    }
    if (U_FAILURE(status))
      throw std::invalid_argument(
          fmt::format("wsl: the regular expression '{}' fails on a text of {} bytes ({}): simplify it, or "
                      "encode the text in parts",
                      unicode::utf8(icu_->pattern()), text.size(), u_errorName(status)));
  }

  // ICU's own unit, some milliseconds each: a bound for what grows exponentially.
  static constexpr i32 time_limit = 2000;

  std::string literal_;
  std::vector<detail::pattern_sequence> sequences_;
  std::array<u64, 256> beginning_{};  // the sequences that may begin with a byte, as bits
  std::shared_ptr<const icu::RegexPattern> icu_;
};

}  // namespace wsl::ml
