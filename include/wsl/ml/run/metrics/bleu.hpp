// SPDX-License-Identifier: MIT
// BLEU (Papineni and others, 2002) of a corpus of translations: the geometric mean of the precisions of runs
// of one to four tokens, times a penalty for being short. It counts the tokens that it is given, as sacrebleu
// does with tokenize none; dividing texts into words (13a and others) is the caller's.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

enum class bleu_smoothing : u8 {
  none,        ///< without a run of some length in common, the score is 0
  exponential  ///< the k-th precision of 0 is 1 / (2^k runs) instead (NIST's mteval, sacrebleu's default)
};

class bleu {
 public:
  using tokens = std::vector<std::string>;
  static constexpr std::size_t longest_run = 4;

  /// Adds a translation and the right ones. Throws std::invalid_argument without any.
  void add(const tokens& said, std::span<const tokens> right) {
    if (right.empty())
      throw std::invalid_argument("wsl: a translation is compared with at least one right one");
    // Of right ones as close in length, the shorter one counts.
    const auto distance = [&](const tokens& x) {
      return std::pair(std::abs(std::ssize(x) - std::ssize(said)), std::ssize(x));
    };
    said_ += std::ssize(said);
    right_ += std::ssize(*std::min_element(right.begin(), right.end(), [&](const tokens& a, const tokens& b) {
      return distance(a) < distance(b);
    }));
    for (std::size_t n = 1; n <= longest_run; ++n) {
      std::map<tokens, i64> most;
      for (const tokens& r : right)
        for (const auto& [run, count] : runs_of(r, n)) most[run] = std::max(most[run], count);
      for (const auto& [run, count] : runs_of(said, n)) {
        runs_[n - 1] += count;
        if (const auto at = most.find(run); at != most.end()) found_[n - 1] += std::min(count, at->second);
      }
    }
  }
  /// The part of the runs of n tokens that a right translation has.
  f64 precision(std::size_t n) const {
    return runs_[n - 1] ? static_cast<f64>(found_[n - 1]) / static_cast<f64>(runs_[n - 1]) : 0;
  }
  f64 brevity_penalty() const {
    if (said_ == 0) return 0;
    return said_ >= right_ ? 1 : std::exp(1 - static_cast<f64>(right_) / static_cast<f64>(said_));
  }
  /// Between 0 and 1; sacrebleu shows it in percent.
  f64 score(bleu_smoothing how = bleu_smoothing::exponential) const {
    if (found_ == std::array<i64, longest_run>{}) return 0;
    f64 sum = 0, halves = 1;
    for (std::size_t n = 1; n <= longest_run; ++n) {
      f64 p = precision(n);
      if (p == 0 && (how == bleu_smoothing::none || runs_[n - 1] == 0)) return 0;
      if (p == 0) p = 1 / ((halves *= 2) * static_cast<f64>(runs_[n - 1]));
      sum += std::log(p);
    }
    return brevity_penalty() * std::exp(sum / longest_run);
  }

 private:
  static std::map<tokens, i64> runs_of(const tokens& all, std::size_t n) {
    std::map<tokens, i64> runs;
    for (std::size_t i = 0; i + n <= all.size(); ++i)
      ++runs[tokens(all.begin() + static_cast<std::ptrdiff_t>(i),
                    all.begin() + static_cast<std::ptrdiff_t>(i + n))];
    return runs;
  }

  std::array<i64, longest_run> found_{}, runs_{};
  i64 said_ = 0, right_ = 0;  // tokens
};

}  // namespace wsl::ml
