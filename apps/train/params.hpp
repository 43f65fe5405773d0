// SPDX-License-Identifier: MIT
// The sections that every trainer has: train_input, eval_input, optimizer, runconfig, and the precision of
// the section `model`. Names and meanings are those of the Cerebras Model Zoo's V1 form; the help text of a
// field tells if it is new here.
#pragma once
#include <filesystem>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/optim/schedule.hpp>
#include <wsl/ml/train/settings.hpp>

#include "fields.hpp"
#include "sparsity.hpp"

namespace train_app {

struct input_params {
  std::string data_dir = {};
  int batch_size = 0;
  size_or_auto micro_batch_size = {};
  bool shuffle = true;
  i64 shuffle_seed = 1;
  bool drop_last = true;
};

using wsl::ml::precision;

struct precision_params {
  bool mixed = false, bfloat16 = false;
  std::string half = "float16";

  wsl::ml::precision format() const;
};

/// Numbers below 0 and empty lists stand for the optimizer's own values.
struct optimizer_params {
  std::string type = "adamw", decays = "not_bias_or_norm";
  rate_parts learning_rate{rate_part{.learning_rate = 1e-3}};
  f64 momentum = 0, weight_decay = 0, max_gradient_norm = 0, max_gradient_value = 0;
  one_or_more eps;
  std::vector<f64> betas, etas, step_sizes;
  f64 dampening = 0, beta2 = -1, momentum_decay = -1, alpha = -1, lr_decay = 0, initial_accumulator_value = 0,
      rho = -1, lambd = -1, t0 = -1, clip_threshold = -1, decay_rate = 1, beta1 = 0;
  bool nesterov = false, amsgrad = false, centered = false;
  bool scale_parameter = true, relative_step = false, warmup_init = false;
  numbers_by_name adjust_learning_rate;
  group_parts groups;
  f64 ema_decay = 0;
  i64 ema_start = 0;
  bool log_summaries = false;
  word_list frozen;  ///< patterns of parameters that stay as they are, or names of groups
  /// "dynamic" or a number; empty: that of the precision
  std::string loss_scaling_factor = {};
  f64 initial_loss_scale = -1, min_loss_scale = -1, max_loss_scale = -1;
  i64 steps_per_increase = -1;

  /// The factor of the loss, which without mixed precision is 1. Throws std::invalid_argument for a factor
  /// that is neither a positive number nor "dynamic", and for a scale that makes no sense.
  wsl::ml::loss_scaling_factor loss_scaling(precision p) const;
  /// Throws std::invalid_argument for an option that the optimizer does not have.
  wsl::ml::optimizer rule() const;
  /// Throws std::invalid_argument for a part without the steps that it needs.
  wsl::ml::rate::schedule rate() const;
};

/// Where a run computes, as its params and this computer say: on another computer it may be another place, so
/// it is no field of the params that a run saves.
struct placement {
  int workers = 0,
      columns = 0;   ///< those of a grid that was given, or the workers that were; 0: chosen later
  int replicas = 1;  ///< of a pipeline
  int cores = 0;
  f64 memory = 0;  ///< bytes that training may take
};

struct run_params {
  std::string mode, model_dir = "./model_dir", checkpoint_path, execution_strategy = "weight_streaming";
  i64 max_steps = 0, num_steps = 0, num_epochs = 0, steps_per_epoch = 0;
  i64 log_steps = 50, checkpoint_steps = 0, eval_steps = 0, eval_frequency = 0;
  i64 seed = 1;
  f64 peak_gflops = 0;
  i64 early_stopping_patience = 0;    ///< evaluations without a lower loss that end a run; 0: none do
  bool keep_best_checkpoint = false;  ///< that of the lowest held-out loss
  bool save_initial_checkpoint = false, autoload_last_checkpoint = true, override_model = false;
  /// all: a checkpoint's run goes on; model: a new run begins with its weights
  std::string load_checkpoint_states = "all";
  bool checkpoint_asked = false;  ///< checkpoint_path was given on the command line, not in a params file
  std::string grid;               ///< rows x columns of workers; empty: chosen
  std::string memory_folder;      ///< of the memory's files; empty: main memory
  bool recompute = false;         ///< activations in the backward pass
  f64 memory_gi = 0;              ///< GiB that training may take; 0: those of this computer
  std::string report = "blocks";  ///< the rows of the last step's table: blocks or layers
  std::string predict_threads;    ///< for which numbers of threads a step is predicted: "4,16,64"
  int max_checkpoints = 0, num_csx = 1, workers = 0, strips = 4, threads = 0;
  bool multireplica = false;
  int replicas = 0;                         ///< of a pipeline; 0: chosen
  i64 profile_from = 0, profile_until = 0;  ///< steps of op_profiler; 0: none
  std::string roles;                        ///< of the processes, one for each; empty: each has wafers
  placement on;                             ///< set by `complete`

