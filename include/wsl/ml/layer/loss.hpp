// SPDX-License-Identifier: MIT
// Losses are stages that write no value: they add a number to the store's loss and set gradients, from which
// the backward pass starts. Training makes the sum of all losses of a model small; each is a mean over the
// tokens that count, or their sum over the sequences, times its factor. A loss of one's own derives from
// loss_stage, see docs/guide/layers.md.
#pragma once
#include <optional>

#include "../op/loss.hpp"
#include "../op/rows.hpp"
#include "../op/softmax.hpp"
#include "stage.hpp"

namespace wsl::ml {

/// A loss. It runs only in passes whose batch has its targets.
class loss_stage : public stage {
 public:
  /// Returns the loss of the store's tokens, a sum in which `mask_of` weighs each token, and adds `weight`
  /// times its gradient to the gradients of the inputs that are computed.
  virtual f64 loss(activation_store&, f32 weight) const = 0;

  /// The part of a token in the number by which the sum of the loss is divided. `targets` are the whole
  /// numbers of the token's targets, if they are classes, and `width` the features of the first input. By
  /// default each feature counts, as in PyTorch's losses with the reduction "mean".
  virtual f64 counts(std::span<const i32> /*targets*/, int width) const { return width; }
  /// Whether tokens are weighed by the batch's mask, or all of them count 1.
  virtual bool is_masked() const { return true; }
  /// Whether the loss is a mean over sequences and not over tokens: each counts 1.
  virtual bool is_of_sequences() const { return false; }
  /// How many sequences that follow each other belong together, such as 2 of a pair: a batch has whole groups
  /// of them, and so has each micro-batch.
  virtual int sequences_together() const { return 1; }

  /// How many sums over all tokens of the batch the loss depends on, as on the number of tokens that go to an
  /// expert. They are counted in a forward pass of their own; `loss` takes them for constants, which it finds
  /// in `statistics_of`.
  virtual int statistics() const { return 0; }
  /// Adds the part of the store's tokens to the sums.
  virtual void count(activation_store&, std::span<f64> /*sums*/) const {}

  void forward(activation_store& store) const final {
    for (int v : targets)
      if (!store.has(v)) return;
    if (statistics() > 0 && store.statistics.empty()) {
      const std::size_t first = static_cast<std::size_t>(first_statistic),
                        n = static_cast<std::size_t>(statistics());
      store.counted.resize(std::max(store.counted.size(), first + n));
      return count(store, std::span(store.counted).subspan(first, n));
    }
    store.add_loss(which, loss(store, store.weight * static_cast<f32>(store.loss_factor(which))));
  }

  /// The weight of token t.
  f32 mask_of(activation_store& store, int t) const {
    if (!is_masked()) return 1;
    if (mask >= 0) return *store.value(mask).row(t);
    return store.mask.empty() ? 1 : store.mask[static_cast<std::size_t>(t)];
  }

  /// The sums over all tokens of the batch.
  std::span<const f64> statistics_of(const activation_store& store) const {
    return std::span(store.statistics)
        .subspan(static_cast<std::size_t>(first_statistic), static_cast<std::size_t>(statistics()));
  }

