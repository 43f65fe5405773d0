// SPDX-License-Identifier: MIT
#include "params.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <wsl/ml/train/streaming/wires.hpp>

#include "ranks.hpp"

namespace train_app {
namespace {

namespace rate = wsl::ml::rate;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

i64 needed(const rate_part& p, i64 steps, const char* name) {
  if (steps < 1)
    refuse("optimizer.learning_rate: a " + p.scheduler + " scheduler needs " + name + ", a number of steps");
  return steps;
}
i64 steps_of(const rate_part& p) { return needed(p, p.total_iters, "total_iters"); }

rate::schedule cycle_of(const rate_part& p) {
  using kind = rate::cycle_heights::kind;
  const kind how = p.mode == "triangular2" ? kind::halved
                   : p.mode == "exp_range" ? kind::shrinking
                                           : kind::even;
  return rate::cyclic(p.base_lr, p.max_lr, p.step_size_up,
                      p.step_size_down ? p.step_size_down : p.step_size_up, {how, p.gamma});
}

rate::schedule schedule_of(const rate_part& p) {
  const f64 first = p.initial_learning_rate, last = p.end_learning_rate;
  if (p.scheduler == "Constant") return rate::constant(p.learning_rate);
  if (p.scheduler == "Linear") return rate::linear(first, last, steps_of(p));
  if (p.scheduler == "Polynomial") return rate::polynomial(first, last, steps_of(p), p.power);
  if (p.scheduler == "Exponential")
    return rate::exponential_decay(first, p.decay_rate, steps_of(p), p.staircase);
  if (p.scheduler == "InverseSquareRootDecay")
    return rate::inverse_square_root(first > 0 ? first : 1, p.scale, std::max<i64>(p.warmup_steps, 1));
  if (p.scheduler == "InverseExponentialTimeDecay")
    return rate::inverse_time(first, p.decay_rate, steps_of(p), p.step_exponent, p.staircase);
  if (p.scheduler == "MultiStep") return rate::multi_step(first, p.gamma, p.milestones);
  if (p.scheduler == "Step")
    return rate::exponential_decay(first, p.gamma, needed(p, p.step_size, "step_size"), true);
  if (p.scheduler == "Multiplicative") return rate::exponential_decay(first, p.coefficient, 1);
  if (p.scheduler == "PiecewiseConstant") return rate::piecewise_constant(p.learning_rates, p.milestones);
  if (p.scheduler == "CosineAnnealing")
    return rate::cosine_annealing(first, p.eta_min, needed(p, p.t_max, "T_max"));
  if (p.scheduler == "CosineAnnealingWarmRestarts")
    return rate::warm_restarts(first, p.eta_min, needed(p, p.t_0, "T_0"));
  if (p.scheduler == "Cyclic") return cycle_of(p);
  if (p.scheduler == "OneCycle")
    return rate::one_cycle(first, p.max_lr, p.total_steps,
                           {.rise = p.pct_start,
                            .last_divisor = p.final_div_factor,
                            .three_phases = p.three_phase,
                            .straight = p.anneal_strategy == "linear"});
  return rate::cosine(first, last, steps_of(p));
}

}  // namespace

std::string word_of(weights_as as) { return as == weights_as::bf16 ? "bf16" : "f32"; }

std::string precision_params::remark() const {
  if (weights() == weights_as::bf16) return "";
  if (mixed)
    return "model.mixed_precision has no effect with fp16_type " + half +
           ": weights travel as f32; with bfloat16 they take half the bytes";
  if (bfloat16 || half == "bfloat16")
    return "model.fp16_type bfloat16 has no effect without mixed_precision true";
  return "";
}

wsl::ml::optimizer optimizer_params::rule() const {
  using wsl::f32;
  const auto single = [](f64 x) { return static_cast<f32>(x); };
  wsl::ml::optimizer o;
  if (betas.size() != 2) refuse("optimizer.betas are two numbers, not " + std::to_string(betas.size()));
  if (type == "sgd" || type == "SGD") o = wsl::ml::optimizer::sgd(single(momentum), single(weight_decay));
  else if (type == "adam" || type == "Adam")
    o = wsl::ml::optimizer::adam(single(betas[0]), single(betas[1]), single(eps), single(weight_decay));
  else o = wsl::ml::optimizer::adamw(single(betas[0]), single(betas[1]), single(eps), single(weight_decay));
  o.which = decays == "all"        ? wsl::ml::decays::all
            : decays == "matrices" ? wsl::ml::decays::matrices
                                   : wsl::ml::decays::not_bias_or_norm;
  return o;
}

rate::schedule optimizer_params::rate() const {
  std::vector<rate::phase> phases;
  for (std::size_t k = 0; k < learning_rate.size(); ++k) {
    const rate_part& p = learning_rate[k];
    const bool is_last = k + 1 == learning_rate.size();
    phases.push_back({is_last ? 0 : steps_of(p), schedule_of(p)});
  }
  return rate::sequence(std::move(phases));
}

void declare_input(fields& f, input_params& p, bool trains) {
  f.add("data_dir", p.data_dir, "where the data is");
  f.add("batch_size", p.batch_size, "samples of a step, on all systems together").at_least(1);
  f.add("micro_batch_size", p.micro_batch_size,
        "samples that pass through a pipeline together; null: as fits")
      .at_least(1);
  f.add("shuffle", p.shuffle, "draw the samples of an epoch in another order each time");
  f.add("shuffle_seed", p.shuffle_seed, "of that order").at_least(0);
  f.add("drop_last", p.drop_last, "leave out the samples that do not fill a batch")
      .once_called("drop_last_batch");
  f.no_effect("a word", {"data_processor"});
  f.no_effect("a number", {"num_workers", "prefetch_factor", "shuffle_buffer"});
  f.no_effect("true or false", {"persistent_workers", "to_float16", "use_worker_cache"});
  if (trains) f.honours("repeat", {"true"});
  else f.no_effect("true or false", {"repeat"});
}

void declare_precision(fields& f, precision_params& p) {
  f.add("mixed_precision", p.mixed,
        "with fp16_type bfloat16 weights travel to the wafer in half the bytes; what is computed is f32 in "
        "any case");
  f.add("fp16_type", p.half,
        "of mixed_precision; weights are bfloat16 or f32, so with the others they stay f32")
      .one_of({"float16", "bfloat16", "cbfloat16"});
  f.add("use_bfloat16", p.bfloat16, "as fp16_type bfloat16, in older files");
  f.remark([&p] { return p.remark(); });
}

void declare_optimizer(fields& f, optimizer_params& p) {
  f.section("optimizer");
  f.add("optimizer_type", p.type, "sgd, adam or adamw")
      .one_of({"sgd", "adam", "adamw", "SGD", "Adam", "AdamW"});
  f.add("learning_rate", p.learning_rate, "a number, or a list of schedulers one after the other")
      .at_least(0);
  f.add("adjust_learning_rate", p.adjust_learning_rate,
        "factors of it for groups of parameters, or for parameters by a pattern of their names: "
        "{\"*qkv.weight\": 0.5}")
      .at_least(0);
  f.add("momentum", p.momentum, "of sgd").at_least(0).at_most(1);
  f.add("betas", p.betas, "of adam and adamw").at_least(0).at_most(0.999999);
  f.add("eps", p.eps, "of adam and adamw").above(0);
  f.add("weight_decay", p.weight_decay, "of adamw apart from the gradient, of the others added to it")
      .at_least(0)
      .once_called("weight_decay_rate");
  f.add("decays", p.decays, "which parameters decay").one_of({"not_bias_or_norm", "matrices", "all"});
  f.add("max_gradient_norm", p.max_gradient_norm, "longer gradients are shortened to it").above(0);
  f.add("max_gradient_value", p.max_gradient_value,
        "what is larger of a gradient, or smaller than its negative, is set to it")
      .above(0);
  f.add("log_summaries", p.log_summaries, "write the norm of each parameter to the events");
  f.honours("correct_bias", {"true"});
  f.no_effect("a word", {"loss_scaling_factor"});
  f.no_effect("a number", {"initial_loss_scale", "steps_per_increase", "min_loss_scale", "max_loss_scale"});
}

void declare_run(fields& f, run_params& p) {
  f.section("runconfig");
  f.add("mode", p.mode, "what to do if the command line does not say it")
      .one_of({"train", "eval", "train_and_eval"});
  f.add("model_dir", p.model_dir, "folder for all that is written");
  f.add("checkpoint_path", p.checkpoint_path, "go on from this checkpoint");
  f.add(
       "load_checkpoint_states", p.load_checkpoint_states,
       "what to take from checkpoint_path: all, and its run goes on; or model, its weights, with which a new "
       "run begins at step 0, on other data if need be")
      .one_of({"all", "model"});
  f.add("autoload_last_checkpoint", p.autoload_last_checkpoint,
        "go on from the last checkpoint in model_dir; false: begin anew, and set the run that is there aside "
        "in a folder earlier_<n>; a run does not keep it")
      .of_one_command();
  f.add("max_steps", p.max_steps, "steps in all, with those before a checkpoint").at_least(0);
  f.add("num_steps", p.num_steps, "steps of this command alone; a run does not keep it")
      .at_least(1)
      .of_one_command();
  f.add("num_epochs", p.num_epochs,
        "times through the data; the first limit of num_epochs, max_steps and num_steps ends a run")
      .at_least(1);
  f.add("steps_per_epoch", p.steps_per_epoch, "a shorter epoch than the whole data").at_least(1);
  f.add("log_steps", p.log_steps, "steps between two lines").at_least(1);
  f.add("checkpoint_steps", p.checkpoint_steps, "steps between two checkpoints; 0: only the last")
      .at_least(0);
  f.add("save_initial_checkpoint", p.save_initial_checkpoint, "before the first step");
  f.add("max_checkpoints", p.max_checkpoints, "how many are kept, the newest; 0: all").at_least(0);
  f.add("eval_steps", p.eval_steps, "batches of an evaluation; 0: all").at_least(0);
  f.add("eval_frequency", p.eval_frequency,
        "steps between two evaluations of train_and_eval; 0: only after the last")
      .at_least(0);
  f.add("peak_gflops", p.peak_gflops,
        "what the computers can do together, in 10^9 operations a second, for flops_utilization; 0: measured "
        "before the first step (of this program)")
      .at_least(0);
  f.add("seed", p.seed, "of the initial weights").at_least(0);
  f.add("num_csx", p.num_csx, "wafers that share out a batch").at_least(1).at_most(16);
  f.add("execution_strategy", p.execution_strategy,
        "weights stream past the data, or layers stand side by side")
      .one_of({"weight_streaming", "pipeline"});
  f.add("workers", p.workers,
        "PEs of a wafer that compute; null: one for each core of this computer, or fewer (of this program)")
      .at_least(1);
  f.add("grid", p.grid,
        "rows x columns of the workers, such as 4x2: rows share out the sequences of a batch, columns the "
        "features and weights; empty: as a prediction of the step's time says (of this program)");
  f.add("strips", p.strips, "PEs at most that a pipeline's layers lie on (of this program)")
      .at_least(1)
      .at_most(64);
  f.add("threads", p.threads, "of this computer; 0: one a core, or WSL_THREADS (of this program)")
      .at_least(0)
      .at_most(1024);
  f.no_effect("true or false", {"check_loss_values", "log_summaries", "save_losses", "show_debug_metrics",
                                "enable_distributed", "sync_batchnorm"});
  f.no_effect("a number",
              {"precision_opt_level", "num_workers_per_csx", "num_wgt_servers", "num_act_servers"});
  f.no_effect("a word", {"compile_dir", "job_priority", "mgmt_address", "mgmt_namespace", "credentials_path",
                         "debug_args_path", "target_device", "logging"});
  f.no_effect("a list", {"job_labels", "mount_dirs", "python_paths"});
  f.honours("disable_strict_checkpoint_loading", {"false"});
  f.honours("steps_per_update", {"1"});
}

namespace {

/// An option of the other strategy is a mistake; in a file it may be that of both.
void check_strategy_options(fields& f, const run_params& r) {
  const bool pipelined = r.execution_strategy == "pipeline";
  for (const char* name : {"workers", "grid", "strips"})
    if (pipelined != (name == std::string_view("strips")) && f.is_asked(name) &&
        f.named(name).front()->text() != "null")
      refuse("--" + std::string(name) + " is of execution_strategy " +
             (pipelined ? "weight_streaming" : "pipeline") + ", not of " + r.execution_strategy +
             ": leave it out, or take that strategy");
}

}  // namespace

void declare_checkpoint_options(fields& f, common_params& p) {
  f.options_of("checkpoint");
  f.add("override_model", p.run.override_model,
        "take the weights of a checkpoint even if its model section differs");
  f.refuses([&p, &f] { check_strategy_options(f, p.run); });
  f.remark([&p]() -> std::string {
    if (p.run.execution_strategy == "pipeline" ||
        (!p.train_input.micro_batch_size && !p.eval_input.micro_batch_size))
      return "";
    return "micro_batch_size has no effect in weight streaming: the activations of a whole batch stay on the "
           "wafer; a pipeline has micro-batches";
  });
}

/// Reads "4x2", rows x columns.
void take_grid(run_params& r) {
  if (r.grid.empty()) return;
  int rows = 0, columns = 0, end = 0;
  if (std::sscanf(r.grid.c_str(), "%dx%d%n", &rows, &columns, &end) != 2 ||
      static_cast<std::size_t>(end) != r.grid.size() || rows < 1 || columns < 1 || rows > 1000 ||
      columns > 1000)
    refuse("runconfig.grid is rows x columns of workers, such as 4x2, not '" + r.grid + "'");
  if (r.workers && r.workers != rows * columns)
    refuse("runconfig.grid " + r.grid + " has " + std::to_string(rows * columns) +
           " workers, and workers says " + std::to_string(r.workers) + ": leave one of them out");
  r.workers = rows * columns, r.columns = columns;
}

void complete(common_params& p) {
  if (!p.eval_input.batch_size) p.eval_input.batch_size = p.train_input.batch_size;
  if (p.run.execution_strategy == "pipeline") return;
  take_grid(p.run);
  // The number of cores is that of the first process, so that all lay out the same wafer.
  i64 cores[] = {static_cast<i64>(std::max(1u, std::thread::hardware_concurrency()))};
  ranks::share(cores);
  p.run.cores = static_cast<int>(cores[0]);
}

void check_strategy(const run_params& r) {
  if (r.execution_strategy == "pipeline" && r.num_csx > 1)
    refuse("runconfig.num_csx must be 1 in a pipeline: its layers lie on one wafer");
}

namespace {

/// Settings that an optimizer does not have must have their default values.
void check_optimizer(const optimizer_params& o) {
  const optimizer_params usual;
  const bool is_sgd = o.type == "sgd" || o.type == "SGD";
  const auto not_of = [&](const char* field, const char* of) {
    refuse("optimizer." + std::string(field) + " is of " + of + ", not of " + o.type +
           ": leave it out, or --" + field + " null");
  };
  if (is_sgd && o.betas != usual.betas) not_of("betas", "adam and adamw");
  if (is_sgd && o.eps != usual.eps) not_of("eps", "adam and adamw");
  if (!is_sgd && o.momentum != usual.momentum) not_of("momentum", "sgd");
}

/// A pipeline has one size of micro-batches, which a batch holds.
void check_micro_batches(const common_params& p) {
  if (p.run.execution_strategy != "pipeline") return;
  const int micro = p.train_input.micro_batch_size;
  if (micro > p.train_input.batch_size)
    refuse("train_input.micro_batch_size " + std::to_string(micro) + " is more than batch_size " +
           std::to_string(p.train_input.batch_size) + ": a micro-batch is a part of a batch");
  if (p.eval_input.micro_batch_size && p.eval_input.micro_batch_size != micro)
    refuse("eval_input.micro_batch_size " + std::to_string(p.eval_input.micro_batch_size) +
           " must be that of train_input, " + (micro ? std::to_string(micro) : "null") +
           ": a pipeline has one size of micro-batches");
}

}  // namespace

void check(const common_params& p) {
  const run_params& r = p.run;
  if (r.model_dir.empty()) refuse("runconfig.model_dir is the name of a folder, not nothing");
  if (p.train_input.batch_size < 1) refuse("train_input.batch_size is missing");
  if (p.train_input.batch_size % r.num_csx)
    refuse("train_input.batch_size " + std::to_string(p.train_input.batch_size) +
           " must be divisible by num_csx " + std::to_string(r.num_csx) +
           ": each system has an equal part of the batch");
  check_strategy(r);
  if (r.load_checkpoint_states == "model" && r.checkpoint_path.empty())
    refuse("runconfig.load_checkpoint_states model needs --checkpoint_path, whose weights are taken");
  if (r.execution_strategy == "pipeline" && p.precision.weights() == weights_as::bf16)
    refuse(
        "model.fp16_type bfloat16 is for execution_strategy weight_streaming: in a pipeline weights stay on "
        "the PEs, as f32; take that strategy, or mixed_precision false");
  check_micro_batches(p);
  if (!p.train_input.drop_last) refuse("train_input.drop_last is true: all batches have the same size");
  if (p.optimizer.max_gradient_norm > 0 && p.optimizer.max_gradient_value > 0)
    refuse("optimizer has max_gradient_norm and max_gradient_value: give one of them");
  check_optimizer(p.optimizer);
  p.optimizer.rule();
  p.optimizer.rate();
}

}  // namespace train_app
