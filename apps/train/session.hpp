// SPDX-License-Identifier: MIT
// The modes of a trainer, for any model and data: train, evaluate, and estimate the cost of a run. The state
// of a run is in its folder: checkpoints, loss.csv and loss.svg, performance.json, the params of the run, and
// events for TensorBoard in train/ and eval/. A run that was killed at any moment and is started again with
// the same command resumes from its last checkpoint and reaches the same bits. If mpirun starts it, its
// wafers are distributed over the processes, or these have roles; only the one with the memory prints and
// writes.
#pragma once
#include <optional>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/io/checkpoint.hpp>
#include <wsl/ml/model/preference.hpp>
#include <wsl/ml/run/best_loss.hpp>
#include <wsl/ml/run/loss_curve.hpp>
#include <wsl/ml/run/segmentation_score.hpp>
#include <wsl/ml/run/training_loop.hpp>

#include "command.hpp"
#include "estimate.hpp"
#include "machine.hpp"
#include "params.hpp"
#include "reference.hpp"
#include "sparse_run.hpp"

namespace wsl {
struct scaling_prediction;
}

namespace train_app {

/// The description of a model in words: names and values of the fields that its shapes do not determine. A
/// field that is left out has its usual value, as in the files of earlier versions, which did not know it.
using named_words = std::vector<std::pair<std::string, std::string>>;

/// Groups of parameters: their names, and patterns of the parameters' names.
using named_groups = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// A picture in grey, as a PNG.
struct picture {
  int width = 0, height = 0;
  std::string png;
};

/// The model and the data that an application trains.
struct task {
  std::string program;  ///< its name
  std::function<wsl::ml::network()> model;
  std::string model_words, data_words;         ///< descriptions for people
  named_words architecture = {};               ///< stored with the model, and compared when it is loaded
  wsl::ml::dataset train = {}, held_out = {};  ///< one that is not needed may be empty
  /// sets the initial weights of a new run; none: they are drawn from the seed
  std::function<void(wsl::ml::trainer_base&)> begin = {};
  std::string begins_with = {};  ///< the option that gives those weights, for messages
  /// adds what belongs to the model, such as its tokenizer, to the folder of a new run; none: nothing does
  std::function<void(const std::string& folder)> add_to_folder = {};
  i64 tokens_of_example = 0;  ///< those that the speed of training counts; 0: the length of the example
  /// groups of parameters: a name, and patterns of the parameters' names
  named_groups groups = {};
  /// the names of a parameter in the Model Zoo, by which patterns may choose it; none: it is known by ours
  /// only
  zoo_names names_in_zoo = {};
  /// stored with the model: the vocabulary of its tokens; empty for none
  std::string vocabulary = {};
  /// what else checkpoints keep that gives the numbers of the model a meaning
  wsl::ml::text_by_name facts = {};
  /// the adapters of the model in words, stored and compared with the architecture; but a new run may begin
  /// with the weights of a model that has none
  named_words adapters = {};
  /// sets adapters that come from elsewhere where a new run begins with the weights of a checkpoint; none:
  /// they are the checkpoint's, or else drawn
  std::function<void(wsl::ml::trainer_base&)> set_adapters = {};
  /// throws std::invalid_argument if the numbers of a checkpoint have another meaning; none: the vocabularies
  /// are compared
  std::function<void(const std::string& checkpoint)> require_same_meaning = {};
  /// the tokens are pixels of so many classes, and evaluations say how well these are found; 0: they are not
  int pixel_classes = 0;
  std::vector<i64> ignored_classes = {};  ///< of pixels, those that means over classes leave out
  /// draws an image beside its classes and the predicted ones; none: examples are no images
  std::function<picture(std::span<const wsl::f32> image, std::span<const wsl::i32> truth,
                        std::span<const wsl::i32> predicted)>
      draw_picture = {};
  /// of a model whose losses compare the sequences of pairs: examples are pairs (preference_pairs.hpp)
  std::optional<preference_run> preferences = {};

