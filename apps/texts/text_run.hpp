// SPDX-License-Identifier: MIT
// Parts of runs that wsl-bert and wsl-t5 have in common: models that are read and written, and those of a
// run.
#pragma once
#include <functional>
#include <machine.hpp>
#include <memory>
#include <session.hpp>
#include <wsl/ml/model/weights.hpp>

namespace text_app {

/// A machine with the weights of a run's last checkpoint, or of the one that was asked for. Throws
/// std::invalid_argument if there is none, or if it is of another model.
std::unique_ptr<train_app::machine> trained(const train_app::common_params& p, const train_app::task& t);

/// The checkpoint of a run, or that which was asked for. Throws std::invalid_argument if there is none.
std::string require_checkpoint(const train_app::common_params& p);

/// The weights of a machine, and its weights set.
wsl::ml::weights weights_of(wsl::ml::trainer_base& t);
void set_weights(wsl::ml::trainer_base& t, const wsl::ml::weights& w);

/// Sets the fields of the section `model` by a folder of Hugging Face: `set` does so. Throws
/// std::invalid_argument for an option that says otherwise.
void take_model(train_app::fields& f, const std::string& folder, const std::function<void()>& set);

}  // namespace text_app
