// SPDX-License-Identifier: MIT
// Stages that tell tokens where they stand: fixed waves for their features, turns for queries and keys. Every
// PE knows the numbers.
#pragma once
#include "../op/position.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

/// y = x + the wave of the token's position
class waves_stage final : public stage {
 public:
  waves_stage(int x, int y, int positions, int width) : x_(x), y_(y), table_(waves(positions, width)) {}

  void forward(place& at) const override {
    const matrix<f32> y = at.value(y_);
    copy(y, at.value(x_));
    for (int t = 0; t < at.tokens(); ++t)
      add(y.part(t, 0, 1, y.columns()),
          matrix<const f32>(table_.data() + i64{t % at.length()} * y.columns(), 1, y.columns()));
  }
  void backward(place& at) const override { add(at.gradient(x_), at.gradient(y_)); }

 private:
  int x_, y_;
  std::vector<f32> table_;
};

/// y = x with the first `heads` groups of `width` features turned: those of queries and keys, not of values.
class rotary_stage final : public stage {
 public:
  rotary_stage(int x, int y, int heads, int width, rotation by)
      : x_(x), y_(y), heads_(heads), width_(width), by_(std::move(by)) {}

  void forward(place& at) const override {
    const matrix<f32> x = at.value(x_), y = at.value(y_);
    copy(y, x);
    each(at, [&](int t, int from) { by_.turn(y.row(t) + from, x.row(t) + from, t % at.length()); });
  }
  void backward(place& at) const override {
    const matrix<f32> dx = at.gradient(x_), dy = at.gradient(y_);
    each(at, [&](int t, int from) {
      by_.turn_back(dx.row(t) + from, dy.row(t) + from, t % at.length());
      add_rest(dx, dy, t, from + by_.features(), from + width_);
    });
    for (int t = 0; t < at.tokens(); ++t) add_rest(dx, dy, t, heads_ * width_, dx.columns());
  }

 private:
  template <class F>
  void each(const place& at, F f) const {
    for (int t = 0; t < at.tokens(); ++t)
      for (int h = 0; h < heads_; ++h) f(t, h * width_);
  }
  static void add_rest(const matrix<f32>& dx, const matrix<f32>& dy, int t, int from, int end) {
    add(dx.part(t, from, 1, end - from), dy.part(t, from, 1, end - from));
  }

  int x_, y_, heads_, width_;
  rotation by_;
};

}  // namespace wsl::ml
