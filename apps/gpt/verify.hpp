// SPDX-License-Identifier: MIT
// Checks training against a model in the files of llm.c: logits, loss and gradients of one step, and the
// weights after ten.
#pragma once
#include <string>
#include <wsl/core/scalar.hpp>

namespace gpt_app {

struct verification {
  std::string model, state, after;  ///< files; no `after` checks one step only
  wsl::f64 learning_rate = 1e-4, weight_decay = 0.01, tolerance = 1e-5;
  int num_csx = 1, workers = 2, columns = 0, strips = 0;  ///< strips of a pipeline; 0: weight streaming
};

/// Prints a line for each tensor: the norm of its error, relative to the norm of the tensor. Returns whether
/// all are within the tolerance. Throws wsl::ml::file_error.
bool verify(const verification& v);

}  // namespace gpt_app
