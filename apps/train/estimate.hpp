// SPDX-License-Identifier: MIT
// An estimate of the cost of a training step on a wafer, from layouts and schedules alone, without a run.
// Cycles are a lower bound: a PE does one multiply-add of f32 a cycle (`multiply32` of the machines) and
// takes one word a cycle from its router.
#pragma once
#include <string>
#include <wsl/ml/model/network.hpp>
#include <wsl/ml/train/settings.hpp>

#include "params.hpp"

namespace train_app {

struct estimate_of {
  int sequences, length;  ///< the size of a batch
  wsl::ml::optimizer rule;
  weights_as weights = weights_as::f32;  ///< the format of travelling weights
};

/// The placement of programs, the colors, the memory of a PE, and cycles, as text.
std::string estimate(const wsl::ml::network& model, const wsl::ml::streaming_settings& how,
                     const estimate_of& what);
std::string estimate(const wsl::ml::network& model, const wsl::ml::pipeline_settings& how,
                     const estimate_of& what);

/// Throws std::invalid_argument if this computer has no memory for training: for each parameter its weight,
/// its gradient and what the optimizer keeps, and for each token of a batch all activations with their
/// gradients.
void require_memory(const wsl::ml::network& model, const wsl::ml::optimizer& rule, int sequences, int length);

}  // namespace train_app
