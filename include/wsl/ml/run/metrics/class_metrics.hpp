// SPDX-License-Identifier: MIT
// How well classes are told: accuracy, F1 and Matthews' correlation, all from the counts of what was said of
// what. They are the numbers of scikit-learn.
//   class_metrics m(2);
//   for (...) m.add(argmax(logits), label);
//   m.accuracy(), m.f1(1), m.matthews()
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

class class_metrics {
 public:
  static constexpr i32 ignored = -100;  ///< the label of what does not count

  /// Throws std::invalid_argument if there is no class.
  explicit class_metrics(int classes) : classes_(classes) {
    if (classes < 1)
      throw std::invalid_argument(fmt::format("wsl: there is at least one class, not {}", classes));
    counts_.resize(static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes));
  }

  /// Throws std::invalid_argument for what is no class.
  void add(i32 said, i32 right) {
    if (right == ignored) return;
    if (said < 0 || said >= classes_ || right < 0 || right >= classes_)
      throw std::invalid_argument(
          fmt::format("wsl: class {} for {}: classes are 0 to {}", said, right, classes_ - 1));
    ++counts_[at(said, right)];
    ++count_;
  }
  i64 count() const { return count_; }
  /// How often a class was said of what is of another one, or of the same.
  i64 count(i32 said, i32 right) const { return counts_[at(said, right)]; }

  f64 accuracy() const { return ratio(correct(), count_); }
  f64 precision(i32 c) const { return ratio(count(c, c), said(c)); }
  f64 recall(i32 c) const { return ratio(count(c, c), is(c)); }
  /// The harmonic mean of both; 0 if the class is neither said nor right anywhere.
  f64 f1(i32 c) const { return ratio(2 * count(c, c), said(c) + is(c)); }
  /// The mean F1 of the classes that were said or right anywhere.
  f64 macro_f1() const {
    f64 sum = 0;
    int seen = 0;
    for (i32 c = 0; c < classes_; ++c)
      if (said(c) + is(c) > 0) sum += f1(c), ++seen;
    return seen ? sum / seen : 0;
  }
  /// Matthews' correlation, between -1 and 1; 0 if all that was said, or is right, is one class. For more
  /// than two classes it is Gorodkin's (2004).
  f64 matthews() const {
    const f64 all = static_cast<f64>(count_);
    f64 both = 0, of_said = 0, of_right = 0;
    for (i32 c = 0; c < classes_; ++c) {
      const f64 s = static_cast<f64>(said(c)), r = static_cast<f64>(is(c));
      both += s * r, of_said += s * s, of_right += r * r;
    }
    const f64 scale = std::sqrt((all * all - of_said) * (all * all - of_right));
    return scale > 0 ? (static_cast<f64>(correct()) * all - both) / scale : 0;
  }

 private:
  static f64 ratio(i64 part, i64 of) { return of ? static_cast<f64>(part) / static_cast<f64>(of) : 0; }
  std::size_t at(i32 said, i32 right) const {
    return static_cast<std::size_t>(right) * static_cast<std::size_t>(classes_) +
           static_cast<std::size_t>(said);
  }
  i64 correct() const {
    i64 n = 0;
    for (i32 c = 0; c < classes_; ++c) n += count(c, c);
    return n;
  }
  i64 said(i32 c) const {
    i64 n = 0;
    for (i32 r = 0; r < classes_; ++r) n += count(c, r);
    return n;
  }
  i64 is(i32 c) const {
    i64 n = 0;
    for (i32 s = 0; s < classes_; ++s) n += count(s, c);
    return n;
  }

  int classes_;
  i64 count_ = 0;
  std::vector<i64> counts_;
};

}  // namespace wsl::ml
