// SPDX-License-Identifier: MIT
// Compares a model of Hugging Face, in training on the wafer, with what transformers compute for it.
#pragma once
#include <params.hpp>

namespace zoo_app {

/// Compares with golden.safetensors of a folder, or expected.safetensors, and prints the worst of each kind.
/// The folder has a model, a base and an adapter of peft, or a policy and its reference (form_of). Returns
/// whether all is within its tolerance. Throws wsl::ml::file_error for a folder without a model that is
/// known, or nothing to compare with.
bool verify(const std::string& folder, const train_app::run_params& on);

}  // namespace zoo_app
