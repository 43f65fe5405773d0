// SPDX-License-Identifier: MIT
// Sets of numbers that are joined until no more pairs are named (union-find): the connected components of a
// graph whose edges come one by one. The name of a set is its smallest number, whatever the order of the
// edges. It takes four bytes a number.
#pragma once
#include <numeric>
#include <utility>
#include <vector>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

class disjoint_sets {
 public:
  /// The numbers 0, ..., count - 1, each in a set of its own.
  explicit disjoint_sets(u32 count) : above_(count) { std::iota(above_.begin(), above_.end(), 0u); }

  u32 count() const { return static_cast<u32>(above_.size()); }
  /// The smallest number of the set that x is in.
  u32 find(u32 x) {
    while (above_[x] != x) x = above_[x] = above_[above_[x]];
    return x;
  }
  /// Makes one set of those of x and y. Returns whether they were two.
  bool join(u32 x, u32 y) {
    x = find(x), y = find(y);
    if (x == y) return false;
    if (x > y) std::swap(x, y);
    above_[y] = x;
    return true;
  }

 private:
  std::vector<u32> above_;  // a smaller number of the same set, or the number itself
};

}  // namespace wsl::ml
