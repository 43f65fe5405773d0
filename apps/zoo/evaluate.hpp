// SPDX-License-Identifier: MIT
// Evaluates a model on a text, by its perplexity, and on questions with several answers, by the probabilities
// that it gives them, as lm-evaluation-harness (github.com/EleutherAI) counts them.
#pragma once
#include "options.hpp"

namespace zoo_app {

/// Prints the perplexity of --text, and the part of --choices that is answered rightly. Throws
/// std::invalid_argument or wsl::ml::file_error.
void evaluate(options& o);

}  // namespace zoo_app
