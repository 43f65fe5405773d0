// SPDX-License-Identifier: MIT
// What a trainer does with a model and its data, whichever they are: train, evaluate, say what a run would
// take. A run lives in its folder: checkpoints, loss.csv and loss.svg, performance.json, the params as they
// were, and events for TensorBoard in train/ and eval/. Killed at any moment and started again with the same
// command, it goes on from its last checkpoint to the same bits. Started by mpirun, its wafers are shared out
// to the processes; only the first prints and writes.
#pragma once
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/run/loss_curve.hpp>

#include "machine.hpp"
#include "params.hpp"

namespace train_app {

/// What a model is, in words: names of fields and their values, of all that its shapes do not tell.
using named_words = std::vector<std::pair<std::string, std::string>>;

/// What an application trains.
struct task {
  std::string program;  ///< its name
  std::function<wsl::ml::network()> model;
  std::string model_words, data_words;         ///< for people
  named_words architecture = {};               ///< kept with the model, and compared by whoever takes it
  wsl::ml::dataset train = {}, held_out = {};  ///< one that is not needed may be empty
  /// sets the weights that a fresh run begins with; none: by their seed
  std::function<void(wsl::ml::trainer_base&)> begin = {};
  /// of parameters: a name, and patterns of theirs
  std::vector<std::pair<std::string, std::vector<std::string>>> groups = {};
  /// kept with the model: what its tokens mean; empty for none
  std::string vocabulary = {};
};

struct evaluation {
  f64 loss = 0, accuracy = 0;  ///< of the held-out targets, the mean and how many are the argmax class
  i64 batches = 0, samples = 0;
};

class session {
 public:
  session(common_params p, std::string params_text, task t);

  /// Trains to the last step; with `and_eval` evaluates every eval_frequency steps and at the end.
  void train(bool and_eval);
  void eval();
  /// Says what would be trained, on what and for how long. Throws what `train` would throw before its first
  /// step.
  void validate();
  /// Says where everything would be on a wafer and what a step would take, without running it.
  void compile() const;

  /// What the program exits with: 0, or 128 and the signal that has stopped a run before its last step.
  int status() const { return status_; }

 private:
  void describe() const;
  void require_memory_and_batches() const;
  void require_fit(const std::string& checkpoint, bool trains) const;
  i64 steps_per_epoch() const;
  i64 last_step(i64 done) const;
  machine& wafer();
  wsl::ml::batches batches_of(const wsl::ml::dataset& data, const input_params& p, bool in_order);
  void require_same() const;
  wsl::ml::data_position load(const std::string& checkpoint);
  void check_weights(const std::string& checkpoint, bool trains) const;
  bool resume(wsl::ml::batches* data);
  evaluation evaluate();
  void save(const wsl::ml::batches& data);
  wsl::ml::loss_curve curve_until(wsl::i64 step) const;
  std::filesystem::path file(const std::string& name) const {
    return std::filesystem::path(params_.run.model_dir) / name;
  }

  common_params params_;
  std::string params_text_;
  task task_;
  std::unique_ptr<machine> wafer_;
  int status_ = 0;
};

/// Compares the model that a checkpoint is of with the one that is asked for. Throws std::invalid_argument
/// with all that differs, or with `override_it` only says it.
void require_same_model(const std::string& checkpoint, const named_words& ours, bool override_it);

/// The checkpoint to evaluate, or to sample from: the one that the command line names, the newest whole one
/// of the folder, or the one of the params; empty if there is none. Those that are not whole are named on
/// stderr.
std::string checkpoint_to_look_at(const run_params& r);
/// The same to train from: a run that began with a checkpoint from elsewhere goes on from its own.
std::string checkpoint_to_train_from(const run_params& r);

/// What a checkpoint says of itself under a name.
std::string fact_of(const std::string& checkpoint, const std::string& name);
/// Gives a machine all that a checkpoint has of a run.
void load(const std::string& checkpoint, machine& m);

/// The modes that every application has, and what they do.
std::vector<std::pair<std::string, std::string>> common_modes();
/// Does what one of them says. Returns whether it is one of them.
bool run_mode(const std::string& mode, session& s);

}  // namespace train_app