  i64 tokens() const { return tokens_of_example ? tokens_of_example : train.length; }
  /// Whether the examples are texts.
  bool has_texts(const wsl::ml::dataset& d) const { return d.length > 1 && pixel_classes == 0; }
};

struct evaluation {
  f64 loss = 0;  ///< the mean over the held-out targets
  /// the part of them that are the argmax class; none if they are no classes
  std::optional<f64> accuracy = {};
  i64 batches = 0, samples = 0;
  std::optional<wsl::ml::segmentation_score> pixels = {};  ///< of pixels and their classes
  std::vector<picture> pictures = {};                      ///< of the first examples, if they are asked for
  std::optional<wsl::ml::preference_metrics> pairs = {};   ///< of pairs, of which one is preferred
};

class session {
 public:
  session(common_params p, std::string params_text, task t);

  /// Trains to the last step; with `and_eval` evaluates every eval_frequency steps and at the end.
  void train(bool and_eval);
  void eval();
  /// Evaluates all checkpoints of the run's folder, and says which has the lowest loss.
  void eval_all();
  /// Prints what would be trained, on which data and for how long. Throws the errors of `train` before its
  /// first step.
  void validate();
  /// Prints the placement on a wafer and the estimated cost of a step, without running it.
  void compile() const;
  /// Refuses a mode that evaluates with several replicas of a pipeline.
  void require_one_replica(const std::string& mode) const;

  /// The exit status of the program: 0; 1 if a checkpoint could not be evaluated; or 128 plus the signal that
  /// has stopped a run before its last step.
  int status() const { return status_; }

 private:
  void describe() const;
  std::string placement() const;
  std::string memory_of_layers(const wsl::ml::network& model) const;
  std::string micro_batches(const wsl::ml::streaming_settings& how) const;
  wsl::ml::streaming_settings streaming() const;
  wsl::ml::streaming_settings streaming(const common_params& p,
                                        wsl::scaling_profile* profile = nullptr) const;
  memory_need need_of(const input_params& input, const wsl::ml::dataset& data) const;
  void require_memory_for_batches() const;
  void require_fit(const std::string& checkpoint, bool trains) const;
  i64 steps_per_epoch() const;
  i64 last_step(i64 done) const;
  machine& wafer();
  std::unique_ptr<machine> new_wafer(const common_params& p, wsl::scaling_profile* profile) const;
  void predict_threads() const;
  wsl::scaling_prediction predicted_step(machine& wafer, wsl::scaling_profile& profile) const;
  wsl::ml::batches batches_of(const wsl::ml::dataset& data, const input_params& p, bool in_order);
  void require_same() const;
  void require_own_folder() const;
  void find_reference(bool of_train, bool of_held_out);
  bool take_kept_reference(bool of_train, bool of_held_out);
  void require_same_reference(wsl::u64 fingerprint) const;
  std::vector<wsl::f32> reference_of(const wsl::ml::dataset& data, int batch_size, machine& by) const;
  wsl::ml::data_position load(const std::string& checkpoint, bool trains);
  void require_resumable(const std::string& checkpoint) const;
  named_words architecture() const;
  void require_trained() const;
  void require_same_frozen(const wsl::ml::checkpoint& c) const;
  void require_same_optimizer(const wsl::ml::checkpoint& c,
                              const std::vector<wsl::ml::state_array>& state) const;
  void require_loss_scale(const wsl::ml::checkpoint& c) const;
  void require_rates(i64 first, i64 last) const;
  void require_layout() const;
  void check_weights(const std::string& checkpoint, bool trains) const;
  bool resume(wsl::ml::batches* data);
  void require_same_seeds(const std::string& checkpoint) const;
  bool takes_weights_only(const std::string& checkpoint) const;
  void resume_data(wsl::ml::batches& data, const wsl::ml::data_position& at,
                   const std::string& checkpoint) const;
  evaluation evaluate();
  wsl::ml::optimizer rule() const;
  wsl::ml::sparsity_settings sparsity() const;
  std::unique_ptr<const sparse_run> sparse() const;
  bool is_sparse(const std::vector<std::string>& checkpoints) const;
  std::string masks_of(const std::string& checkpoint) const;
  void require_masks_of_beginning() const;
  void require_same_makers(const wsl::ml::checkpoint& c, const std::string& is) const;
  void save(const wsl::ml::checkpoints& to, const wsl::ml::batches& data,
            const wsl::ml::training_loop::unlogged& losses);
  bool has_stopped_improving() const;
  wsl::ml::loss_curve curve_until(wsl::i64 step) const;
  std::filesystem::path file(const std::string& name) const {
    return std::filesystem::path(params_.run.model_dir) / name;
  }

