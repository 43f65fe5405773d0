// SPDX-License-Identifier: MIT
// The log-probability that a language model gives a text: the sum, over the tokens that count, of the
// logarithm of the probability of the token that follows there. It is one number of a sequence as a whole,
// and what preferences are learned from (preference_loss.hpp).
//   logits  (tokens, vocabulary), targets (tokens)  ->  one number for each sequence
#pragma once
#include <vector>

#include "../op/rows.hpp"
#include "../op/softmax.hpp"
#include "stage.hpp"

namespace wsl::ml {

struct log_probability_settings {
  /// A value made by `ids`, the token that follows each token; -1: a new one named "labels". It is an input
  /// and no target: a batch that is predicted has it, too.
  int targets = -1;
  i32 ignore_index = -100;  ///< a target that says that its token does not count
  bool mean = false;        ///< the mean over the tokens that count, in place of the sum
};

/// Reads logits and the targets of their tokens. The sum is made in f64 and is 0 where no token counts.
class log_probability_stage final : public stage {
 public:
  log_probability_stage(int classes, const log_probability_settings& how) : classes_(classes), how_(how) {}

  bool needs_whole_sequences() const override { return true; }

  void forward(activation_store& store) const override {
    const matrix<const f32> logits = store.value(inputs[0]);
    const matrix<f32> y = store.value(output);
    std::vector<f32> room(static_cast<std::size_t>(classes_));
    for (int s = 0; s < y.rows(); ++s) {
      const texts of = of_sequence(store, s);
      f64 sum = 0;
      for (int t = 0; t < std::ssize(of.targets); ++t)
        if (const i32 target = of.targets[static_cast<std::size_t>(t)]; target != how_.ignore_index)
          sum += log_softmax_of_row(logits.row(of.first + t), classes_, target, room.data());
      y(s, 0) = static_cast<f32>(sum * of.share);
    }
  }
  void backward(activation_store& store) const override {
    if (!wants_gradient(store, 0)) return;
    const matrix<const f32> logits = store.value(inputs[0]), dy = store.gradient(output);
    bool overwrite = false;
    const matrix<f32> d = store.gradient(inputs[0], overwrite);
    std::vector<f32> apart(overwrite ? 0 : static_cast<std::size_t>(classes_));
    for (int s = 0; s < dy.rows(); ++s) {
      const texts of = of_sequence(store, s);
      // The gradient is that of a cross-entropy, with the other sign.
      const f32 weight = -dy(s, 0) * static_cast<f32>(of.share);
      for (int t = 0; t < std::ssize(of.targets); ++t) {
        f32* const to = d.row(of.first + t);
        f32* const row = overwrite ? to : apart.data();
        std::copy_n(logits.row(of.first + t), classes_, row);
        cross_entropy_of_row(row, classes_, of.targets[static_cast<std::size_t>(t)], 1, weight,
                             {.ignored = how_.ignore_index});
        if (!overwrite) add(matrix<f32>(to, 1, classes_), matrix<const f32>(row, 1, classes_));
      }
    }
  }
  f64 operations(int, int, int, int) const override { return 12. * classes_; }

 private:
  /// The targets of a sequence, the first of its tokens here, and what the sum over them is multiplied by.
  struct texts {
    std::span<const i32> targets;
    int first;
    f64 share;
  };
  texts of_sequence(const activation_store& store, int s) const {
    const int length = store.length_of(inputs[0]), first = s * length;
    const std::span<const i32> targets =
        store.ids(inputs[1]).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(length));
    if (!how_.mean) return {targets, first, 1};
    const auto counted = std::ssize(targets) - std::count(targets.begin(), targets.end(), how_.ignore_index);
    return {targets, first, counted ? 1 / static_cast<f64>(counted) : 0};
  }

  int classes_;
  log_probability_settings how_;
};

}  // namespace wsl::ml
