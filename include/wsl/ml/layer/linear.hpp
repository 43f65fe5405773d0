// SPDX-License-Identifier: MIT
// y = x W^T + bias. W is (outputs, inputs), so a slab is some outputs with all their weights: it gives as many columns of y. With
// the table of an embedding for W it is the head of a language model.
#pragma once
#include "../../kernel/dense.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class linear_stage final : public stage {
 public:
  /// The parameters are W, and before it the bias if there is one.
  linear_stage(int x, int y, bool has_bias) : x_(x), y_(y), has_bias_(has_bias) {}

  void forward(place& at) const override {
    const matrix<f32> y = at.value(y_);
    for (int t = 0; t < y.rows(); ++t) std::fill_n(y.row(t), y.columns(), 0.f);
  }
  void forward(place& at, const slab& s) const override {
    if (is_bias(s)) add_to_rows(at.value(y_), s.rows.first());
    else multiply_add(columns(at.value(y_), s), at.value(x_), s.rows.transposed());
  }
  void backward(place& at, const slab& s, const matrix<f32>& gradient) const override {
    if (is_bias(s)) return add_sum_of_rows(gradient.first(), at.gradient(y_));
    const matrix<f32> dy = columns(at.gradient(y_), s);
    multiply_add(at.gradient(x_), dy, s.rows);
    multiply_add(gradient, dy.transposed(), at.value(x_));
  }
  bool looks_back_at(int which) const override { return !has_bias_ || which != 0; }

 private:
  bool is_bias(const slab& s) const { return has_bias_ && s.which == 0; }
  static matrix<f32> columns(const matrix<f32>& y, const slab& s) { return y.part(0, s.row, y.rows(), s.rows.rows()); }

  int x_, y_;
  bool has_bias_;
};

}  // namespace wsl::ml
