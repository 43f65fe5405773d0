// SPDX-License-Identifier: MIT
// The operation count of a training step, from the model alone; a multiply-add counts as two operations.
// Divided by the time of a step and by the peak of the computer they give the utilization; the trainers'
// command `compile` estimates cycles of a wafer from them.
#pragma once
#include "network.hpp"

namespace wsl::ml {

/// The operations of a stage for each token of sequences of `length`, with those of its parameters. share(p)
/// is the part of a parameter's that are made, such as the density of sparse weights.
template <class Share>
f64 operations_per_token(const network& n, const stage& s, int length, Share share) {
  f64 sum = s.operations(-1, 0, n.width(s.output), length);
  for (std::size_t which = 0; which < s.parameters.size(); ++which) {
    const parameter& p = n.parameters()[static_cast<std::size_t>(s.parameters[which])];
    sum += share(p) * s.operations(static_cast<int>(which), p.rows, p.columns, length);
  }
  return n.tokens_for_each(s.output) * sum;
}

/// The operations for each token of sequences of `length`, forward and backward, as the stages count them: 6
/// for each weight of a linear layer (4 where its input has no gradient), 2 for each bias, 7 for each feature
/// of causal attention and token of the sequence (half of what attention to all tokens takes, and the forward
/// pass once more in the backward pass), and about 10 for each feature of other functions. The optimizer is
/// not counted.
template <class Share>
f64 operations_per_token(const network& n, int length, Share share) {
  f64 sum = 0;
  for (const auto& s : n.stages()) sum += operations_per_token(n, *s, length, share);
  return sum;
}
inline f64 operations_per_token(const network& n, int length) {
  return operations_per_token(n, length, [](const parameter&) { return 1; });
}

}  // namespace wsl::ml