  /// The numbers of predict_threads. Throws std::invalid_argument if it is no list of such.
  std::vector<int> threads_to_predict() const;
};

/// What a run reports beside its lines and events.
struct reporting_params {
  bool log_histograms = false;
  int log_images = 0;
  // The section wandb; no project: no lines of JSON.
  std::string project, group, run_name, job_type, run_id;
  std::vector<std::string> tags;
  // The section dump_activations.
  std::vector<std::string> activation_outputs;  ///< patterns of layers' names; none: all
  i64 activation_steps = 0;                     ///< those of every so many steps; 0: of none
};

struct common_params {
  input_params train_input, eval_input{.drop_last = false};
  precision_params precision;
  optimizer_params optimizer;
  sparsity_params sparsity;
  run_params run;
  reporting_params reports = {};
};

void declare_input(fields& f, input_params& p, bool trains);
/// Fields of the section `model`.
void declare_precision(fields& f, precision_params& p);
void declare_optimizer(fields& f, optimizer_params& p);
void declare_run(fields& f, run_params& p, reporting_params& reports);
/// Declares the fields that only the command line has, and comments on fields of several sections. Call it
/// after all other declarations.
void declare_checkpoint_options(fields& f, common_params& p);
/// What gives the fields that `take_defaults_of_zoo` sets.
inline constexpr const char* default_of_zoo = "the Model Zoo's default";
/// Sets the fields that a params file of a user does not give, and whose default in the Zoo is another than
/// this program's. The configurations of a program and the params of a run have those of this program.
void take_defaults_of_zoo(fields& f);
/// Throws std::invalid_argument for a user's file with an optimizer and no learning rate.
void require_rate(const fields& f);
/// What a user's params say of a field by not giving it: "model.norm_type is not given, and is rmsnorm, by
/// model.name llama ...". The value is that of models of its name, or the Zoo's default. Empty for one that is
/// given, and for fields that the Zoo does not have.
std::string note_of_default(const field& x, fields& f);
/// Sets the fields of that name that nothing has given.
void set_default_of_zoo(fields& f, const std::string& name, const std::string& value);
/// The first weights of the Zoo's models of which a params file says nothing but a deviation: a normal
/// distribution cut at twice that, as a field's value.
std::string cut_normal_of_zoo(f64 deviation);
/// How weights start that a file describes so; none if it does not.
std::optional<wsl::ml::initial> start_of(const normal_part& p);
/// Gives the fields that this would set their value in this program, so that a file of all fields means the
/// same.
void say_own_defaults(fields& f);
/// Sets the fields that were not given and depend on other fields, and the placement, which depends on the
/// computers' cores and memory as well. Throws std::invalid_argument for a grid or replicas that other fields
/// contradict.
void complete(common_params& p, int cores, f64 memory);
/// Checks conditions on several fields. Throws std::invalid_argument.
void check(const common_params& p);
/// Throws std::invalid_argument for an optimizer that muP is not made for.
void require_rule_for_mup(const optimizer_params& p);
/// The part of this check that concerns the placement of layers and batches.
void check_strategy(const run_params& r);

}  // namespace train_app
