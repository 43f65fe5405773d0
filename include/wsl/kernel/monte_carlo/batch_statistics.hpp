// SPDX-License-Identifier: MIT
// Means of tallies with their standard errors, from batches that are independent of each other, or taken to
// be.
#pragma once
#include <cmath>

#include "../../core/scalar.hpp"

namespace wsl::monte_carlo {

/// A mean and the standard deviation of that mean.
struct estimate {
  f64 mean = 0, error = 0;
  /// How many standard errors a value is away; infinite, or 0, where there is no error.
  f64 distance(f64 value) const { return mean == value ? 0 : std::abs(mean - value) / error; }
  friend constexpr bool operator==(estimate, estimate) = default;
};

/// Takes one value a batch. The sums are those of differences from the mean so far, which do not cancel.
class batch_statistics {
 public:
  void add(f64 value) {
    const f64 difference = value - mean_;
    mean_ += difference / static_cast<f64>(++batches_);
    squares_ += difference * (value - mean_);
  }
  u64 batches() const { return batches_; }
  /// The error of fewer than two batches is not known, and 0.
  estimate result() const {
    const auto n = static_cast<f64>(batches_);
    return {mean_, batches_ < 2 ? 0 : std::sqrt(squares_ / (n * (n - 1)))};
  }

 private:
  u64 batches_ = 0;
  f64 mean_ = 0, squares_ = 0;
};

}  // namespace wsl::monte_carlo
