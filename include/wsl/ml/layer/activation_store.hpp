// SPDX-License-Identifier: MIT
// The activation store of a PE for one step. It holds the values of the PE's tokens, their gradients, and the
// numbers that stages save in the forward pass for the backward pass. In weight streaming nothing else stays
// on the wafer.
#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "../../linalg/matrix.hpp"
#include "../op/dropout.hpp"
#include "../op/norm.hpp"

namespace wsl::ml {

class activation_store {
 public:
  /// Makes room for `sequences` sequences of `length` tokens. Value v becomes (tokens, widths[v]); a value of
  /// ids has width 0 here, because the host keeps its numbers.
  void resize(const std::vector<int>& widths, std::size_t stages, int sequences, int length) {
    sequences_ = sequences, length_ = length;
    values_.resize(widths.size()), gradients_.resize(widths.size()), given_.assign(widths.size(), {});
    norms_.resize(stages), saved_.resize(stages);
    for (std::size_t v = 0; v < widths.size(); ++v)
      values_[v].shape(tokens(), widths[v]), gradients_[v].shape(tokens(), widths[v]);
  }
  int tokens() const { return sequences_ * length_; }
  int sequences() const { return sequences_; }
  int length() const { return length_; }
  /// The position of token t of this store in its sequence, and its number among all tokens of the batch.
  int position(int t) const { return t % length_; }
  i64 token_of_batch(int t) const { return random.first_sequence * length_ + t; }

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
  /// Begins a step: all gradients and losses are zero.
  void zero_grad() {
    for (buffer& g : gradients_) g.begun = false;
    loss = 0, losses.clear();
  }

  /// The numbers that norm `stage` keeps of each token: (tokens).
  std::span<norm_state> norms(int stage) {
    return sized(norms_[static_cast<std::size_t>(stage)], static_cast<std::size_t>(tokens()));
  }
  /// The numbers that a stage saves for its backward pass, `per_token` for each token; `stage` is its number.
  std::span<f32> saved(int stage, int per_token) {
    return sized(saved_[static_cast<std::size_t>(stage)], static_cast<std::size_t>(tokens() * per_token));
  }

  /// The whole numbers of value v, which is of ids: as many for each token as the value's shape says.
  std::span<const i32> ids(int v) const { return given_[static_cast<std::size_t>(v)].ids; }
  /// Whether the host has given value v for this pass. Targets are missing when only outputs are wanted.
  bool has(int v) const { return given_[static_cast<std::size_t>(v)].here; }
  /// Sets both; the numbers of a value that is not of ids are written to `value(v)`.
  void set_given(int v, bool here, std::span<const i32> ids = {}) {
    given_[static_cast<std::size_t>(v)] = {ids, here};
  }

  std::span<const f32> mask;      ///< (tokens): weight of each token in the losses; empty: all count 1
  f32 weight = 1;                 ///< 1 / (what counts in the loss over all PEs): gradients are of a mean
  std::vector<f64> loss_factors;  ///< of each loss of the model; empty: all are 1
  dropout_generator random;       ///< the generator of dropout
  /// Gradients of the features that the host gives are wanted, too, which training does without.
  bool gradients_of_inputs = false;

  f64 loss = 0;             ///< sum over this PE's tokens, not divided by their number
  std::vector<f64> losses;  ///< the same of each loss of the model, without its factor
  void add_loss(int which, f64 sum) {
    const std::size_t k = static_cast<std::size_t>(which);
    losses.resize(std::max(losses.size(), k + 1));
    losses[k] += sum, loss += loss_factor(which) * sum;
  }
  f64 loss_factor(int which) const {
    return loss_factors.empty() ? 1 : loss_factors[static_cast<std::size_t>(which)];
  }

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
  std::vector<std::vector<f32>> saved_;
  struct given {
    std::span<const i32> ids;
    bool here = false;
  };
  std::vector<given> given_;
};

}  // namespace wsl::ml
