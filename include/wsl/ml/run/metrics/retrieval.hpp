// SPDX-License-Identifier: MIT
// How well passages are found by the dot products of their vectors with those of questions (top-k accuracy of
// DPR, arXiv:2004.04906): recall@k is the part of the questions of which one of the k passages with the
// largest scores is a right one.
//   const auto best = best_passages(question, passages, 20);
//   retrieval_metrics m({1, 5, 20});
//   m.add(best, right);
//   m.recall(1)   // at 5
#pragma once
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "../../../linalg/matrix.hpp"

namespace wsl::ml {

struct scored_passage {
  std::size_t number;
  f64 score;
};

/// The `count` rows of passages, (passages, width), with the largest dot products with a question, the
/// largest first; of equal ones the first. All, if there are fewer.
inline std::vector<scored_passage> best_passages(std::span<const f32> question,
                                                 const matrix<const f32>& passages, std::size_t count) {
  std::vector<scored_passage> all(static_cast<std::size_t>(passages.rows()));
  for (std::size_t k = 0; k < all.size(); ++k) {
    const f32* const row = passages.row(static_cast<int>(k));
    f64 score = 0;
    for (std::size_t i = 0; i < question.size(); ++i)
      score += static_cast<f64>(question[i]) * static_cast<f64>(row[i]);
    all[k] = {k, score};
  }
  const std::size_t n = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end(),
                    [](const scored_passage& a, const scored_passage& b) {
                      return a.score > b.score || (a.score == b.score && a.number < b.number);
                    });
  all.resize(n);
  return all;
}

class retrieval_metrics {
 public:
  /// The numbers of best passages among which a right one is looked for, in ascending order.
  explicit retrieval_metrics(std::vector<std::size_t> of) : of_(std::move(of)), found_(of_.size()) {}

  void add(std::span<const scored_passage> best, std::span<const std::size_t> right) {
    const auto first = std::find_if(best.begin(), best.end(), [&](const scored_passage& p) {
      return std::find(right.begin(), right.end(), p.number) != right.end();
    });
    for (std::size_t k = 0; k < of_.size() && first != best.end(); ++k)
      found_[k] += static_cast<std::size_t>(first - best.begin()) < of_[k];
    ++count_;
  }
  i64 count() const { return count_; }
  const std::vector<std::size_t>& numbers() const { return of_; }
  /// At the number that was given as number `which`.
  f64 recall(std::size_t which) const {
    return count_ ? static_cast<f64>(found_[which]) / static_cast<f64>(count_) : 0;
  }

 private:
  std::vector<std::size_t> of_;
  std::vector<i64> found_;
  i64 count_ = 0;
};

}  // namespace wsl::ml
