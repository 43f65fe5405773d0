// SPDX-License-Identifier: MIT
// The modes of wsl-zoo that train several models and compare them: coord_check, sweep and scaling. See
// docs/guide/mup.md and docs/guide/scaling_laws.md.
#pragma once
#include "trials.hpp"

namespace zoo_app {

/// Trains the model at several widths for a few steps, with muP and without, and prints how the sizes of its
/// activations depend on the width. Writes coord_check.csv and coord_check.svg into the folder of the run.
/// Returns 0 if they are stable with muP, otherwise 1.
int check_coordinates(train_app::fields& f, options& o);

/// Trains the model for each combination of learning rates, seeds and widths, and prints a table of held-out
/// losses, which sweep.csv and sweep.svg have as well. `command` begins the command that goes on, for
/// messages.
int sweep(train_app::fields& f, options& o, const std::string& command);

/// Trains a ladder of models, fits a power law to their losses, and says how well it predicts the largest
/// from the others. Writes scaling.csv and scaling.svg.
int fit_scaling_law(train_app::fields& f, options& o, const std::string& command);

}  // namespace zoo_app
