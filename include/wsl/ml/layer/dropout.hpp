// SPDX-License-Identifier: MIT
// y = x, in training without some numbers.
#pragma once
#include "../op/dropout.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class dropout_stage final : public stage {
 public:
  dropout_stage(int x, int y, f32 probability) : x_(x), y_(y), probability_(probability) {}

  void forward(place& at) const override {
    const matrix<f32> x = at.value(x_), y = at.value(y_);
    if (!at.random.on) return copy(y, x);
    for (int t = 0; t < at.tokens(); ++t) drop(y.row(t), x.row(t), row(at, t), 0, x.columns());
  }
  void backward(place& at) const override {
    const matrix<f32> dx = at.gradient(x_), dy = at.gradient(y_);
    if (!at.random.on) return add(dx, dy);
    for (int t = 0; t < at.tokens(); ++t) drop_back(dx.row(t), dy.row(t), row(at, t), 0, dx.columns());
  }

 private:
  dropping row(const place& at, int t) const {
    const i64 token = at.random.first_sequence * at.length() + t;
    return dropping::with(probability_, mixed(at.random.key, static_cast<u64>(number)))
        .of_row(static_cast<u64>(token));
  }

  int x_, y_;
  f32 probability_;
};

}  // namespace wsl::ml
