// SPDX-License-Identifier: MIT
// One token that stands for its sequence: the first, where encoders put a token of their own ([CLS] of BERT,
// arXiv:1810.04805), or the last, which has seen all others in a decoder. The output has an axis of one token
// for each sequence.
#pragma once
#include <fmt/format.h>

#include <stdexcept>

#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

/// Copies one token of each sequence of its first input.
class token_of_sequence_stage : public stage {
 public:
  void forward(activation_store& store) const final {
    const matrix<const f32> x = store.value(inputs[0]);
    const matrix<f32> y = store.value(output);
    for (int s = 0; s < y.rows(); ++s) copy(one(y, s), one(x, row_of(store, s)));
  }
  void backward(activation_store& store) const final {
    if (!wants_gradient(store, 0)) return;
    const matrix<f32> dx = store.gradient(inputs[0]), dy = store.gradient(output);
    for (int s = 0; s < dy.rows(); ++s) add(one(dx, row_of(store, s)), one(dy, s));
  }
  bool needs_whole_sequences() const final { return true; }

 private:
  /// The row of that token among those of the sequences here.
  virtual int row_of(const activation_store& store, int s) const = 0;
  template <class T>
  static matrix<T> one(const matrix<T>& x, int row) {
    return x.part(row, 0, 1, x.columns());
  }
};

class first_token_stage final : public token_of_sequence_stage {
 public:
  bool sees_padding() const override { return false; }

 private:
  int row_of(const activation_store& store, int s) const override { return s * store.length_of(inputs[0]); }
};

/// The last token that counts: the last whose number in the mask, the second input, is not 0; without a mask
/// the last of all.
class last_token_stage final : public token_of_sequence_stage {
 public:
  int padding_mask() const override { return inputs.size() < 2 ? -1 : 1; }

 private:
  int row_of(const activation_store& store, int s) const override {
    const int length = store.length_of(inputs[0]);
    if (inputs.size() < 2 || !store.has(inputs[1])) return (s + 1) * length - 1;
    const std::span<const i32> seen = store.ids(inputs[1]);
    for (int t = (s + 1) * length; t-- > s * length;)
      if (seen[static_cast<std::size_t>(t)] != 0) return t;
    throw std::invalid_argument(
        fmt::format("wsl: {} takes the last token of each sequence that a mask leaves, and of one it leaves "
                    "none: leave that sequence out",
                    name));
  }
};

}  // namespace wsl::ml
