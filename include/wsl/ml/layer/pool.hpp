// SPDX-License-Identifier: MIT
// One token that stands for its sequence: the first, where encoders put a token of their own ([CLS] of BERT,
// arXiv:1810.04805). The output has an axis of one token for each sequence.
#pragma once
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class first_token_stage final : public stage {
 public:
  void forward(activation_store& store) const override {
    const matrix<const f32> x = store.value(inputs[0]);
    const matrix<f32> y = store.value(output);
    for (int s = 0; s < y.rows(); ++s) copy(one(y, s), one(x, s * store.length_of(inputs[0])));
  }
  void backward(activation_store& store) const override {
    if (!wants_gradient(store, 0)) return;
    const matrix<f32> dx = store.gradient(inputs[0]), dy = store.gradient(output);
    for (int s = 0; s < dy.rows(); ++s) add(one(dx, s * store.length_of(inputs[0])), one(dy, s));
  }
  bool needs_whole_sequences() const override { return true; }
  bool sees_padding() const override { return false; }

 private:
  template <class T>
  static matrix<T> one(const matrix<T>& x, int row) {
    return x.part(row, 0, 1, x.columns());
  }
};

}  // namespace wsl::ml
