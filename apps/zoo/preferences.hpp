// SPDX-License-Identifier: MIT
// The models that a run with preferences reads beside its data: the reference with which it is compared, and
// the one with which a reward model begins.
#pragma once
#include "options.hpp"

namespace zoo_app {

/// Sets the reference of a task. Throws std::invalid_argument if there is none, or if it is another model
/// than the one that learns, and wsl::ml::file_error if it cannot be read.
void set_reference(train_app::task& t, const options& o);
/// Begins a run of a reward model with the folder of --hf: a decoder, whose score is drawn from the seed, or
/// a reward model.
void begin_with_score(train_app::task& t, const options& o);

}  // namespace zoo_app
