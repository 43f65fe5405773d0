// SPDX-License-Identifier: MIT
// What a step of training would take on a wafer, from layouts and lists alone: nothing runs. Cycles are a
// lower bound: a PE does one multiply-add of f32 a cycle (`multiply32` of the machines) and takes one word a
// cycle from its router.
#pragma once
#include <string>
#include <wsl/ml/model/network.hpp>
#include <wsl/ml/train/settings.hpp>

#include "params.hpp"

namespace train_app {

struct estimate_of {
  int sequences, length;  ///< of a batch
  wsl::ml::optimizer rule;
  weights_as weights = weights_as::f32;  ///< on their way
};

/// Where the programs are, the colors, the memory of a PE, and cycles.
std::string estimate(const wsl::ml::network& model, const wsl::ml::streaming_settings& how,
                     const estimate_of& what);
std::string estimate(const wsl::ml::network& model, const wsl::ml::pipeline_settings& how,
                     const estimate_of& what);

/// Throws std::invalid_argument if this computer has no memory for training: for each parameter's weight,
/// gradient and what Adam keeps, and for each token of a batch all activations with their gradients.
void require_memory(const wsl::ml::network& model, int sequences, int length);

}  // namespace train_app
