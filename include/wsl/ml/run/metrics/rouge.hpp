// SPDX-License-Identifier: MIT
// ROUGE (Lin, 2004): how much of a reference a summary has, by words (ROUGE-1), by pairs of words in a row
// (ROUGE-2), and by the longest sequence of words that both have in the same order (ROUGE-L). Words are runs
// of the letters a to z, in any case, and digits, as in google-research/rouge. Words are not reduced to their
// stems, as its option use_stemmer does, and ROUGE-L takes a text as one sentence (not rougeLsum).
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

struct rouge_score {
  f64 precision = 0, recall = 0, f1 = 0;

  static rouge_score of(i64 both, i64 said, i64 there) {
    rouge_score s;
    if (said > 0) s.precision = static_cast<f64>(both) / static_cast<f64>(said);
    if (there > 0) s.recall = static_cast<f64>(both) / static_cast<f64>(there);
    if (both > 0) s.f1 = 2 * s.precision * s.recall / (s.precision + s.recall);
    return s;
  }
};
struct rouge_scores {
  rouge_score rouge1, rouge2, rouge_l;
};

inline std::vector<std::string> words_of_rouge(std::string_view text) {
  std::vector<std::string> words;
  bool is_open = false;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_word && !is_open) words.emplace_back();
    if (is_word) words.back() += c;
    is_open = is_word;
  }
  return words;
}

/// ROUGE-n of words.
inline rouge_score rouge_n(std::span<const std::string> said, std::span<const std::string> right,
                           std::size_t n) {
  const auto sorted = [n](std::span<const std::string> words) {
    std::vector<std::vector<std::string>> all;
    for (std::size_t i = 0; i + n <= words.size(); ++i)
      all.emplace_back(words.begin() + static_cast<std::ptrdiff_t>(i),
                       words.begin() + static_cast<std::ptrdiff_t>(i + n));
    std::sort(all.begin(), all.end());
    return all;
  };
  const auto a = sorted(said), b = sorted(right);
  std::vector<std::vector<std::string>> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return rouge_score::of(std::ssize(both), std::ssize(a), std::ssize(b));
}
/// ROUGE-L of words.
inline rouge_score rouge_l(std::span<const std::string> said, std::span<const std::string> right) {
  std::vector<i64> longest(right.size() + 1);  // of what is said so far and each beginning of the other
  for (const std::string& word : said) {
    i64 diagonal = 0;
    for (std::size_t k = 0; k < right.size(); ++k) {
      const i64 above = longest[k + 1];
      longest[k + 1] = word == right[k] ? diagonal + 1 : std::max(above, longest[k]);
      diagonal = above;
    }
  }
  return rouge_score::of(longest.back(), std::ssize(said), std::ssize(right));
}
/// All three, of texts.
inline rouge_scores rouge(std::string_view said, std::string_view right) {
  const std::vector<std::string> a = words_of_rouge(said), b = words_of_rouge(right);
  return {rouge_n(a, b, 1), rouge_n(a, b, 2), rouge_l(a, b)};
}

}  // namespace wsl::ml
