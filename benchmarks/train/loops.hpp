// SPDX-License-Identifier: MIT
// Training as books write it: nested loops over plain arrays, shared out to threads by OpenMP, no fabric, no
// library, and nothing of this project. Parameters come in the order in which the models of wsl have them, so
// that both begin with the same numbers.
#pragma once
#include <memory>
#include <vector>

namespace loops {

using numbers = std::vector<float>;

class trainer {
 public:
  virtual ~trainer() = default;
  /// A step of Adam (betas 0.9 and 0.999, epsilon 1e-8) on the batch that the trainer was made with; returns
  /// the mean loss before it.
  virtual double step(float rate) = 0;
};

/// Linear layers of these widths with relu between them, and cross-entropy: each has a bias, then a weight
/// (outputs, inputs).
std::unique_ptr<trainer> perceptron(std::vector<numbers> parameters, std::vector<int> widths,
                                    numbers features, std::vector<int> targets);

/// GPT-2 with a tied head; gelu by erf or tanh.
struct decoder_shape {
  int vocabulary, layers, heads, width;
  bool bias, tanh;
  int sequences, length;
};
std::unique_ptr<trainer> decoder(std::vector<numbers> parameters, const decoder_shape& shape,
                                 std::vector<int> ids, std::vector<int> targets);

}  // namespace loops
