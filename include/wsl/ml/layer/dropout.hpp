// SPDX-License-Identifier: MIT
// y = dropout(x) in training, y = x otherwise.
#pragma once
#include "../op/dropout.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class dropout_stage final : public stage {
 public:
  dropout_stage(int x, int y, f32 probability) : x_(x), y_(y), probability_(probability) {}

  void forward(activation_store& store) const override {
    const matrix<f32> x = store.value(x_), y = store.value(y_);
    if (!store.random.on) return copy(y, x);
    for (int t = 0; t < store.tokens(); ++t) drop(y.row(t), x.row(t), row(store, t), 0, x.columns());
  }
  void backward(activation_store& store) const override {
    const matrix<f32> dx = store.gradient(x_), dy = store.gradient(y_);
    if (!store.random.on) return add(dx, dy);
    for (int t = 0; t < store.tokens(); ++t)
      drop_backward(dx.row(t), dy.row(t), row(store, t), 0, dx.columns());
  }

 private:
  dropout_rule row(const activation_store& store, int t) const {
    const i64 token = store.random.first_sequence * store.length() + store.first_token() + t;
    return dropout_rule::with(probability_, mixed(store.random.key, static_cast<u64>(number)))
        .of_row(static_cast<u64>(token));
  }

  int x_, y_;
  f32 probability_;
};

}  // namespace wsl::ml