  common_params params_;
  std::string params_text_;
  task task_;
  std::unique_ptr<machine> wafer_;
  wsl::ml::training_loop::unlogged unlogged_;   ///< of the checkpoint from which a run resumes
  wsl::ml::best_loss best_;                     ///< known to the first process
  wsl::ml::preference_metrics unlogged_pairs_;  ///< of the steps since the last log entry
  std::vector<wsl::f32> of_reference_, of_reference_held_out_;  ///< two numbers for each pair of the data
  std::string reference_;                                       ///< its fingerprint; empty: not known
  std::string kept_reference_, keeps_reference_;  ///< that of the run, and the checkpoint that says it
  bool trains_ = true;  ///< or evaluates, where weights are sparse if those of the checkpoint are
  bool evaluates_sparse_ = false;
  int status_ = 0;
};

/// Compares the model of a checkpoint with the requested one. Throws std::invalid_argument with all
/// differences, or with `override_it` only prints them.
void require_same_model(const std::string& checkpoint, const named_words& ours, bool override_it);

/// Throws std::invalid_argument if a checkpoint has another vocabulary.
void require_same_vocabulary(const std::string& checkpoint, const std::string& ours);

/// Throws std::invalid_argument if another program has written a checkpoint.
void require_same_program(const std::string& checkpoint, const std::string& program);

/// The checkpoint to evaluate, or to sample from: the one that the command line names, the newest whole one
/// of the folder, or the one of the params; empty if there is none. Incomplete ones are named on stderr.
std::string checkpoint_to_look_at(const run_params& r);
/// The checkpoint to train from, likewise; but a run that began with a checkpoint from elsewhere resumes from
/// its own. Both throw wsl::ml::file_error if the folder has checkpoints and none of them is whole.
std::string checkpoint_to_train_from(const run_params& r);

/// Freezes those parameters of a model that the params say; names of groups stand for their patterns. Throws
/// std::invalid_argument for a name that no parameter has.
void freeze(wsl::ml::network& model, const optimizer_params& p, const named_groups& groups);
/// The optimizer of the params for a model: names of groups in its settings stand for their patterns. Throws
/// std::invalid_argument if it does not fit the model.
wsl::ml::optimizer optimizer_for(const optimizer_params& p, const wsl::ml::network& model,
                                 const named_groups& groups);
/// Calls f, with the averages of the weights in place of the parameters if the params keep them.
template <class F>
decltype(auto) with_average(const optimizer_params& p, machine& m, F f) {
  return p.ema_decay > 0 ? m.run().with_average(f) : f();
}

/// The entry of a checkpoint's metadata with this name.
std::string fact_of(const std::string& checkpoint, const std::string& name);
/// Whether the model of a checkpoint has low-rank adapters.
bool has_adapters(const std::string& checkpoint);
/// Loads the model of a checkpoint into a machine that evaluates, predicts or exports it.
void load(const std::string& checkpoint, machine& m);

/// The modes that every application has, with their descriptions.
std::vector<std::pair<std::string, std::string>> common_modes();

using mode_names = std::vector<std::string>;
/// Modes by what they do, for tables of options; an application may have fewer. Those that say what a run
/// would do read what it reads.
struct kinds_of_modes {
  mode_names trains{"train", "train_and_eval", "fit", "validate", "compile", "config"},
      evaluates_on_the_way{"train_and_eval", "fit", "validate", "compile", "config"},
      evaluates{"eval", "eval_all"}, uses_weights{"sample", "predict", "export"}, verifies{"verify"};
};
mode_names together(std::initializer_list<mode_names> some);
/// The modes that read the options which every application has.
std::vector<readers> common_readers();
/// Runs a mode. Returns whether it is one of them.
bool run_mode(const std::string& mode, session& s);

}  // namespace train_app
