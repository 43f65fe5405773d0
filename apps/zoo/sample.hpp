// SPDX-License-Identifier: MIT
// Text that a model writes: one of Hugging Face, or one that has been trained here.
#pragma once
#include "options.hpp"

namespace zoo_app {

/// Prints the prompt and what the model of --hf, or of the run in model_dir, writes after it. Throws
/// std::invalid_argument or wsl::ml::file_error.
void sample(options& o);

}  // namespace zoo_app
