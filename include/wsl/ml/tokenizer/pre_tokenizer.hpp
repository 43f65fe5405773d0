// SPDX-License-Identifier: MIT
// Pre-tokenizers: the division of a text into words, in which tokens are then looked for one word at a time.
// `pre_tokenizer_of` makes one of the entry "pre_tokenizer" of a tokenizer.json.
#pragma once
#include "normalizer.hpp"

namespace wsl::ml::detail {

/// A text that is divided into words. Between words there may be something that is left out.
struct words {
  struct range {
    std::size_t begin, end;
  };
  std::string text;
  std::vector<range> ranges;
  bool begins_input = true;  ///< this is the beginning of what is encoded, not what follows a special token
  bool are_bytes = false;    ///< the model is to take the bytes of the words, not their characters

  explicit words(std::string all, bool at_begin) : text(std::move(all)), begins_input(at_begin) {
    ranges.push_back({0, text.size()});
  }
  std::string_view of(const range& r) const {
    return std::string_view(text).substr(r.begin, r.end - r.begin);
  }

  /// Puts the text that f makes of each word in its place.
  template <class F>
  void rewrite(F f) {
    std::string all;
    for (range& r : ranges) {
      const std::size_t begin = all.size();
      all += f(of(r), r.begin);
      r = {begin, all.size()};
    }
    text = std::move(all);
  }
};

using pre_tokenizer = std::function<void(words&)>;

/// The fate of the matches of a pattern that divides a word.
enum class divider { removed, isolated, contiguous, merged_with_previous, merged_with_next };

inline divider divider_of(const json_field& f) {
  const std::string& name = f.text();
  // Python's names and Rust's.
  if (name == "Removed" || name == "removed") return divider::removed;
  if (name == "Isolated" || name == "isolated") return divider::isolated;
  if (name == "Contiguous" || name == "contiguous") return divider::contiguous;
  if (name == "MergedWithPrevious" || name == "merged_with_previous") return divider::merged_with_previous;
  if (name == "MergedWithNext" || name == "merged_with_next") return divider::merged_with_next;
  throw f.wrong("Removed, Isolated, Contiguous, MergedWithPrevious or MergedWithNext");
}

// Divides each word; find(word, f) calls f(begin, end, is_match) for all parts of it in order.
template <class Find>
void divide(words& w, divider how, Find find) {
  std::vector<words::range> all;
  all.reserve(w.ranges.size());
  for (const words::range& r : w.ranges) {
    const std::size_t first = all.size();
    bool before = false, any = false, opens = false;
    find(w.of(r), [&](std::size_t begin, std::size_t end, bool is_match) {
      const words::range part{r.begin + begin, r.begin + end};
      bool joins = false;
      switch (how) {
        case divider::removed:
          if (is_match) return;
          break;
        case divider::isolated: break;
        case divider::contiguous: joins = any && is_match == before; break;
        case divider::merged_with_previous: joins = is_match && !before; break;
        case divider::merged_with_next:
          joins = opens && !is_match;
          opens = is_match;
          break;
      }
      before = is_match, any = true;
      if (joins && all.size() > first) all.back().end = part.end;
      else if (part.begin < part.end) all.push_back(part);
    });
  }
  w.ranges = std::move(all);
}

// The parts of a word whose characters are in a class.
template <class Is>
auto characters_that(Is is) {
  return [is](std::string_view word, auto f) {
    std::size_t done = 0;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t begin = at;
      if (!is(unicode::next(word, at))) continue;
      if (done < begin) f(done, begin, false);
      f(begin, at, true);
      done = at;
    }
    if (done < word.size()) f(done, word.size(), false);
  };
}
// The parts of a word that do or do not match.
inline auto matches_of(pattern p, bool inverted = false) {
  return [p = std::move(p), inverted](std::string_view word, auto f) {
    p.divide(word, [&](std::size_t begin, std::size_t end, bool is) { f(begin, end, is != inverted); });
  };
}

constexpr const char* gpt2_words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

inline pre_tokenizer byte_level(bool adds_space, bool divides) {
  return [adds_space, divides, find = matches_of(pattern::of(gpt2_words))](words& w) {
    if (adds_space)
      w.rewrite([](std::string_view word, std::size_t) {
        return word.starts_with(' ') ? std::string(word) : " " + std::string(word);
      });
    if (divides) divide(w, divider::isolated, find);
    w.are_bytes = true;
  };
}

