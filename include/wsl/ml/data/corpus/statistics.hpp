// SPDX-License-Identifier: MIT
// What is in a corpus: documents, characters, words, tokens, the spread of lengths, and how many texts are
// exactly those of documents before them.
//   const corpus_statistics s = statistics_of(corpus({"part.jsonl"}), {});
#pragma once
#include <array>
#include <bit>
#include <cmath>

#include "../../../support/fingerprint.hpp"
#include "../../tokenizer/tokenizer.hpp"
#include "../../tokenizer/unicode.hpp"
#include "passes.hpp"

namespace wsl::ml {

/// Numbers of words, characters or tokens of the documents.
struct length_spread {
  u64 sum = 0;
  std::vector<u64> sorted;

  /// The smallest length that a part p, from 0 to 1, of the documents does not exceed; 0 without documents.
  u64 percentile(f64 p) const {
    if (sorted.empty()) return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<f64>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
  }
  f64 mean() const { return sorted.empty() ? 0 : static_cast<f64>(sum) / static_cast<f64>(sorted.size()); }
};

struct corpus_statistics {
  i64 documents = 0, invalid = 0;
  u64 bytes = 0;             ///< of the texts in UTF-8
  u64 file_bytes = 0;        ///< of the files
  i64 exact_duplicates = 0;  ///< documents whose text a document before has, by a hash of 64 bits
  u64 duplicate_bytes = 0;
  length_spread characters, words;
  std::optional<length_spread> tokens;
  /// documents with 2^(k - 1) to 2^k - 1 words; the first is of those without any
  std::array<i64, 65> words_histogram{};
};

/// Reads a corpus once; it takes 32 bytes of memory for each document, and 8 more with a tokenizer. Words
/// stand between white space of Unicode. Throws file_error for a document that is refused.
inline corpus_statistics statistics_of(const corpus& in, const pass_settings& how,
                                       const tokenizer* by = nullptr) {
  struct counts {
    u64 bytes, hash, characters, words, tokens;
  };
  corpus_statistics s;
  s.file_bytes = in.bytes();
  if (by) s.tokens.emplace();
  std::vector<std::pair<u64, u64>> texts;  // hash and bytes
  const auto count = [&](const document& d) {
    const std::string text = in.text_of(d);
    support::fingerprint hash;
    hash.add(text.data(), text.size());
    counts c{text.size(), hash.value(), 0, 0, 0};
    bool inside = false;
    unicode::each(text, [&](char32_t x) {
      ++c.characters;
      const bool space = unicode::is_space(x);
      c.words += !space && !inside;
      inside = !space;
    });
    if (by) c.tokens = by->encode(text, {.add_special_tokens = false, .match_special_tokens = false}).size();
    return c;
  };
  const auto add = [](length_spread& to, u64 length) { to.sum += length, to.sorted.push_back(length); };
  s.documents = pass_over(in, how, count, [&](const document&, std::optional<counts> c) {
    if (!c) return void(++s.invalid);
    s.bytes += c->bytes;
    texts.emplace_back(c->hash, c->bytes);
    add(s.characters, c->characters), add(s.words, c->words);
    if (by) add(*s.tokens, c->tokens);
    ++s.words_histogram[static_cast<std::size_t>(std::bit_width(c->words))];
  });
  std::sort(texts.begin(), texts.end());
  for (std::size_t i = 1; i < texts.size(); ++i)
    if (texts[i] == texts[i - 1]) ++s.exact_duplicates, s.duplicate_bytes += texts[i].second;
  for (length_spread* x : {&s.characters, &s.words}) std::sort(x->sorted.begin(), x->sorted.end());
  if (s.tokens) std::sort(s.tokens->sorted.begin(), s.tokens->sorted.end());
  return s;
}

}  // namespace wsl::ml