  // The network sets these when it takes the loss.
  int which = 0;              ///< index among the losses of the model
  int first_statistic = 0;    ///< index of its first sum among those of all losses
  f32 factor = 1;             ///< of this loss in their sum
  bool by_sequences = false;  ///< in that sum it is divided by the sequences and not by what counts
  int mask = -1;              ///< the value that weighs its tokens; -1: the batch's mask
  std::vector<int> targets;   ///< the values that only losses read
};

/// The settings of cross-entropy. Labels are smoothed, and classes ignored, as by torch.nn.CrossEntropyLoss;
/// the z-loss adds z_loss times the square of the logarithm of the sum of exponentials (PaLM,
/// arXiv:2204.02311).
struct cross_entropy_settings {
  f32 label_smoothing = 0, z_loss = 0;
  bool smooths_evaluation = true;  ///< false: labels are smoothed in training only, as by the Model Zoo's T5
  /// A target that says that its token does not count.
  std::optional<i32> ignore_index = {};
  int targets = -1;  ///< a value made by `classes`; -1: a new one named "targets"
  int mask = -1;     ///< a value made by `target`, one number for each token; -1: the batch's mask
  f32 factor = 1;    ///< of this loss in the sum of all losses
  /// In that sum the losses of the tokens are divided by the sequences of the batch, and not by the tokens
  /// that count, as by the Model Zoo's loss_scaling batch_size.
  bool by_sequences = false;
};
/// The settings of the other losses.
struct loss_settings {
  int targets = -1;  ///< a value made by `target`, or any other; -1: a new one named "targets"
  int mask = -1;
  f32 factor = 1;
};

/// The cross-entropy of logits and classes. The last axis of the logits are the classes, and a token has a
/// target for each of the positions of the other axes.
class cross_entropy_stage final : public loss_stage {
 public:
  cross_entropy_stage(int classes, const cross_entropy_settings& how) : classes_(classes), how_(how) {
    by_sequences = how.by_sequences;
  }

  f64 loss(activation_store& store, f32 weight) const override {
    const matrix<f32> logits = store.value(inputs[0]);
    const std::span<const i32> right = store.ids(inputs[1]);
    const int positions = logits.columns() / classes_;
    bool overwrite = false;
    const matrix<f32> d = store.gradient(inputs[0], overwrite);
    const bool smooths = how_.smooths_evaluation || store.is_training();
    const cross_entropy_rule rule{smooths ? how_.label_smoothing : 0, how_.z_loss, how_.ignore_index};
    std::vector<f32> apart(overwrite ? 0 : static_cast<std::size_t>(classes_));
    f64 sum = 0;
    for (int t = 0; t < logits.rows(); ++t)
      for (int k = 0; k < positions; ++k) {
        f32* const to = d.row(t) + k * classes_;
        f32* const row = overwrite ? to : apart.data();
        const i32 target = right[static_cast<std::size_t>(t * positions + k)];
        if (target != how_.ignore_index) detail::require_class(t, target, classes_);
        std::copy_n(logits.row(t) + k * classes_, classes_, row);
        sum += cross_entropy_of_row(row, classes_, target, mask_of(store, t), weight, rule);
        if (!overwrite) add(matrix<f32>(to, 1, classes_), matrix<const f32>(row, 1, classes_));
      }
    return sum;
  }
  f64 counts(std::span<const i32> classes, int) const override {
    return static_cast<f64>(
        std::count_if(classes.begin(), classes.end(), [&](i32 c) { return how_.ignore_index != c; }));
  }

 private:
  int classes_;
  cross_entropy_settings how_;
};

/// A loss that is a function of each number and its target; `Rule` is one of op/loss.hpp.
template <class Rule>
class elementwise_loss final : public loss_stage {
 public:
  /// The targets are numbers, or `classes`, which are numbers as well.
  explicit elementwise_loss(bool classes = false) : of_classes_(classes) {}

  f64 loss(activation_store& store, f32 weight) const override {
    const matrix<f32> x = store.value(inputs[0]), dx = store.gradient(inputs[0]);
    std::vector<f32> classes;
    if (of_classes_) classes.assign(store.ids(inputs[1]).begin(), store.ids(inputs[1]).end());
    const matrix<f32> y =
        of_classes_ ? matrix<f32>(classes.data(), x.rows(), x.columns()) : store.value(inputs[1]);
    const bool both = !is_given(1);
    f64 sum = 0;
    for (int t = 0; t < x.rows(); ++t) {
      const f32 of_loss = mask_of(store, t);
      sum += static_cast<f64>(of_loss) *
             elementwise_loss_of_row<Rule>(dx.row(t), both ? store.gradient(inputs[1]).row(t) : nullptr,
                                           x.row(t), y.row(t), x.columns(), of_loss * weight);
    }
    return sum;
  }

 private:
  bool of_classes_;
};

}  // namespace wsl::ml
