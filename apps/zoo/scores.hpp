// SPDX-License-Identifier: MIT
// Scores that a reward model gives to texts of a file.
#pragma once
#include "options.hpp"

namespace zoo_app {

/// Prints an object in JSON for each text of --score, with its index and its score, and their mean on stderr.
/// The model is that of --hf, or of the run in model_dir. Throws std::invalid_argument or
/// wsl::ml::file_error.
void print_scores(train_app::fields& f, options& o);

}  // namespace zoo_app
