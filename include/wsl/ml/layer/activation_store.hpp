// SPDX-License-Identifier: MIT
// The activation store of a PE for one step. It holds the values of the PE's tokens, their gradients, and the
// numbers that stages save in the forward pass for the backward pass. In weight streaming nothing else stays
// on the wafer.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "../../linalg/matrix.hpp"
#include "../op/dropout.hpp"
#include "../op/norm.hpp"

namespace wsl::ml {

class activation_store {
 public:
  /// Makes room for `sequences` sequences of `length` tokens. Value v becomes (tokens, widths[v]).
  void resize(const std::vector<int>& widths, std::size_t stages, int sequences, int length) {
    sequences_ = sequences, length_ = length;
    values_.resize(widths.size()), gradients_.resize(widths.size());
    norms_.resize(stages), log_sum_exp_.resize(stages);
    for (std::size_t v = 0; v < widths.size(); ++v)
      values_[v].shape(tokens(), widths[v]), gradients_[v].shape(tokens(), widths[v]);
  }
  int tokens() const { return sequences_ * length_; }
  int sequences() const { return sequences_; }
  int length() const { return length_; }

  matrix<f32> value(int v) { return values_[static_cast<std::size_t>(v)].all(); }
  /// The gradient of value v, to read and to add to. It is zero when a step begins.
  matrix<f32> gradient(int v) {
    buffer& g = gradients_[static_cast<std::size_t>(v)];
    if (!std::exchange(g.begun, true)) std::fill(g.numbers.begin(), g.numbers.end(), 0.f);
    return g.all();
  }
  /// The gradient of value v for a stage that writes all of it. If nothing has been added to it in this step,
  /// `overwrite` becomes true and the numbers are undefined: the stage sets them. Otherwise it adds.
  matrix<f32> gradient(int v, bool& overwrite) {
    buffer& g = gradients_[static_cast<std::size_t>(v)];
    overwrite = !std::exchange(g.begun, true);
    return g.all();
  }
  void zero_grad() {
    for (buffer& g : gradients_) g.begun = false;
  }

  /// The numbers that norm `stage` keeps of each token: (tokens).
  std::span<norm_state> norms(int stage) {
    return sized(norms_[static_cast<std::size_t>(stage)], static_cast<std::size_t>(tokens()));
  }
  /// The logarithm of each token's sum of exponentials in attention `stage`: (tokens, heads).
  std::span<f32> log_sum_exp(int stage, int heads) {
    return sized(log_sum_exp_[static_cast<std::size_t>(stage)], static_cast<std::size_t>(tokens() * heads));
  }

  std::span<const i32> ids;      ///< (tokens): numbers in the vocabulary; empty if the input is features
  std::span<const i32> targets;  ///< (tokens): the right class of each token
  std::span<const f32> mask;     ///< (tokens): weight of each token in the loss; empty: all count 1
  f32 weight = 1;                ///< 1 / (sum of the mask over all PEs), so that gradients are of a mean
  dropout_generator random;      ///< the generator of dropout
  f64 loss = 0;                  ///< sum over this PE's tokens, not divided by their number

 private:
  struct buffer {
    std::vector<f32> numbers;
    int rows = 0, columns = 0;
    bool begun = false;  // a stage has written to it in this step
    void shape(int r, int c) {
      rows = r, columns = c, numbers.resize(static_cast<std::size_t>(r) * static_cast<std::size_t>(c));
    }
    matrix<f32> all() { return {numbers.data(), rows, columns}; }
  };
  template <class T>
  static std::span<T> sized(std::vector<T>& x, std::size_t n) {
    x.resize(n);
    return x;
  }

  int sequences_ = 0, length_ = 0;
  std::vector<buffer> values_, gradients_;
  std::vector<std::vector<norm_state>> norms_;
  std::vector<std::vector<f32>> log_sum_exp_;
};

}  // namespace wsl::ml
