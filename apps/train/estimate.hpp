// SPDX-License-Identifier: MIT
// What a step of training would take on a wafer, from the layout and the itinerary alone: nothing runs.
#pragma once
#include <string>
#include <wsl/ml/trainer.hpp>

namespace train_app {

/// Where the programs are, the colors, the memory of a PE, and cycles: a lower bound, in which a worker does one multiply-add of f32 a cycle
/// (the `multiply32` of the machines) and takes one word a cycle from its router, whichever is longer in each slab.
std::string estimate(const wsl::ml::network& model, const wsl::ml::training& how, const wsl::ml::optimizer& rule, int sequences, int length);

}  // namespace train_app
