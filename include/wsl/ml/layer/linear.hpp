// SPDX-License-Identifier: MIT
// y = x W^T + bias, with x (tokens, inputs), W (outputs, inputs) and y (tokens, outputs). A weight tile is
// some outputs with all their weights, and gives as many columns of y. With the table of an embedding as W it
// is the head of a language model.
#pragma once
#include "../../linalg/dense.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class linear_stage final : public stage {
 public:
  /// The parameters are the bias, if there is one, and W.
  linear_stage(int x, int y, bool has_bias) : x_(x), y_(y), has_bias_(has_bias) {}

  stage_cut how_cut() const override { return stage_cut::by_output; }

  void forward(activation_store& store, const weight_tile& s) const override {
    if (is_bias(s)) return set_rows(columns(store.value(y_), s), s.rows.first());
    const matrix<f32> y = columns(store.value(y_), s);
    if (has_bias_) multiply_add(y, store.value(x_), s.rows.transposed());
    else multiply(y, store.value(x_), s.rows.transposed());
  }
  void backward(activation_store& store, const weight_tile& s, const matrix<f32>& gradient) const override {
    if (is_bias(s)) {
      clear(gradient);
      return add_sum_of_rows(gradient.first(), columns(store.gradient(y_), s));
    }
    const matrix<f32> dy = columns(store.gradient(y_), s);
    multiply(gradient, dy.transposed(), store.value(x_));
    if (!wants_gradient(store, 0)) return;
    bool overwrite = false;
    const matrix<f32> dx = store.gradient(x_, overwrite);
    if (overwrite) multiply(dx, dy, s.rows);
    else multiply_add(dx, dy, s.rows);
  }
  f64 operations(int which, int rows, int columns, int) const override {
    if (which < 0) return 0;
    return has_bias_ && which == 0 ? 2. * columns : (is_given(0) ? 4. : 6.) * rows * columns;
  }
  bool needs_weight_in_backward(int which) const override {
    return !is_given(0) && (!has_bias_ || which != 0);
  }

 private:
  bool is_bias(const weight_tile& s) const { return has_bias_ && s.which == 0; }
  /// The outputs to which a tile belongs.
  matrix<f32> columns(const matrix<f32>& y, const weight_tile& s) const {
    return y.part(0, s.row, y.rows(), is_bias(s) ? s.rows.columns() : s.rows.rows());
  }

  int x_, y_;
  bool has_bias_;
};

}  // namespace wsl::ml
