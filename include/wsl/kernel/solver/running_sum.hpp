// SPDX-License-Identifier: MIT
// Sums of many f32 numbers that are as exact as sums of few.
#pragma once
#include "../../core/scalar.hpp"

namespace wsl::solver {

/// Compensated summation of f32 numbers (Knuth's two-sum): the total of many lines is as exact as one of
/// few.
class running_sum {
 public:
  void add(f32 x) {
    const f32 sum = high_ + x, part = sum - high_;
    low_ += (high_ - (sum - part)) + (x - part);
    high_ = sum;
  }
  f32 value() const { return high_ + low_; }

 private:
  f32 high_ = 0, low_ = 0;
};

}  // namespace wsl::solver
