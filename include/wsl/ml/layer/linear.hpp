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
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      if (has_bias_) multiply_add(y, store.operand<T>(x_), s.as<T>().transposed());
      else multiply(y, store.operand<T>(x_), s.as<T>().transposed());
    });
  }
  void backward(activation_store& store, const weight_tile& s, const matrix<f32>& gradient) const override {
    if (is_bias(s)) {
      if (is_frozen(s.which)) return;
      clear(gradient);
      return add_sum_of_rows(gradient.first(), columns(store.gradient(y_), s));
    }
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<const T> dy = columns(store.operand_of_gradient<T>(y_), s);
      if (!is_frozen(s.which)) multiply(gradient, dy.transposed(), store.operand<T>(x_));
      if (!wants_gradient(store, 0)) return;
      bool overwrite = false;
      const matrix<f32> dx = store.gradient(x_, overwrite);
      if (overwrite) multiply(dx, dy, s.as<T>());
      else multiply_add(dx, dy, s.as<T>());
    });
  }
  bool reads_operands(int which) const override { return !has_bias_ || which != 0; }
  f64 operations(int which, int rows, int columns, int) const override {
    if (which < 0) return 0;
    return has_bias_ && which == 0 ? 2. * columns : operations_of_weight(which) * rows * columns;
  }
  bool needs_weight_in_backward(int which) const override {
    return wants_gradient(0) && (!has_bias_ || which != 0);
  }

 private:
  bool is_bias(const weight_tile& s) const { return has_bias_ && s.which == 0; }
  /// The outputs to which a tile belongs.
  template <class T>
  matrix<T> columns(const matrix<T>& y, const weight_tile& s) const {
    return y.part(0, s.row, y.rows(), is_bias(s) ? s.rows.columns() : s.rows.rows());
  }

  int x_, y_;
  bool has_bias_;
};

}  // namespace wsl::ml
