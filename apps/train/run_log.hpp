// SPDX-License-Identifier: MIT
// The files of a run that tools read while it trains: events for TensorBoard, and where the params ask for
// them lines of JSON as an offline run of Weights & Biases has them, and the activations of its steps.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <wsl/ml/model/preference.hpp>
#include <wsl/ml/run/event_file.hpp>
#include <wsl/ml/run/offline_run.hpp>
#include <wsl/ml/run/training_loop.hpp>

#include "machine.hpp"
#include "params.hpp"

namespace train_app {

struct evaluation;

/// Whether the loss is that of guessing tokens, and nothing else.
bool has_perplexity(const wsl::ml::network& n);
/// The names that the Model Zoo has for these metrics, and their values.
std::vector<std::pair<const char*, wsl::f64>> named(const wsl::ml::preference_metrics& m);

class run_log {
 public:
  /// In the folder of a run, whose params are its configuration. Throws support::file_error if files cannot
  /// be made.
  run_log(const common_params& p, const std::filesystem::path& folder, const std::string& params,
          bool and_eval);

  /// A log entry of training; `pairs` is null if losses compare none.
  void training(const wsl::ml::training_loop::progress& x, machine& t,
                const wsl::ml::preference_metrics* pairs);
  void evaluation_of(i64 step, const evaluation& e, const wsl::ml::network& n);
  /// Whether the activations of a step are to be written.
  bool keeps_activations(i64 step) const;
  /// Writes those of the step that comes after `steps` steps, for its batch.
  void activations(i64 steps, machine& t, const wsl::ml::batch& b) const;

 private:
  void scalar(wsl::ml::event_file& to, const char* part, const std::string& name, i64 step, wsl::f64 value);

  const common_params& params_;
  std::filesystem::path folder_;
  wsl::ml::event_file train_;
  std::unique_ptr<wsl::ml::event_file> eval_;
  std::unique_ptr<wsl::ml::offline_run> lines_;
};

}  // namespace train_app
