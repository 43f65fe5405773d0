// SPDX-License-Identifier: MIT
// The loss of a model that marks a part of a text, such as the answer to a question (SQuAD,
// arXiv:1606.05250): each token has a score for being the first of the part and one for being the last, and
// the loss is the mean of the cross-entropies of both over the tokens of the sequence.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "../op/softmax.hpp"
#include "loss.hpp"

namespace wsl::ml {

/// Reads scores, (tokens, 2), and the numbers of the first and the last token of the part in its sequence,
/// one each for every sequence. It is a mean over sequences.
class span_loss final : public loss_stage {
 public:
  f64 loss(activation_store& store, f32 weight) const override {
    const matrix<f32> scores = store.value(inputs[0]), d = store.gradient(inputs[0]);
    const int length = store.length();
    std::vector<f32> of_sequence(static_cast<std::size_t>(length));
    f64 sum = 0;
    for (int s = 0; s * length < scores.rows(); ++s)
      for (int end = 0; end < 2; ++end) {
        for (int t = 0; t < length; ++t)
          of_sequence[static_cast<std::size_t>(t)] = scores(s * length + t, end);
        const i32 right = store.ids(inputs[static_cast<std::size_t>(1 + end)])[static_cast<std::size_t>(s)];
        if (right >= length)
          throw std::invalid_argument(fmt::format(
              "wsl: the part of a sequence {} with token {}, and there are {}: leave out parts that "
              "lie beyond the sequence, or let it be longer",
              end ? "ends" : "begins", right, length));
        sum += cross_entropy_of_row(of_sequence.data(), length, right, 0.5f, weight);
        for (int t = 0; t < length; ++t) d(s * length + t, end) += of_sequence[static_cast<std::size_t>(t)];
      }
    return sum;
  }
  bool needs_whole_sequences() const override { return true; }
  bool is_masked() const override { return false; }
  bool is_of_sequences() const override { return true; }
};

}  // namespace wsl::ml