enum class prepending { always, first, never };
inline prepending prepending_of(const json_field& f) {
  if (!f.has("prepend_scheme"))
    return f.flag("add_prefix_space", true) ? prepending::always : prepending::never;
  const json_field scheme = f.at("prepend_scheme");
  if (scheme.text() == "always") return prepending::always;
  if (scheme.text() == "first") return prepending::first;
  if (scheme.text() == "never") return prepending::never;
  throw scheme.wrong("always, first or never");
}
inline std::string replacement_of(const json_field& f) {
  const std::string sign = f.text("replacement", "\xe2\x96\x81");
  if (sign.empty() || unicode::bytes_from(sign[0]) != sign.size())
    throw f.at("replacement").wrong("one character");
  return sign;
}

inline pre_tokenizer metaspace(const json_field& f) {
  const std::string sign = replacement_of(f);
  return [sign, how = prepending_of(f), divides = f.flag("split", true), space = pattern::of_text(" "),
          find = matches_of(pattern::of_text(sign))](words& w) {
    w.rewrite([&](std::string_view word, std::size_t at) {
      std::string to = space.replaced(word, sign);
      const bool prepends =
          how == prepending::always || (how == prepending::first && w.begins_input && at == 0);
      return prepends && !to.starts_with(sign) ? sign + to : to;
    });
    if (divides) divide(w, divider::merged_with_next, find);
  };
}

inline pre_tokenizer pre_tokenizer_of(const json_field& f, int depth = 0) {
  const std::string& type = f.at("type").text();
  const auto division = [](divider how, auto find) {
    return [how, find](words& w) { divide(w, how, find); };
  };
  if (type == "Sequence") {
    check_depth(f, depth);
    std::vector<pre_tokenizer> all;
    for (const json_field& one : f.at("pretokenizers").items())
      all.push_back(pre_tokenizer_of(one, depth + 1));
    return [all](words& w) {
      for (const pre_tokenizer& one : all) {
        if (w.are_bytes) w.rewrite([](std::string_view word, std::size_t) { return letters_of_bytes(word); });
        w.are_bytes = false;
        one(w);
      }
    };
  }
  if (type == "ByteLevel") return byte_level(f.flag("add_prefix_space", true), f.flag("use_regex", true));
  if (type == "Metaspace") return metaspace(f);
  if (type == "Split")
    return division(divider_of(f.at("behavior")),
                    matches_of(pattern_of(f.at("pattern")), f.flag("invert", false)));
  if (type == "Whitespace")
    return division(divider::removed, [](std::string_view word, auto g) {
      // Runs that match \w+|[^\w\s]+ are kept.
      const auto kind_at = [&](std::size_t& at) {
        const char32_t c = unicode::next(word, at);
        return unicode::is_word(c) ? 1 : unicode::is_space(c) ? 0 : 2;
      };
      for (std::size_t at = 0; at < word.size();) {
        const std::size_t begin = at;
        const int kind = kind_at(at);
        for (std::size_t next = at; next < word.size() && kind_at(next) == kind;) at = next;
        g(begin, at, kind == 0);
      }
    });
  if (type == "WhitespaceSplit") return division(divider::removed, characters_that(unicode::is_space));
  if (type == "BertPreTokenizer")
    return [](words& w) {
      divide(w, divider::removed, characters_that(unicode::is_space));
      divide(w, divider::isolated, characters_that(unicode::is_punctuation));
    };
  if (type == "Digits")
    return division(f.flag("individual_digits", false) ? divider::isolated : divider::contiguous,
                    characters_that(unicode::is_number));
  if (type == "Punctuation")
    return division(f.has("behavior") ? divider_of(f.at("behavior")) : divider::isolated,
                    characters_that(unicode::is_punctuation));
  if (type == "CharDelimiterSplit")
    return division(divider::removed, matches_of(pattern::of_text(f.at("delimiter").text())));
  throw f.error(
      fmt::format("there is no pre-tokenizer '{}' here; known are BertPreTokenizer, ByteLevel, "
                  "CharDelimiterSplit, Digits, "
                  "Metaspace, Punctuation, Sequence, Split, Whitespace and WhitespaceSplit",
                  type));
}

}  // namespace wsl::ml::detail
