// SPDX-License-Identifier: MIT
// How well classes of pixels are predicted: how often each class was predicted for each, and the usual
// numbers made of these counts, under the names of the Cerebras Model Zoo. A class that was neither there nor
// predicted is left out of means.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml {

class segmentation_score {
 public:
  /// Some classes may be left out of mean_iou and dice, as the Model Zoo's eval_ignore_classes are. Throws
  /// std::invalid_argument for fewer than two classes.
  explicit segmentation_score(int classes, std::vector<i64> ignored = {})
      : classes_(static_cast<std::size_t>(classes > 0 ? classes : 0)),
        counts_(classes_ * classes_),
        ignored_(std::move(ignored)) {
    if (classes < 2)
      throw std::invalid_argument(fmt::format("wsl: pixels have at least 2 classes, not {}", classes));
  }

  /// The class that the logits of a pixel say: with one logit 1 if it is positive, otherwise the largest.
  static int predicted(std::span<const f32> logits) {
    if (logits.size() == 1) return logits[0] > 0;
    std::size_t best = 0;
    for (std::size_t k = 1; k < logits.size(); ++k)
      if (logits[k] > logits[best]) best = k;
    return static_cast<int>(best);
  }
  void add(int right, int predicted) {
    ++counts_[static_cast<std::size_t>(right) * classes_ + static_cast<std::size_t>(predicted)];
  }
  /// How many pixels of class `right`, the row, were predicted to be of another: (classes, classes).
  std::span<i64> counts() { return counts_; }

  /// Acc: the part of all pixels that are right.
  f64 accuracy() const {
    i64 right = 0, all = 0;
    for (std::size_t k = 0; k < classes_; ++k) right += at(k, k);
    for (const i64 n : counts_) all += n;
    return all > 0 ? static_cast<f64>(right) / static_cast<f64>(all) : 0;
  }
  /// MPCA: the mean over the classes of the part of a class's pixels that are right.
  f64 mean_class_accuracy() const {
    return mean([&](std::size_t k) { return std::pair(at(k, k), there(k)); });
  }
  /// mIOU: the mean over the classes of intersection over union.
  f64 mean_iou() const {
    return mean_of_judged([&](std::size_t k) { return std::pair(at(k, k), there(k) + said(k) - at(k, k)); });
  }
  /// DSC: the mean of the coefficients of Dice, 2 intersection / (pixels there + pixels predicted).
  f64 dice() const {
    return mean_of_judged([&](std::size_t k) { return std::pair(2 * at(k, k), there(k) + said(k)); });
  }
  /// The intersection over union of one class; 0 if it was neither there nor predicted.
  f64 iou(int k) const {
    const std::size_t c = static_cast<std::size_t>(k);
    const i64 all = there(c) + said(c) - at(c, c);
    return all > 0 ? static_cast<f64>(at(c, c)) / static_cast<f64>(all) : 0;
  }

 private:
  i64 at(std::size_t right, std::size_t predicted) const { return counts_[right * classes_ + predicted]; }
  i64 there(std::size_t k) const {
    i64 n = 0;
    for (std::size_t j = 0; j < classes_; ++j) n += at(k, j);
    return n;
  }
  i64 said(std::size_t k) const {
    i64 n = 0;
    for (std::size_t j = 0; j < classes_; ++j) n += at(j, k);
    return n;
  }
  template <class F>
  f64 mean(F f) const {
    f64 sum = 0;
    int classes = 0;
    for (std::size_t k = 0; k < classes_; ++k)
      if (const auto [part, all] = f(k); all > 0)
        sum += static_cast<f64>(part) / static_cast<f64>(all), ++classes;
    return classes ? sum / classes : 0;
  }
  /// Without the classes that are ignored.
  template <class F>
  f64 mean_of_judged(F f) const {
    return mean([&](std::size_t k) {
      const bool is_ignored =
          std::find(ignored_.begin(), ignored_.end(), static_cast<i64>(k)) != ignored_.end();
      return is_ignored ? std::pair(i64{0}, i64{0}) : f(k);
    });
  }

  std::size_t classes_;
  std::vector<i64> counts_;
  std::vector<i64> ignored_;
};

}  // namespace wsl::ml
