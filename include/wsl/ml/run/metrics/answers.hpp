// SPDX-License-Identifier: MIT
// How well questions are answered, by the official rules of SQuAD: an answer is compared with each of the
// right ones, without punctuation, the articles a, an and the, case and surplus white space, and the best
// comparison counts. It is either the same (exact match), or it shares words with it (F1).
//   answer_metrics m;
//   m.add("the Denver Broncos!", {"Denver Broncos"});   // exact match 1, F1 1
// A question without an answer has the right answer "".
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../tokenizer/unicode.hpp"

namespace wsl::ml {

/// The words by which answers are compared. Throws std::invalid_argument if the text is not UTF-8. Lower case
/// is that of each character by itself.
inline std::vector<std::string> words_of_answer(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c >= 128 || !unicode::is_punctuation(c)) append_utf8(plain, c);
  }
  plain = unicode::lower_case(plain);
  std::string kept;
  for (std::size_t at = 0; at < plain.size();) {
    const auto is_word = [&](std::size_t i) { return unicode::is_word(unicode::next(plain, i)); };
    const std::size_t begin = at;
    while (at < plain.size() && is_word(at)) unicode::next(plain, at);
    const std::string run = plain.substr(begin, at - begin);
    kept += run == "a" || run == "an" || run == "the" ? " " : run;
    if (at < plain.size() && run.empty()) append_utf8(kept, unicode::next(plain, at));
  }
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < kept.size();) {
    const std::size_t begin = at;
    if (!unicode::is_space(unicode::next(kept, at))) words.back() += kept.substr(begin, at - begin);
    else if (!words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Whether two answers are the same.
inline bool same_answer(std::string_view said, std::string_view right) {
  return words_of_answer(said) == words_of_answer(right);
}
/// The F1 of the words that two answers share. If one of them has no words, it is 1 if both have none.
inline f64 answer_f1(std::string_view said, std::string_view right) {
  std::vector<std::string> a = words_of_answer(said), b = words_of_answer(right), both;
  if (a.empty() || b.empty()) return a.empty() && b.empty();
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return 2 * static_cast<f64>(both.size()) / static_cast<f64>(a.size() + b.size());
}

/// Means over questions, as parts of 1; SQuAD shows them in percent.
class answer_metrics {
 public:
  void add(std::string_view said, std::span<const std::string> right) {
    const std::string none;
    f64 exact = 0, f1 = 0;
    for (const std::string& r : right.empty() ? std::span<const std::string>(&none, 1) : right)
      exact = std::max(exact, static_cast<f64>(same_answer(said, r))), f1 = std::max(f1, answer_f1(said, r));
    exact_ += exact, f1_ += f1, ++count_;
  }
  i64 count() const { return count_; }
  f64 exact_match() const { return count_ ? exact_ / static_cast<f64>(count_) : 0; }
  f64 f1() const { return count_ ? f1_ / static_cast<f64>(count_) : 0; }

 private:
  f64 exact_ = 0, f1_ = 0;
  i64 count_ = 0;
};

}  // namespace wsl::ml
