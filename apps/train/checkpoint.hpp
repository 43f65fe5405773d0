// SPDX-License-Identifier: MIT
// A run in its checkpoints: the trainer's arrays and position, the place in the data, the configuration and the vocabulary.
#pragma once
#include <wsl/ml/data/data_position.hpp>
#include <wsl/ml/file/checkpoint.hpp>
#include <wsl/ml/run.hpp>

namespace train_app {

/// What of a run is not in its trainer.
struct run_state {
  wsl::ml::data_position data = {};
  std::string params, vocabulary;
};

/// Writes all that the run needs to go on. Returns the file's name. Throws std::runtime_error if it cannot be written.
std::string save_checkpoint(const wsl::ml::checkpoints& to, wsl::ml::training_run& t, const run_state& s);
/// Sets the trainer to what the file holds. Throws wsl::ml::file_error that names a tensor which is missing, left over, or of another shape.
run_state load_checkpoint(const std::string& from, wsl::ml::training_run& t);
/// What a checkpoint says of its run; its arrays are not read.
run_state describe_checkpoint(const std::string& from);
/// The newest whole checkpoint of a folder, empty if there is none. Those that are not whole are named on stderr.
std::string newest_checkpoint(const std::string& folder);

}  // namespace train_app
