// SPDX-License-Identifier: MIT
// The shape of a value: its axes for each token, the last one running fastest. (500) are features, (28, 28,
// 1) an image of one channel. A width is a shape of one axis. All trainers keep a value as (tokens,
// features), with the axes one after the other in a row.
#pragma once
#include <initializer_list>
#include <string>

#include "../../core/scalar.hpp"
#include "../../support/bad_argument.hpp"

namespace wsl::ml {

class shape {
 public:
  static constexpr int most_axes = 6;

  constexpr shape(int features = 0) : axes_{features} {}
  /// The axes, slowest first: {height, width, channels}. Throws std::invalid_argument for more than 6 axes or
  /// none.
  constexpr shape(std::initializer_list<int> axes) : count_(static_cast<int>(axes.size())) {
    if (axes.size() < 1 || axes.size() > most_axes) support::bad_argument({"a shape has 1 to 6 axes"});
    int k = 0;
    for (int n : axes) axes_[k++] = n;
  }

  constexpr int axes() const { return count_; }
  constexpr int operator[](int axis) const { return axes_[axis]; }
  constexpr int last() const { return axes_[count_ - 1]; }
  /// The product of the axes.
  constexpr i64 size() const {
    i64 n = 1;
    for (int k = 0; k < count_; ++k) n *= axes_[k];
    return n;
  }
  constexpr bool operator==(const shape&) const = default;

  /// "500", "28 x 28 x 1"
  std::string text() const {
    std::string s = std::to_string(axes_[0]);
    for (int k = 1; k < count_; ++k) s += " x " + std::to_string(axes_[k]);
    return s;
  }

 private:
  int axes_[most_axes]{};
  int count_ = 1;
};

/// Whether a layer that takes `wanted` can read a value of shape `given`. A shape of one axis fits every
/// shape of as many features, because both are the same row of numbers; two shapes of several axes must be
/// equal.
constexpr bool fits(const shape& given, const shape& wanted) {
  return given.axes() == 1 || wanted.axes() == 1 ? given.size() == wanted.size() : given == wanted;
}

}  // namespace wsl::ml
