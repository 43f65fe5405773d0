// SPDX-License-Identifier: MIT
// y = x W^T + bias. W is (outputs, inputs), so a slab is some outputs with all their weights: it gives as
// many columns of y. With the table of an embedding for W it is the head of a language model.
#pragma once
#include "../../linalg/dense.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class linear_stage final : public stage {
 public:
  /// The parameters are W, and before it the bias if there is one. Nothing goes back to an input of the
  /// model.
  linear_stage(int x, int y, bool has_bias, bool x_is_input)
      : x_(x), y_(y), has_bias_(has_bias), x_is_input_(x_is_input) {}

  void forward(place& at, const weight_tile& s) const override {
    if (is_bias(s)) return set_rows(at.value(y_), s.rows.first());
    const matrix<f32> y = columns(at.value(y_), s);
    if (has_bias_) multiply_add(y, at.value(x_), s.rows.transposed());
    else multiply(y, at.value(x_), s.rows.transposed());
  }
  void backward(place& at, const weight_tile& s, const matrix<f32>& gradient) const override {
    if (is_bias(s)) {
      clear(gradient);
      return add_sum_of_rows(gradient.first(), at.gradient(y_));
    }
    const matrix<f32> dy = columns(at.gradient(y_), s);
    multiply(gradient, dy.transposed(), at.value(x_));
    if (x_is_input_) return;
    bool sets = false;
    const matrix<f32> dx = at.gradient(x_, sets);
    if (sets) multiply(dx, dy, s.rows);
    else multiply_add(dx, dy, s.rows);
  }
  f64 operations(int which, int rows, int columns, int) const override {
    if (which < 0) return 0;
    return has_bias_ && which == 0 ? 2. * columns : (x_is_input_ ? 4. : 6.) * rows * columns;
  }
  bool needs_weight_in_backward(int which) const override {
    return !x_is_input_ && (!has_bias_ || which != 0);
  }

 private:
  bool is_bias(const weight_tile& s) const { return has_bias_ && s.which == 0; }
  static matrix<f32> columns(const matrix<f32>& y, const weight_tile& s) {
    return y.part(0, s.row, y.rows(), s.rows.rows());
  }

  int x_, y_;
  bool has_bias_, x_is_input_;
};

}  // namespace wsl::ml
