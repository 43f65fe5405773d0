// SPDX-License-Identifier: MIT
#include "session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>
#include <wsl/engine/threaded.hpp>
#include <wsl/engine/threaded/prediction.hpp>
#include <wsl/ml/data/text/encode/preference_pairs.hpp>
#include <wsl/ml/model/operations.hpp>
#include <wsl/ml/run/activation_dump.hpp>
#include <wsl/ml/run/checkpointing.hpp>
#include <wsl/ml/run/memory_profile.hpp>
#include <wsl/ml/run/op_profile.hpp>
#include <wsl/ml/run/sample.hpp>
#include <wsl/ml/run/training_loop.hpp>
#include <wsl/ml/sparsity/algorithms.hpp>
#include <wsl/ml/train/pipelined/strips.hpp>
#include <wsl/ml/train/streaming/grid_choice.hpp>
#include <wsl/support/folder_lock.hpp>
#include <wsl/support/progress.hpp>

#include "../files.hpp"
#include "../memory.hpp"
#include "command.hpp"
#include "estimate.hpp"
#include "performance.hpp"
#include "ranks.hpp"
#include "run_log.hpp"

namespace train_app {
namespace {

namespace ml = wsl::ml;
using wsl::u64;

/// The loop that a signal stops, so that a last checkpoint is written.
ml::training_loop* running = nullptr;
volatile std::sig_atomic_t stopped_by = 0;
extern "C" void stop_running(int signal) {
  stopped_by = signal;
  if (running) running->stop();
}

/// Prints a line in the form of the Model Zoo on stdout, unbuffered, from one process only.
template <class First, class... Args>
void say(const char* format, First first, Args... rest) {
  if (!ranks::root()) return;
  std::printf(format, first, rest...);
  std::fflush(stdout);
}
void say(const char* text) { say("%s", text); }

/// The classes of a batch with which the argmax of the model's logits is compared: the targets of its first
/// loss, unless that has several for a token, or none.
class right_classes {
 public:
  right_classes(const ml::network& n, const ml::batch& b) {
    const ml::loss_stage& first = *n.losses().front();
    if (first.targets.size() != 1 || first.inputs[0] != n.logits()) return;
    const ml::value_info& x = n.info(first.targets[0]);
    if (!x.is_ids() || x.width() != 1) return;
    all_ = ml::ids_of(n, b, first.targets[0]), ignored_ = x.ignored;
  }
  i64 each_sequence(int sequences) const { return static_cast<i64>(all_.size()) / std::max(1, sequences); }
  wsl::i32 operator[](i64 i) const { return all_[static_cast<std::size_t>(i)]; }
  bool counts(i64 i) const { return !ignored_ || (*this)[i] != *ignored_; }

 private:
  std::span<const wsl::i32> all_;
  std::optional<wsl::i32> ignored_;
};

/// The sequences of an example: one, or two where losses compare those of pairs.
int sequences_of_example(const ml::network& n) { return ml::sequences_together(n); }

/// A batch of examples as the model takes it.
class taken_batch {
 public:
  /// `reference` has two numbers for each pair of the data, if examples are pairs that are compared with one.
  taken_batch(ml::loaded_batch b, bool are_pairs, std::span<const wsl::f32> reference)
      : of_(are_pairs ? batch_of_either(std::in_place_type<ml::preference_batch>, std::move(b), reference)
                      : batch_of_either(std::in_place_type<ml::loaded_batch>, std::move(b))) {}

  ml::batch view() const {
    return std::visit([](const auto& b) { return b.view(); }, of_);
  }

 private:
  using batch_of_either = std::variant<ml::loaded_batch, ml::preference_batch>;
  batch_of_either of_;
};

/// The numbers of the reference that go with a batch of pairs; none without one.
std::span<const wsl::f32> reference_in(const ml::batch& b) {
  for (const ml::named_numbers& x : b.named)
    if (x.name == ml::reference_log_probs) return x.features;
  return {};
}

/// A machine whose steps on pairs are counted.
class counted_steps {
 public:
  counted_steps(machine& by, f64 beta, ml::preference_metrics& to) : by_(by), beta_(beta), to_(to) {}

  i64 steps() { return by_.steps(); }
  f64 step(const ml::batch& b, f64 rate) {
    std::vector<wsl::f32> numbers(static_cast<std::size_t>(b.sequences));
    const f64 loss = by_.step(b, rate, [&](i64 first, std::span<const wsl::f32> some) {
      std::copy(some.begin(), some.end(), numbers.begin() + first);
    });
    to_.add(numbers, reference_in(b), beta_);
    return loss;
  }

 private:
  machine& by_;
  f64 beta_;
  ml::preference_metrics& to_;
};

/// Copies the first process's numbers to all others.
void share_numbers(std::vector<wsl::f32>& numbers) {
  i64 count = std::ssize(numbers);
  ranks::share({&count, 1});
  std::vector<i64> words(static_cast<std::size_t>(count + 1) / 2);
  if (ranks::root()) std::memcpy(words.data(), numbers.data(), numbers.size() * sizeof(wsl::f32));
  ranks::share(words);
  numbers.resize(static_cast<std::size_t>(count));
  std::memcpy(numbers.data(), words.data(), numbers.size() * sizeof(wsl::f32));
}

constexpr const char* fact_of_pairs = "log.preferences";
/// The name under which checkpoints keep the fingerprint of the weights with which preferences are compared.
constexpr const char* fact_of_reference = "dpo.reference";
/// That of a checkpoint; empty if it is of no such run, or of an earlier version.
std::string reference_in(const std::string& checkpoint) {
  const ml::text_by_name facts = ml::checkpoint(checkpoint).facts();
  const auto found = facts.find(fact_of_reference);
  return found == facts.end() ? "" : found->second;
}

/// The preferences since the last log entry, as a checkpoint keeps them, and back; older checkpoints have
/// none.
std::string text_of(const ml::preference_metrics::sums& s) {
  return fmt::format("{} {} {} {} {} {}", s.pairs, s.right, s.chosen, s.rejected, s.of_chosen, s.of_rejected);
}
ml::preference_metrics pairs_of(const std::string& checkpoint) {
  const ml::checkpoint c(checkpoint);
  if (!c.facts().contains(fact_of_pairs)) return {};
  const std::string& text = c.fact(fact_of_pairs);
  ml::preference_metrics::sums s;
  const char *at = text.data(), *const end = at + text.size();
  const auto take = [&](auto& number) {
    while (at < end && *at == ' ') ++at;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc{})
      throw ml::file_error(checkpoint + ": '" + fact_of_pairs + "' should be six numbers, not '" + text +
                           "'");
    at = after;
  };
  take(s.pairs), take(s.right), take(s.chosen), take(s.rejected), take(s.of_chosen), take(s.of_rejected);
  return ml::preference_metrics(s);
}

std::string in_log(const ml::preference_metrics& m) {
  return fmt::format(
      ", RewardsChosen={:.5f}, RewardsRejected={:.5f}, RewardsMargins={:.5f}, "
      "RewardsAccuracies={:.4f}",
      m.chosen(), m.rejected(), m.margin(), m.accuracy());
}

/// The settings of weight streaming, with the grid that they leave open.
ml::streaming_settings training_of(const common_params& p, const ml::network& model,
                                   const ml::optimizer& rule, const ml::sparsity_settings& sparsity,
                                   int length, wsl::scaling_profile* profile = nullptr) {
  const int k = sequences_of_example(model), sequences = k * p.train_input.batch_size;
  ml::streaming_settings how{.workers = p.run.on.workers,
                             .columns = p.run.on.columns,
                             .cores = p.run.on.cores,
                             .num_csx = p.run.num_csx,
                             .clip_norm = p.optimizer.max_gradient_norm,
                             .clip_value = p.optimizer.max_gradient_value,
                             .seed = static_cast<u64>(p.run.seed),
                             .threads = p.run.threads,
                             .precision = p.precision.format(),
                             .loss_scaling = p.optimizer.loss_scaling(p.precision.format()),
                             .micro_batch_size = k * p.train_input.micro_batch_size.size,
                             .recompute = p.run.recompute,
                             .sparsity = sparsity,
                             .memory_folder = p.run.memory_folder,
                             .profile = profile};
  ml::wafer_grid grid = ml::choose_grid(model, how, sequences, length);
  if (p.train_input.micro_batch_size.is_auto) {
    // The grid is that of the micro-batches which fit on the grid of whole batches.
    how.micro_batch_size = micro_batch_for(model, rule, grid, p, length);
    grid = ml::choose_grid(model, how, sequences, length);
    how.micro_batch_size = micro_batch_for(model, rule, grid, p, length);
  }
  how.workers = grid.rows * grid.columns, how.columns = grid.columns;
  return how;
}

ml::pipeline_settings pipelining_of(const common_params& p, wsl::scaling_profile* profile = nullptr) {
  return {.strips = p.run.strips,
          .replicas = p.run.on.replicas,
          .micro_batch_size = p.train_input.micro_batch_size.size,
          .clip_norm = p.optimizer.max_gradient_norm,
          .clip_value = p.optimizer.max_gradient_value,
          .seed = static_cast<u64>(p.run.seed),
          .threads = p.run.threads,
          .precision = p.precision.format(),
          .loss_scaling = p.optimizer.loss_scaling(p.precision.format()),
          .profile = profile};
}
/// " as bf16", and nothing for f32.
std::string in_sixteen_bits(precision p) {
  return p == precision::f32 ? "" : " as " + std::string(name_of(p));
}
/// The steps that a dynamic loss scale has skipped; 0 without one.
i64 skipped_steps(machine& m) {
  const auto scale = m.run().loss_scale_state();
  return scale ? scale->num_skipped_steps : 0;
}
ml::without_masks for_dense_weights(const common_params& p) {
  return p.sparsity.sparsify_checkpoint ? ml::without_masks::made : ml::without_masks::refused;
}
/// The operations of a sample with the model as it is now: of sparse weights the nonzeros count.
template <class Run>
f64 operations_of_sample(Run& run, int length) {
  const auto patterns = run.patterns();
  return length * ml::operations_per_token(run.model(), length, [&](const ml::parameter& p) {
           const auto pattern = patterns.find(p.name);
           return pattern == patterns.end() ? 1. : pattern->second.density();
         });
}
bool in_pipeline(const common_params& p) { return p.run.execution_strategy == "pipeline"; }

/// A progress display, on one process only.
std::unique_ptr<wsl::support::progress> progress_of(const char* what, i64 total) {
  return ranks::root() ? std::make_unique<wsl::support::progress>(what, static_cast<u64>(total))
                       : std::make_unique<wsl::support::progress>(what, static_cast<u64>(total),
                                                                  wsl::support::progress::sink());
}

/// The newest whole checkpoint of a folder, empty if there is none. Those that are not whole are named on
/// stderr. Throws ml::file_error if there are only such: the run must not begin anew and write over them
/// unless it is told to.
std::string newest_checkpoint(const std::string& folder) {
  std::vector<std::string> refused;
  const auto newest = ml::checkpoints(folder).newest(&refused);
  for (const std::string& why : refused) std::fprintf(stderr, "%s\n", why.c_str());
  if (!newest && !refused.empty())
    throw ml::file_error(
        "none of the " + std::to_string(refused.size()) + " checkpoint(s) in " + folder +
        " is whole: bring one back from a copy, take another --model_dir, or --autoload_last_"
        "checkpoint false sets them aside and begins anew");
  return newest.value_or("");
}

/// Whether a run of one of these programs has begun in a folder.
bool is_of_run(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  if (!ml::checkpoints(folder.string()).steps().empty() || fs::exists(folder / "loss.csv")) return true;
  if (fs::exists(folder / "earlier_1")) return true;  // a run that was set aside, and the next was killed
  const fs::path params = folder / "params.yaml";
  return fs::is_regular_file(params) && app::read_file(params).starts_with(params_of);
}

/// Moves what a run has written into a folder of its own in the run's folder, so that a new run mixes with
/// nothing and nothing is lost. Returns the folder; empty if there was no run.
std::filesystem::path set_aside(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  if (ml::checkpoints(folder.string()).steps().empty() && !fs::exists(folder / "loss.csv")) return {};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "params.yaml" || name == "loss.csv" || name == "loss.svg" || name == "layout.svg" ||
        name == "performance.json" || name == "train" || name == "eval" || name == "best" ||
        name == "activations" || name == "wandb" || name == "chrome_trace.json" ||
        name.starts_with("checkpoint_"))
      files.push_back(entry.path());
  }
  int n = 1;
  while (fs::exists(folder / ("earlier_" + std::to_string(n)))) ++n;
  const fs::path to = folder / ("earlier_" + std::to_string(n));
  app::make_folder(to);
  for (const fs::path& file : files) {
    std::error_code why;
    fs::rename(file, to / file.filename(), why);
    if (why)
      throw std::runtime_error("cannot move " + file.string() + " to " + to.string() + ": " + why.message() +
                               ": take another --model_dir");
  }
  return to;
}

/// A file that stands in the way of a new run: not hidden, no log, script or configuration of a user, no file
/// of a reference, which runs may share, and none that a run was writing when it was killed. Empty if there
/// is none.
std::string file_of_others(const std::filesystem::path& folder) {
  std::string first;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool may_stay =
        name.starts_with(".") || name.starts_with("reference_") || name.starts_with("log") ||
        std::ranges::any_of(
            std::array{".log", ".out", ".err", ".sh", ".sbatch", ".yaml", ".yml", ".unfinished"},
            [&](const char* end) { return name.ends_with(end); });
    if (entry.is_regular_file() && !may_stay && (first.empty() || name < first)) first = name;
  }
  return first;
}

/// Lines "name: value", as a checkpoint keeps them, and back.
std::string lines_of(const named_words& words) {
  std::string all;
  for (const auto& [name, value] : words) all += name + ": " + value + "\n";
  return all;
}
std::map<std::string, std::string> words_of(std::string_view lines) {
  std::map<std::string, std::string> all;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (const std::size_t colon = line.find(": "); colon != line.npos)
      all.emplace(line.substr(0, colon), line.substr(colon + 2));
  }
  return all;
}

/// The fields of the section `model` of a run's params, and their values.
std::map<std::string, std::string> model_fields(std::string_view params) {
  constexpr std::string_view title = "model:\n";
  const std::size_t at = params.starts_with(title) ? 0 : params.find("\n" + std::string(title)) + 1;
  std::map<std::string, std::string> all;
  if (!params.substr(at).starts_with(title)) return all;
  params.remove_prefix(at + title.size());
  while (params.starts_with("  ")) {
    const std::string_view line = params.substr(2, params.find('\n') - 2);
    params.remove_prefix(std::min(line.size() + 3, params.size()));
    if (const std::size_t colon = line.find(": "); colon != line.npos)
      all.emplace(line.substr(0, colon), line.substr(colon + 2));
  }
  return all;
}

/// Requires that a checkpoint has the parameters of a model, with their shapes. The fields in which both
/// params differ are named, since shapes follow from them.
void require_same_parameters(const ml::checkpoint& c, const std::vector<ml::named_array>& ours,
                             const std::string& our_params) {
  std::string differs;
  for (const ml::named_array& a : ours) {
    const auto there = std::find_if(c.tensors().begin(), c.tensors().end(),
                                    [&](const ml::tensor_info& t) { return t.name == a.name; });
    if (there != c.tensors().end() && there->shape == a.shape) continue;
    differs = there == c.tensors().end() ? fmt::format("it has no '{}'", a.name)
                                         : fmt::format("'{}' is {} there, not {}", a.name,
                                                       ml::text_of(there->shape), ml::text_of(a.shape));
    break;
  }
  if (differs.empty()) return;
  const auto params = c.facts().find("params");
  std::vector<std::string> fields;
  if (params != c.facts().end()) {
    const auto theirs = model_fields(params->second);
    for (const auto& [name, value] : model_fields(our_params))
      if (const auto there = theirs.find(name); there != theirs.end() && there->second != value)
        fields.push_back(fmt::format("{} is {} there, not {}", name, there->second, value));
  }
  throw std::invalid_argument(
      fmt::format("{} is of another model: {}{}{}: give the model's fields as they are there, or another "
                  "checkpoint",
                  c.name(), fmt::join(fields, ", "), fields.empty() ? "" : "; ", differs));
}

/// The patterns of the group of that name, or the name, which is a pattern itself.
std::vector<std::string> patterns_of(const std::string& name, const named_groups& groups) {
  const auto group =
      std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == name; });
  return group == groups.end() ? std::vector{name} : group->second;
}

/// Calls f; what it throws begins with the name of the setting.
template <class F>
void with_name(const char* name, F f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    std::string sentence = e.what();
    if (sentence.starts_with("wsl: ")) sentence.erase(0, 5);
    throw std::invalid_argument(fmt::format("{}: {}", name, sentence));
  }
}

/// The task's model with the factors of its learning rates, and without the parameters that are not trained.
std::function<ml::network()> as_trained(const task& t, const optimizer_params& p) {
  return [build = t.model, groups = t.groups, p] {
    ml::network n = build();
    for (const auto& [name, factor] : p.adjust_learning_rate)
      with_name("optimizer.adjust_learning_rate",
                [&] { n.scale_rates(patterns_of(name, groups), static_cast<wsl::f32>(factor)); });
    freeze(n, p, groups);
    return n;
  };
}

std::string in_brackets(const std::vector<std::string>& words) {
  return fmt::format("[{}]", fmt::join(words, ", "));
}
/// The name under which checkpoints keep which parameters are frozen.
constexpr const char *fact_of_frozen = "frozen_parameters", *fact_of_patterns = "sparsity.patterns",
                     *fact_of_sparsity = "sparsity";

/// The losses since the last log entry, as a checkpoint keeps them; older checkpoints have none.
ml::training_loop::unlogged losses_of(const std::string& checkpoint) {
  const ml::checkpoint c(checkpoint);
  ml::training_loop::unlogged u;
  if (!c.facts().contains("log.steps")) return u;
  u.steps = c.whole_number<i64>("log.steps");
  const std::string& sum = c.fact("log.losses");
  const auto [end, error] = std::from_chars(sum.data(), sum.data() + sum.size(), u.losses);
  if (error != std::errc{} || end != sum.data() + sum.size() || u.steps < 0)
    throw ml::file_error(checkpoint + ": 'log.losses' should be a number, not '" + sum + "'");
  return u;
}

/// The update rule by which a checkpoint was trained. Where an earlier version wrote it, its params say that;
/// empty if nothing does.
std::string optimizer_of(const ml::checkpoint& c) {
  if (const std::string name = ml::optimizer_in(c); !name.empty()) return name;
  const auto params = c.facts().find("params");
  if (params == c.facts().end()) return "";
  constexpr std::string_view field = "\n  optimizer_type: ";
  const std::size_t at = params->second.find(field);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + field.size();
  std::string name = params->second.substr(begin, params->second.find('\n', begin) - begin);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char x) { return std::tolower(x); });
  return name;
}

/// The end of a sentence: the way to begin with a checkpoint's weights alone.
std::string with_new_states(const ml::checkpoint& c) {
  return ", or begin a run with its weights and new states of the optimizer: --checkpoint_path " + c.name() +
         " --load_checkpoint_states model and another --model_dir";
}

/// Throws std::runtime_error if nothing can be written in the folder, or if it cannot be made.
void require_writable(const std::filesystem::path& folder, const std::string& field) {
  std::error_code none;
  std::filesystem::path there = std::filesystem::absolute(folder, none);
  while (there.has_relative_path() && !std::filesystem::exists(there, none)) there = there.parent_path();
  const bool is_folder = std::filesystem::is_directory(there, none);
  if (is_folder && ::access(there.c_str(), W_OK | X_OK) == 0) return;
  throw std::runtime_error(
      fmt::format("cannot write in {} {}: {}{}: take another --{}", field, folder.string(), there.string(),
                  is_folder ? fmt::format(": {}", std::strerror(errno)) : " is no folder",
                  field.substr(field.rfind('.') + 1)));
}

/// The settings that end a run, those that are given.
std::vector<std::string> limits_of(const run_params& r) {
  std::vector<std::string> given;
  for (const auto& [name, value] :
       {std::pair{"max_steps", r.max_steps}, {"num_steps", r.num_steps}, {"num_epochs", r.num_epochs}})
    if (value) given.push_back(fmt::format("{} {}", name, value));
  return given;
}

}  // namespace

session::session(common_params p, std::string params_text, task t)
    : params_(std::move(p)), params_text_(std::move(params_text)), task_(std::move(t)) {
  check(params_);
  task_.model = as_trained(task_, params_.optimizer);
  if (in_pipeline(params_) && task_.preferences)
    throw std::invalid_argument(
        "runconfig.execution_strategy pipeline: the loss of a pair needs both of its sequences, of which a "
        "pipeline has one at a time: take weight_streaming");
  if (in_pipeline(params_) && ranks::size() > 1)
    throw std::invalid_argument("a pipeline's layers lie on one wafer, in one process; mpirun has started " +
                                std::to_string(ranks::size()));
  if (params_.reports.log_images > 0 && !task_.draw_picture)
    throw std::invalid_argument(
        "runconfig.log_images is of images with classes of pixels (wsl-unet), and these data are others: "
        "leave "
        "it out");
  if (params_.reports.log_images > 0 && ranks::size() > 1 &&
      params_.run.roles.find("memoryx") != std::string::npos)
    throw std::invalid_argument(
        "runconfig.log_images draws images of the process that writes the events, and memoryx has none: "
        "leave "
        "it out, or memoryx out of --roles");
  if (params_.reports.activation_steps > 0)
    ml::stages_matching(task_.model(), params_.reports.activation_outputs);  // throws for names of no layer
  if (params_.reports.activation_steps > 0 && ranks::size() > 1)
    throw std::invalid_argument(
        "dump_activations is of a run in one process, which has all parameters and the whole batch: leave "
        "every_steps out, or run without mpirun");
  if (params_.run.profile_from > 0 && ranks::size() > 1)
    throw std::invalid_argument(
        "op_profiler is of a run in one process, whose threads it follows: leave start_step and end_step "
        "out, or "
        "profile without mpirun");
  ranks::take_data({&task_.train, &task_.held_out});
  rule();  // throws for sizes that do not fit, before anything is written
  if (!params_.sparsity.are_given()) return;
  if (in_pipeline(params_))
    throw std::invalid_argument(
        "runconfig.execution_strategy pipeline: its weights stay on the wafer, and sparse ones travel to it: "
        "take "
        "weight_streaming, or --sparsity null");
  if (!task_.adapters.empty())
    throw std::invalid_argument(
        "sparsity is of weights that are trained, and adapters leave those of their model as they are: leave "
        "sparsity out, or lora_rank; a model that was sparse may have adapters");
  sparse()->require_weights(last_step(0));
}

/// The sparse weights of the run; null if all are dense.
std::unique_ptr<const sparse_run> session::sparse() const {
  if (!params_.sparsity.are_given()) return nullptr;
  return std::make_unique<sparse_run>(task_.model(), rule(),
                                      sparsity().with_seed(static_cast<u64>(params_.run.seed)));
}

/// Whether all of these checkpoints have masks of the parameters that are sparse by the params.
bool session::is_sparse(const std::vector<std::string>& checkpoints) const {
  if (!params_.sparsity.are_given()) return false;
  std::vector<std::string> ours = sparse()->names();
  std::sort(ours.begin(), ours.end());
  return std::all_of(checkpoints.begin(), checkpoints.end(), [&](const std::string& name) {
    try {
      std::vector<std::string> theirs = ml::checkpoint(name).masked();
      std::sort(theirs.begin(), theirs.end());
      return theirs == ours;
    } catch (const ml::file_error&) {
      return true;  // it is not evaluated
    }
  });
}

/// What becomes of the masks of a checkpoint from which a run goes on or begins, in words; empty if it has
/// none and needs none.
std::string session::masks_of(const std::string& checkpoint) const {
  const std::size_t there = ml::checkpoint(checkpoint).masked().size();
  if (!params_.sparsity.are_given())
    return there == 0
               ? ""
               : fmt::format(
                     "{} is of a sparse run; here its {} sparse parameters are dense, and all of their "
                     "weights are trained",
                     checkpoint, there);
  if (there) return fmt::format("The masks of {} parameters are those of the checkpoint", there);
  return fmt::format("{} has no masks: those of {} parameters are made by init_method", checkpoint,
                     sparse()->names().size());
}

/// The model in words, with its adapters.
named_words session::architecture() const {
  named_words all = task_.architecture;
  all.insert(all.end(), task_.adapters.begin(), task_.adapters.end());
  return all;
}

/// Throws std::runtime_error if the run cannot write in its folder or in that of its reference, and
/// std::invalid_argument if a new run would write among the files of others.
void session::require_own_folder() const {
  const std::filesystem::path folder = params_.run.model_dir;
  require_writable(folder, "model_dir");
  if (task_.preferences && !task_.preferences->cache.empty())
    require_writable(task_.preferences->cache, "dpo.reference_cache");
  if (!std::filesystem::is_directory(folder) || is_of_run(folder)) return;
  if (const std::string name = file_of_others(folder); !name.empty())
    throw std::invalid_argument(fmt::format(
        "model_dir {} is the folder of no run and has files, such as {}, among which a new run would "
        "write its own: give a new or an empty folder as --model_dir",
        folder.string(), name));
}

/// Throws std::invalid_argument for a model of which nothing is trained.
void session::require_trained() const {
  if (task_.model().trained_count() == 0 && !task_.adapters.empty())
    throw std::invalid_argument(fmt::format(
        "optimizer.frozen_parameters {} are the adapters, too, which alone are trained beside a frozen "
        "model: leave it out; it is of runs without adapters",
        in_brackets(params_.optimizer.frozen.words)));
  if (task_.model().trained_count() == 0)
    throw std::invalid_argument(
        fmt::format("optimizer.frozen_parameters {} are all that the model has: leave some out, and they are "
                    "trained",
                    in_brackets(params_.optimizer.frozen.words)));
}

/// The sparsity of the params for the model.
ml::sparsity_settings session::sparsity() const {
  return sparsity_of(params_.sparsity, task_.model(), task_.groups, task_.names_in_zoo);
}

ml::optimizer session::rule() const { return optimizer_for(params_.optimizer, task_.model(), task_.groups); }

i64 session::steps_per_epoch() const {
  const i64 all = task_.train.count / params_.train_input.batch_size, asked = params_.run.steps_per_epoch;
  if (asked > all)
    throw std::invalid_argument("runconfig.steps_per_epoch " + std::to_string(asked) + " is more than the " +
                                std::to_string(all) + " batches of the data: leave it out, or take fewer");
  return asked ? asked : all;
}

i64 session::last_step(i64 done) const {
  const run_params& r = params_.run;
  if (!r.max_steps && !r.num_steps && !r.num_epochs)
    throw std::invalid_argument(
        "runconfig.max_steps is missing: how long? Give max_steps, num_steps or num_epochs");
  i64 last = std::numeric_limits<i64>::max();  // the first limit that is reached
  if (r.num_epochs) last = r.num_epochs * steps_per_epoch();
  if (r.max_steps) last = std::min(last, r.max_steps);
  if (r.num_steps) last = std::min(last, done + r.num_steps);
  return last;
}

/// Throws std::invalid_argument for a learning rate of one of the steps that no optimizer can take, and for
/// an average of the weights that begins after the run has ended.
void session::require_rates(i64 first, i64 last) const {
  constexpr i64 most = 1'000'000;  // of more steps the first
  const ml::rate::schedule rate = params_.optimizer.rate();
  for (i64 step = first; step < std::min(last, first + most); ++step) ml::rate::check(rate(step), step + 1);
  const run_params& r = params_.run;
  const optimizer_params& o = params_.optimizer;
  i64 end = r.max_steps ? r.max_steps : std::numeric_limits<i64>::max();
  if (r.num_epochs) end = std::min(end, r.num_epochs * steps_per_epoch());
  if (o.ema_decay > 0 && o.ema_start >= end)
    throw std::invalid_argument(fmt::format(
        "optimizer.ema_start {}: the run ends with step {}, before its average of the weights begins: take a "
        "smaller --ema_start, or --ema_decay 0; --num_steps ends a command and not the run",
        o.ema_start, end));
}

/// Throws std::invalid_argument if the layers or workers cannot be laid out.
void session::require_layout() const {
  if (in_pipeline(params_)) {
    pipeline_plan(ml::strips(task_.model(), params_.run.strips).count(), params_.run.on.replicas);
    return;
  }
  const ml::streaming_settings how = streaming();
  ranks::streaming_plan({how.workers / how.columns, how.columns, how.num_csx});
}

std::unique_ptr<machine> session::new_wafer(const common_params& p, wsl::scaling_profile* profile) const {
  require_memory_for_batches();
  if (in_pipeline(p)) return pipeline(task_.model(), rule(), pipelining_of(p, profile));
  return ranks::streaming(task_.model(), rule(), streaming(p, profile));
}
machine& session::wafer() {
  if (!wafer_) wafer_ = new_wafer(params_, nullptr);
  return *wafer_;
}

/// Each number of threads has a wafer of its own, on the grid that it would have on so many cores, which
/// takes some steps on one thread; the run itself is not touched.
void session::predict_threads() const {
  std::vector<int> all = params_.run.threads_to_predict();
  if (all.empty()) return;
  if (ranks::size() > 1)
    throw std::invalid_argument("--predict_threads is of one process: predict without mpirun");
  if (std::find(all.begin(), all.end(), 1) == all.end()) all.insert(all.begin(), 1);  // to compare with
  std::vector<wsl::scaling_prediction> steps;
  std::string grids;
  for (const int threads : all) {
    common_params p = params_;
    p.run.on.cores = threads;
    wsl::scaling_profile profile(std::span(&threads, 1));
    const std::unique_ptr<machine> wafer = new_wafer(p, &profile);
    steps.push_back(predicted_step(*wafer, profile));
    if (in_pipeline(p)) continue;
    const ml::streaming_settings how = streaming(p);
    grids += fmt::format("{}{} x {}", grids.empty() ? "" : ", ", how.workers / how.columns, how.columns);
  }
  const auto one = std::find_if(steps.begin(), steps.end(), [](const auto& s) { return s.threads == 1; });
  const f64 alone = one->seconds;
  for (wsl::scaling_prediction& s : steps) s.speedup = alone / s.seconds;
  say("Predicted time of a step, from steps on one thread%s%s:\n%s",
      grids.empty() ? "" : ", with workers of ", grids.c_str(),
      wsl::to_text(std::span<const wsl::scaling_prediction>(steps)).c_str());
}

/// The mean of some steps, after one that takes memory into use.
wsl::scaling_prediction session::predicted_step(machine& wafer, wsl::scaling_profile& profile) const {
  constexpr int fewest = 3, most = 50;
  constexpr f64 enough = 0.5;  // seconds
  ml::batches data(task_.train, {.size = params_.train_input.batch_size,
                                 .shuffle = params_.train_input.shuffle,
                                 .seed = static_cast<u64>(params_.train_input.shuffle_seed),
                                 .part = wafer.part()});
  const ml::rate::schedule rate = params_.optimizer.rate();
  // The time does not depend on the numbers of a reference, which need not be known yet.
  const bool has_reference = task_.preferences && task_.preferences->reference;
  const std::vector<wsl::f32> reference(has_reference ? 2 * static_cast<std::size_t>(task_.train.count) : 0);
  const auto next = [&] { return taken_batch(data.next(), task_.preferences.has_value(), reference); };
  wafer.step(next().view(), rate(0));
  profile.restart();
  int count = 0;
  while (count < fewest || (count < most && profile.predictions()[0].seconds < enough))
    wafer.step(next().view(), rate(++count));
  return profile.predictions()[0] / count;
}

namespace {

/// Throws std::invalid_argument for data that do not fill a batch, with the field that says its size.
void require_full_batch(const ml::dataset& data, const input_params& p, bool drops, const char* section) {
  if (drops && data.count > 0 && data.count < p.batch_size)
    throw std::invalid_argument(fmt::format(
        "{0}.batch_size: the data have {2} examples, a batch {1}: take a smaller batch or more data{3}",
        section, p.batch_size, data.count,
        section == std::string_view("eval_input") ? ", or eval_input.drop_last false" : ""));
}

}  // namespace

ml::batches session::batches_of(const ml::dataset& data, const input_params& p, bool in_order) {
  require_full_batch(data, p, !in_order || p.drop_last, in_order ? "eval_input" : "train_input");
  return {data,
          {.size = p.batch_size,
           .shuffle = p.shuffle && !in_order,
           .seed = static_cast<u64>(p.shuffle_seed),
           .drop_last = !in_order || p.drop_last,
           .prefetch = ranks::prefetch(),
           .part = wafer().part()},
          ranks::maker_of(&data == &task_.train ? 0 : 1)};
}

void session::require_same() const {
  wsl::support::fingerprint words;
  words.add(params_text_.data(), params_text_.size()), words.add(params_.run.num_steps);
  ranks::require_same(words.value(), "set of params");
  if (ranks::have_inputs()) return;  // they compare their data
  for (const ml::dataset* d : {&task_.train, &task_.held_out})
    ranks::require_same(d->count ? ml::fingerprint_of(*d) : 0, "set of data");
}

/// The first process has all numbers and reads the checkpoint; the others receive the position of the run. To
/// evaluate it takes the model alone, whatever its optimizer kept.
ml::data_position session::load(const std::string& checkpoint, bool trains) {
  ml::trainer_base& t = wafer().run();
  ml::data_position data;
  if (ranks::root()) {
    if (trains) data = ml::load_checkpoint(checkpoint, t, for_dense_weights(params_));
    else train_app::load(checkpoint, wafer());
    unlogged_ = losses_of(checkpoint), best_ = ml::best_loss(ml::checkpoint(checkpoint));
    unlogged_pairs_ = pairs_of(checkpoint);
  }
  const ml::training_position now = t.position();
  ml::grad_scaler_state scale = now.loss_scale.value_or(ml::grad_scaler_state{});
  i64 at[] = {now.steps,
              static_cast<i64>(now.seed),
              static_cast<i64>(data.seed),
              data.epoch,
              data.example,
              std::bit_cast<i64>(scale.loss_scale),
              scale.steps_since_rescale,
              scale.overflows_since_rescale,
              scale.num_skipped_steps};
  ranks::share(at);
  scale = {std::bit_cast<f64>(at[5]), at[6], at[7], at[8]};
  t.resume({.steps = at[0], .seed = static_cast<u64>(at[1]), .loss_scale = scale});
  return {.seed = static_cast<u64>(at[2]), .epoch = at[3], .example = at[4]};
}

/// A run keeps the format of the weights that it began with; a checkpoint from elsewhere, or for evaluation,
/// may have either.
void session::check_weights(const std::string& checkpoint, bool trains) const {
  const ml::text_by_name facts = ml::checkpoint(checkpoint).facts();
  const auto fact = facts.find("weights");
  const std::string were = fact == facts.end() ? "f32" : fact->second,
                    are(name_of(params_.precision.format()));
  if (were == are) return;
  std::error_code none;
  if (trains && std::filesystem::equivalent(std::filesystem::path(checkpoint).parent_path(),
                                            params_.run.model_dir, none))
    throw std::invalid_argument(
        checkpoint + " was trained with weights that travel as " + were + ", this run has " + are +
        ": go on with " +
        (were == "f32" ? "--mixed_precision false"
                       : "--mixed_precision true --fp16_type " + std::string(were == "bf16"   ? "bfloat16"
                                                                             : were == "cb16" ? "cbfloat16"
                                                                                              : "float16")) +
        ", or begin a run from it with --checkpoint_path and another --model_dir");
  say("The checkpoint was trained with weights that travel as %s; here they do as %s\n", were.c_str(),
      are.c_str());
}

/// Requires that a checkpoint has this model, this vocabulary, and weights of a format with which it can be
/// resumed.
void session::require_fit(const std::string& checkpoint, bool trains) const {
  require_same_program(checkpoint, task_.program);
  // The adapters of a new run need not be those of the model whose weights it begins with.
  const bool begins = trains && takes_weights_only(checkpoint) && !has_adapters(checkpoint);
  require_same_model(checkpoint, begins ? task_.architecture : architecture(), params_.run.override_model);
  if (task_.require_same_meaning) task_.require_same_meaning(checkpoint);
  else require_same_vocabulary(checkpoint, task_.vocabulary);
  check_weights(checkpoint, trains);
}

/// Throws the errors with which a run cannot go on from this checkpoint, or begin with its weights. Nothing
/// of its numbers is taken.
void session::require_resumable(const std::string& checkpoint) const {
  require_fit(checkpoint, true);
  ml::checkpoint c(checkpoint);
  const ml::network model = task_.model();
  const std::vector<ml::state_array> state = ml::state_of(model, rule());
  const bool weights_only = takes_weights_only(checkpoint);
  std::vector<ml::state_array> parameters = weights_only ? ml::weights_in(c, model, state) : state;
  std::erase_if(parameters,
                [](const ml::state_array& a) { return a.what != ml::state_array::kind::parameter; });
  // Of a wrong model and a wrong optimizer the model is named, from which the other may follow.
  require_same_parameters(c, ml::named_arrays(parameters), params_text_);
  const auto is_sparse = sparse();
  if (is_sparse) {
    ml::require_masks(c, is_sparse->names(), for_dense_weights(params_));
    const auto was = c.facts().find(fact_of_sparsity);
    if (weights_only || was == c.facts().end() || was->second != is_sparse->text())
      is_sparse->require_same_share(c, weights_only ? 0 : c.step(), params_.sparsity.sparsify_checkpoint);
  }
  if (weights_only)
    return c.require(ml::named_arrays(parameters), [](std::string_view suffix) {
      return suffix[0] == '/' || suffix == ml::named_mask::suffix;
    });
  if (is_sparse) require_same_makers(c, is_sparse->makers());
  require_same_frozen(c);
  require_same_optimizer(c, state);
  require_loss_scale(c);
  require_same_seeds(checkpoint);
  ml::require_same_state(c, state, std::string(rule().name()));
}

/// Requires that what has made the patterns of a checkpoint's run is what these params say.
void session::require_same_makers(const ml::checkpoint& c, const std::string& is) const {
  const auto was = c.facts().find(fact_of_patterns);
  if (was != c.facts().end() && was->second != is)
    throw std::invalid_argument(
        fmt::format("{} is of a run whose patterns were made with {}, and these params have {}: go on with "
                    "those of the run{}",
                    c.name(), was->second, is, with_new_states(c)));
}

/// Requires that the checkpoint's run has left the same parameters as they are.
void session::require_same_frozen(const ml::checkpoint& c) const {
  const auto fact = c.facts().find(fact_of_frozen);
  const std::string was = fact == c.facts().end() ? "[]" : fact->second,
                    is = in_brackets(params_.optimizer.frozen.words);
  if (was != is)
    throw std::invalid_argument(fmt::format(
        "{} is of a run with --{} '{}', and these params have '{}': go on with those of the run{}", c.name(),
        fact_of_frozen, was, is, with_new_states(c)));
}

/// Requires that the optimizer is that of the checkpoint's run, which keeps the same arrays for each weight.
void session::require_same_optimizer(const ml::checkpoint& c,
                                     const std::vector<ml::state_array>& state) const {
  const std::string is(rule().name()), was = optimizer_of(c);
  if (was.empty())
    std::fprintf(stderr, "%s does not say by which optimizer it was trained: only its arrays are compared\n",
                 c.name().c_str());
  else if (was != is)
    throw std::invalid_argument(c.name() + " was trained by " + was + ", and these params have " + is +
                                ": go on with --optimizer_type " + was + with_new_states(c));
  if (ml::leaves_out_velocities(c, state, is)) return;
  std::set<std::string> there, here;
  for (const ml::tensor_info& t : c.tensors())
    if (const auto slash = t.name.find('/'); slash != t.name.npos) there.insert(t.name.substr(slash + 1));
  for (const ml::state_array& a : state)
    if (const auto slash = a.name.find('/'); slash != a.name.npos) here.insert(a.name.substr(slash + 1));
  if (there == here) return;
  const auto joined = [](const std::set<std::string>& names) {
    return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
  };
  // Each of these arrays is kept by one option of the rule.
  const char* const of_first = is == "sgd" ? "--momentum" : is == "rmsprop" ? "--centered" : "--beta1";
  std::set<std::string> ways;
  for (const auto& [name, option] : {std::pair("ema", "--ema_decay"),
                                     {"largest", "--amsgrad"},
                                     {"velocity", "--momentum"},
                                     {"first", of_first}})
    if (there.contains(name) != here.contains(name))
      ways.insert((here.contains(name) ? "without " : "with the run's ") + std::string(option));
  if (ways.empty()) ways.insert("with the optimizer of its run");
  throw std::invalid_argument(
      fmt::format("{} keeps {} for each weight, and {} with these params {}: go on {}{}", c.name(),
                  joined(there), is, joined(here), fmt::join(ways, " and "), with_new_states(c)));
}

/// Requires that a dynamic loss scale can go on within the limits of the params.
void session::require_loss_scale(const ml::checkpoint& c) const {
  const auto was = ml::loss_scale_in(c);
  const ml::loss_scaling_factor by = params_.optimizer.loss_scaling(params_.precision.format());
  const auto* const now = std::get_if<ml::grad_scaler_settings>(&by);
  if (!was || !now || ml::grad_scaler(*now).has(was->loss_scale)) return;
  const bool is_above = was->loss_scale > now->largest;
  throw std::invalid_argument(fmt::format(
      "{} goes on with a loss scale of {}, which is {} {}_loss_scale, {}: give --{}_loss_scale {} or "
      "{}{}",
      c.name(), was->loss_scale, is_above ? "above" : "below", is_above ? "max" : "min",
      is_above ? now->largest : now->smallest, is_above ? "max" : "min", was->loss_scale,
      is_above ? "more" : "less", with_new_states(c)));
}

/// Whether a run that begins with this checkpoint takes only its weights: not the run's own checkpoint.
bool session::takes_weights_only(const std::string& checkpoint) const {
  return params_.run.load_checkpoint_states == "model" && checkpoint == params_.run.checkpoint_path;
}

/// Requires that the seeds of the params are those with which the checkpoint's run began, which it keeps.
void session::require_same_seeds(const std::string& checkpoint) const {
  const ml::checkpoint c(checkpoint);
  const auto seed = c.whole_number<u64>("seed"), shuffle_seed = c.whole_number<u64>("data.seed");
  const bool same_order =
      !params_.train_input.shuffle || shuffle_seed == static_cast<u64>(params_.train_input.shuffle_seed);
  if (seed == static_cast<u64>(params_.run.seed) && same_order) return;
  throw std::invalid_argument(
      checkpoint + " is of a run with --seed " + std::to_string(seed) + " --train_input.shuffle_seed " +
      std::to_string(shuffle_seed) + ", and these params have " + std::to_string(params_.run.seed) + " and " +
      std::to_string(params_.train_input.shuffle_seed) +
      ": go on with the seeds of the run, or begin one with another --model_dir; --checkpoint_path " +
      checkpoint + " --load_checkpoint_states model lets it begin with these weights");
}

void session::resume_data(ml::batches& data, const ml::data_position& at,
                          const std::string& checkpoint) const {
  try {
    data.resume(at);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(std::string(e.what()) + " than those of " + checkpoint +
                                ": go on with the data of its run, or begin one on these with its weights: "
                                "--checkpoint_path " +
                                checkpoint + " --load_checkpoint_states model and another --model_dir");
  }
}

/// Throws std::invalid_argument if a new run begins with the dense weights of another program, and its params
/// do not say that masks are to be made of them, or if it begins with random weights and they do.
void session::require_masks_of_beginning() const {
  if (!params_.sparsity.are_given()) return;
  if (task_.begins_with.empty()) {
    for (const ml::sparsity::group& g : sparsity().groups)
      if (g.init_method == ml::sparsity::init_method::from_zeros && g.starts_sparse())
        throw std::invalid_argument(
            "sparsity.init_method from_zeros takes the zeros of weights that are there, and this run begins "
            "with "
            "random ones, of which none is: give random, or a model by --checkpoint_path");
    if (params_.sparsity.sparsify_checkpoint)
      throw std::invalid_argument(
          "sparsity.sparsify_checkpoint makes masks of the weights of a model, and this run begins with "
          "random "
          "ones: leave it out, or give a model by --checkpoint_path");
  }
  if (task_.begins_with.empty() || params_.sparsity.sparsify_checkpoint) return;
  throw std::invalid_argument(fmt::format(
      "{}: Did not find any sparsity masks in the model checkpoint. Let them be made of its weights, with "
      "--sparsify_checkpoint true and --init_method topk, which keeps the largest, or from_zeros, or leave "
      "sparsity "
      "out",
      task_.begins_with));
}

bool session::resume(ml::batches* data) {
  const std::string from = !ranks::root() ? ""
                           : data         ? checkpoint_to_train_from(params_.run)
                                          : checkpoint_to_look_at(params_.run);
  if (!ranks::any(!from.empty())) {
    require_masks_of_beginning();
    if (task_.begin && ranks::root()) task_.begin(wafer().run());
    return false;
  }
  const bool weights_only = data && ranks::any(ranks::root() && takes_weights_only(from));
  const auto say_masks = [&] {
    if (const std::string words = ranks::root() ? masks_of(from) : ""; !words.empty())
      say("%s\n", words.c_str());
  };
  if (ranks::root()) {
    if (!task_.begins_with.empty())
      std::fprintf(stderr,
                   "%s: the weights of %s are not used, for the run goes on from %s: leave it out, or "
                   "begin a new run with another --model_dir\n",
                   task_.program.c_str(), task_.begins_with.c_str(), from.c_str());
    if (data) require_resumable(from);
    else require_fit(from, false);
  }
  if (!data) evaluates_sparse_ = ranks::any(ranks::root() && is_sparse({from}));
  if (weights_only) {
    if (ranks::root()) {
      ml::load_weights(from, wafer().run(), for_dense_weights(params_));
      if (task_.set_adapters) task_.set_adapters(wafer().run());
    }
    say("Loaded the weights of %s; the run begins with step 0\n", from.c_str());
    say_masks();
    return false;
  }
  if (ranks::root()) kept_reference_ = reference_in(from), keeps_reference_ = from;
  const ml::data_position at = load(from, data != nullptr);
  if (data) resume_data(*data, at, from);
  if (data && ranks::root() &&
      ml::leaves_out_velocities(ml::checkpoint(from), wafer().run().state(), wafer().run().optimizer_name()))
    say("The velocities of the checkpoint are left out: sgd without momentum keeps none\n");
  say("Loaded checkpoint %s, after %lld steps\n", from.c_str(), static_cast<long long>(wafer().steps()));
  if (data) say_masks();
  return true;
}

void session::save(const ml::checkpoints& to, const ml::batches& data,
                   const ml::training_loop::unlogged& losses) {
  if (!ranks::root()) return;
  ml::text_by_name facts{{"program", task_.program},
                         {"params", params_text_},
                         {"model", lines_of(architecture())},
                         {"vocabulary", task_.vocabulary},
                         {"log.steps", std::to_string(losses.steps)},
                         {"log.losses", fmt::format("{}", losses.losses)},
                         {"weights", std::string(name_of(params_.precision.format()))}};
  if (task_.preferences) facts[fact_of_pairs] = text_of(unlogged_pairs_.so_far());
  if (!reference_.empty()) facts[fact_of_reference] = reference_;
  best_.add_facts(facts);
  if (const auto& frozen = params_.optimizer.frozen.words; !frozen.empty())
    facts[fact_of_frozen] = in_brackets(frozen);
  if (const auto is_sparse = sparse())
    facts[fact_of_patterns] = is_sparse->makers(), facts[fact_of_sparsity] = is_sparse->text();
  for (const auto& [name, text] : task_.facts) facts[name] = text;
  try {
    say("Saved checkpoint %s\n",
        ml::save_checkpoint(to, wafer().run(), data.position(), std::move(facts)).c_str());
  } catch (const ml::file_error& e) {
    const auto last = ml::checkpoints(params_.run.model_dir).newest();
    throw std::runtime_error(std::string(e.what()) + "; make room and give the same command again: it " +
                             (last ? "goes on from " + *last : "begins anew"));
  }
}

/// The loss curve of the run's folder up to a step.
ml::loss_curve session::curve_until(i64 step) const {
  if (!std::filesystem::exists(file("loss.csv"))) return {};
  try {
    ml::loss_curve curve = ml::loss_curve::from_csv(app::read_file(file("loss.csv")));
    curve.keep_until(step);
    return curve;
  } catch (const std::invalid_argument& e) {
    throw std::runtime_error(file("loss.csv").string() + ": " + e.what() +
                             ": remove the file, and the curve begins with the steps that follow");
  }
}

bool session::has_stopped_improving() const {
  const i64 patience = params_.run.early_stopping_patience;
  return patience > 0 && best_.evaluations_since() >= patience;
}

void session::train(bool and_eval) {
  const run_params& r = params_.run;
  if (!and_eval && (r.early_stopping_patience || r.keep_best_checkpoint))
    throw std::invalid_argument(
        "runconfig.early_stopping_patience and keep_best_checkpoint are of evaluations on the way: take the "
        "mode train_and_eval, or --early_stopping_patience 0 --keep_best_checkpoint false");
  if (ranks::root()) require_own_folder();
  require_same();
  require_trained();
  predict_threads();
  ml::batches data = batches_of(task_.train, params_.train_input, false);
  const ml::rate::schedule rate = params_.optimizer.rate();
  // Two runs in a folder would write over each other's checkpoints.
  std::optional<wsl::support::folder_lock> alone;
  const std::string in_use = fmt::format(
      "another process trains in {}: wait until it has ended, or take another --model_dir", r.model_dir);
  if (ranks::root() && std::filesystem::exists(r.model_dir)) alone.emplace(r.model_dir, in_use);
  const bool resumed = resume(&data);
  machine& t = wafer();
  const i64 last = last_step(t.steps()), first = t.steps();
  require_rates(first, last);
  describe();
  if (first >= last) {
    say("Nothing to do: %lld of %lld steps are done; --max_steps above that goes on\n",
        static_cast<long long>(first), static_cast<long long>(last));
    return;
  }
  if (ranks::any(has_stopped_improving())) {
    say("Nothing to do: no evaluation after that of step %lld has had a lower loss than its %.5f; "
        "--early_stopping_patience above %lld goes on\n",
        static_cast<long long>(best_.step()), best_.loss(),
        static_cast<long long>(best_.evaluations_since()));
    return;
  }
  ml::loss_curve curve;
  bool begins_anew = false;
  if (ranks::root()) {
    app::make_folder(r.model_dir);
    if (!alone) alone.emplace(r.model_dir, in_use);
  }
  find_reference(true, and_eval);
  if (ranks::root()) {
    if (!r.autoload_last_checkpoint)
      if (const auto to = set_aside(r.model_dir); !to.empty()) {
        say("The run that was in %s is set aside in %s\n", r.model_dir.c_str(), to.c_str());
        begins_anew = true;
      }
    app::write_file(file("params.yaml"), params_of + task_.program + "\n" + params_text_);
    if (task_.add_to_folder && !resumed) task_.add_to_folder(r.model_dir);
    if (resumed) curve = curve_until(first);
  }

  const auto profiles = [&](i64 step) { return step >= r.profile_from && step <= r.profile_until; };
  for (const auto& [what, step] : {std::pair("op_profiler.start_step", r.profile_from),
                                   {"dump_activations.every_steps", params_.reports.activation_steps}})
    if (step > last)
      say("%s %lld is after the last step, %lld: nothing of it is written\n", what,
          static_cast<long long>(step), static_cast<long long>(last));
  if (ranks::root() && profiles(std::max(first + 1, r.profile_from)))
    app::write_file(file("chrome_trace.json"),
                    "[]\n");  // what cannot be written is known before the first step
  std::optional<run_log> log;
  if (ranks::root()) log.emplace(params_, r.model_dir, params_text_, and_eval);
  t.run().measure_gradients(params_.optimizer.log_summaries);
  if (r.checkpoint_steps == 0 || r.checkpoint_steps >= last)
    say("There is no checkpoint before the last step, %lld, or an interruption; --checkpoint_steps N saves "
        "every N steps\n",
        static_cast<long long>(last));
  const std::unique_ptr<wsl::support::progress> bar = progress_of("steps", last);
  bar->tick(static_cast<u64>(first));
  const auto write_curve = [&] {
    app::write_file(file("loss.csv"), curve.csv());
    app::write_file(file("loss.svg"), curve.svg(task_.model_words));
    if (const std::string map = t.busy_map(); !map.empty()) app::write_file(file("layout.svg"), map);
  };
  const i64 eval_every = !and_eval ? 0 : r.eval_frequency ? r.eval_frequency : last;
  const ml::training_loop::settings how_long{.steps = last,
                                             .log_steps = r.log_steps,
                                             .checkpoint_steps = r.checkpoint_steps,
                                             .eval_steps = eval_every};
  counted_steps on_pairs(t, task_.preferences ? task_.preferences->beta : 1, unlogged_pairs_);
  ml::training_loop run =
      task_.preferences ? ml::training_loop(on_pairs, how_long) : ml::training_loop(t, how_long);
  const ml::checkpoints all_checkpoints(r.model_dir, r.max_checkpoints);
  run.on_stop([](bool asked) { return ranks::any(asked); });
  ml::op_profile profile(t.run().model());
  i64 profiled_from = 0;
  f64 waited_of_step = 0;
  const auto end_profile = [&] {
    t.keep_timeline(false);
    if (!ranks::root() || profile.steps() == 0) return;
    say("\nthe time of the steps %lld to %lld:\n%s", static_cast<long long>(profiled_from),
        static_cast<long long>(profiled_from + profile.steps() - 1), profile.table().c_str());
    app::write_file(file("chrome_trace.json"), profile.chrome_trace());
    if (profile.lost_events() > 0)
      say("chrome_trace.json lacks %lld short stretches of these steps: profile fewer\n",
          static_cast<long long>(profile.lost_events()));
    say("%s", memory_of_layers(t.run().model()).c_str());
  };
  t.keep_timeline(profiles(first + 1));
  run.on_step([&](i64 step) {
    bar->tick();
    if (profiles(step)) {
      if (profile.steps() == 0) profiled_from = step;
      t.add_to(profile, waited_of_step);
    }
    if (step == r.profile_until) end_profile();
    else t.keep_timeline(profiles(step + 1));
  });
  run.on_log([&](const ml::training_loop::progress& x) {
    const ml::preference_metrics pairs = std::exchange(unlogged_pairs_, {});
    if (!ranks::root()) return;
    const f64 tokens = static_cast<f64>(task_.tokens());
    std::string in_tokens;
    if (task_.has_texts(task_.train))
      in_tokens = ", TokenRate=" + std::to_string(std::llround(x.speed.rate() * tokens)) + " tokens/sec";
    say("| Train Device=fabric, Step=%lld, Loss=%.5f, Rate=%.2f samples/sec, GlobalRate=%.2f samples/sec%s, "
        "TimeRemaining=%s, MeanLoss=%.5f%s\n",
        static_cast<long long>(x.step), x.loss, x.speed.rate(), x.speed.global_rate(), in_tokens.c_str(),
        ml::duration_text(x.time_left).c_str(), x.mean_loss, task_.preferences ? in_log(pairs).c_str() : "");
    log->training(x, t, task_.preferences ? &pairs : nullptr);
    curve.add({.step = x.step, .loss = x.loss, .rate = x.rate, .mean = x.mean_loss});
  });
  run.on_evaluation([&](i64 step) {
    const evaluation e = with_average(params_.optimizer, t, [&] { return evaluate(); });
    if (!ranks::root()) return;
    log->evaluation_of(step, e, t.run().model());
    curve.add({.step = step, .loss = e.loss, .evaluated = true});
    // The evaluation at the end of a command's own steps is no part of the run, so that it ends where it
    // would have ended in one piece.
    if (r.eval_frequency == 0 || step % r.eval_frequency != 0) return;
    if (best_.add(step, e.loss) && r.keep_best_checkpoint)
      save(ml::checkpoints(file("best").string(), 1), data, run.since_log());
    if (has_stopped_improving()) run.stop();
  });
  run.on_checkpoint([&](i64) {
    if (!ranks::root()) return;
    write_curve();
    save(all_checkpoints, data, run.since_log());
  });
  run.resume(unlogged_);
  // The checkpoint from which a run begins may have been set aside with the run before it, so the run keeps a
  // copy of its own.
  if ((r.save_initial_checkpoint && first == 0) || (begins_anew && first > 0))
    save(all_checkpoints, data, unlogged_);

  // The sum over all processes that have wafers, measured at the same time.
  const ml::batch_part mine = t.part();
  const f64 peak = r.peak_gflops > 0
                       ? 1e9 * r.peak_gflops
                       : static_cast<f64>(ranks::sum(
                             mine.end > mine.first ? static_cast<i64>(measured_peak(r.threads)) : 0));
  const i64 skipped_before = skipped_steps(t);
  running = &run;
  // SIGUSR1 is what mpirun and srun pass on to all processes; those may be on other computers.
  constexpr int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
  std::vector<std::pair<int, void (*)(int)>> before;
  for (const int signal : ends)
    // nohup lets a run go on without its terminal
    if (const auto old = std::signal(signal, &stop_running); signal == SIGHUP && old == SIG_IGN)
      std::signal(signal, SIG_IGN);
    else before.emplace_back(signal, old);
  std::chrono::duration<f64> waited{0};  // for batches that were not ready
  run.train(
      [&] {
        const auto since = std::chrono::steady_clock::now();
        taken_batch b(data.next(), task_.preferences.has_value(), of_reference_);
        const std::chrono::duration<f64> here = std::chrono::steady_clock::now() - since;
        waited += here, waited_of_step = here.count();
        if (log && log->keeps_activations(t.steps() + 1)) log->activations(t.steps(), t, b.view());
        return b;
      },
      rate);
  // The first process writes the last checkpoint while the others are done: who ends alone would end the run.
  ranks::any(false);
  // SIGUSR1 is sent again and again, since nobody knows when processes elsewhere have begun.
  for (const auto& [signal, old] : before)
    std::signal(signal, signal == SIGUSR1 && stopped_by ? SIG_IGN : old);
  running = nullptr;
  if (!ranks::root()) return;
  const bool interrupted = run.stopped() && t.steps() < last && (stopped_by || !has_stopped_improving());
  if (interrupted) status_ = 128 + (stopped_by ? stopped_by : SIGTERM);

  if (profiles(t.steps()) && t.steps() < r.profile_until) end_profile();
  const std::string as = in_sixteen_bits(params_.precision.format());
  const ml::throughput& speed = run.speed();
  const performance done{.speed = speed,
                         .tokens = task_.tokens(),
                         .flops = operations_of_sample(t.run(), task_.train.length),
                         .peak = peak,
                         .weights = std::string(name_of(params_.precision.format()))};
  app::write_file(file("performance.json"), done.json());
  say("\nthe last step, %s:\n%s\n",
      in_pipeline(params_) ? "in a pipeline" : ("by weight streaming" + as).c_str(),
      t.report(r.report == "layers").c_str());
  if (const i64 steps = t.steps() - first; steps > 0 && speed.elapsed() > 0)
    say("data: a step waited %.3f ms for its batch in the mean, %.2f %% of the time\n",
        1e3 * waited.count() / static_cast<f64>(steps), 100 * waited.count() / speed.elapsed());
  if (const auto scale = t.run().loss_scale_state())
    say("%lld of the steps were skipped because a gradient was not finite; the loss scale is %g\n",
        static_cast<long long>(scale->num_skipped_steps), scale->loss_scale);
  const i64 done_now = t.steps() - first;
  const bool none_counts = done_now > 0 && skipped_steps(t) - skipped_before == done_now;
  if (none_counts)
    say("All %lld steps of this command were skipped, so no weight has changed: with more steps the loss "
        "scale "
        "goes on falling; a smaller --initial_loss_scale begins a new run nearer to its value\n",
        static_cast<long long>(done_now));
  if (has_stopped_improving())
    say("The held-out loss is lowest after step %lld, %.5f; the %lld evaluations since have ended the run\n",
        static_cast<long long>(best_.step()), best_.loss(),
        static_cast<long long>(best_.evaluations_since()));
  say(!interrupted ? none_counts ? "Training ended with step %lld and has trained nothing.\n"
                                 : "Training completed successfully! (step %lld)\n"
      : r.autoload_last_checkpoint
          ? "Training was stopped after step %lld; the same command goes on from there.\n"
          : "Training was stopped after step %lld; the same command without --autoload_last_checkpoint false "
            "goes on from there.\n",
      static_cast<long long>(t.steps()));
  say("Processed %lld training sample(s) in %.2f seconds: %.1f samples/sec",
      static_cast<long long>(speed.samples()), speed.elapsed(), speed.global_rate());
  if (task_.has_texts(task_.train))
    say(", %.0f tokens/sec", speed.global_rate() * static_cast<f64>(task_.tokens()));
  say(", %.1f GFLOP/s, %.1f %% of the peak", done.flops_per_second() / 1e9, 100 * done.utilization());
  say("\n%s has the loss curve (loss.svg), checkpoints and events for TensorBoard.\n", r.model_dir.c_str());
}

evaluation session::evaluate() {
  ml::batches data = batches_of(task_.held_out, params_.eval_input, true);
  const i64 wanted =
      params_.run.eval_steps ? std::min(params_.run.eval_steps, data.per_epoch()) : data.per_epoch();
  machine& t = wafer();
  const ml::network& model = t.run().model();
  const auto classes = static_cast<std::size_t>(model.width(model.logits()));
  evaluation e;
  const int most_pictures = task_.draw_picture && ranks::root() ? params_.reports.log_images : 0;
  if (task_.preferences) e.pairs.emplace();
  if (task_.pixel_classes > 0) e.pixels.emplace(task_.pixel_classes, task_.ignored_classes);
  f64 sum = 0, counts = 0;
  i64 right = 0, judged = 0;
  const std::unique_ptr<wsl::support::progress> bar = progress_of("batches", wanted);
  for (; e.batches < wanted; ++e.batches) {
    const taken_batch taken(data.next(), task_.preferences.has_value(), of_reference_held_out_);
    const ml::batch b = taken.view();
    // Each process counts the part of the batch that it has read.
    const ml::batch_part mine = t.part();
    const right_classes classes_of(model, b);
    const i64 length = classes_of.each_sequence(b.sequences);
    const i64 begin = mine.begin_in(b.sequences) * length, end = mine.end_in(b.sequences) * length;
    const i64 drawn =
        std::min<i64>(most_pictures - std::ssize(e.pictures), length > 0 ? (end - begin) / length : 0);
    std::vector<wsl::i32> said_of_drawn(static_cast<std::size_t>(drawn * length));
    std::vector<wsl::f32> of_pairs(e.pairs ? static_cast<std::size_t>(b.sequences) : 0);
    const auto count_right = [&](i64 first, std::span<const wsl::f32> logits) {
      for (i64 i = first; !logits.empty(); ++i, logits = logits.subspan(classes)) {
        if (i < begin || i >= end) continue;
        const int said = ml::segmentation_score::predicted(logits.first(classes));
        if (i - begin < drawn * length) said_of_drawn[static_cast<std::size_t>(i - begin)] = said;
        if (!classes_of.counts(i)) continue;
        ++judged, right += said == classes_of[i];
        if (e.pixels) e.pixels->add(classes_of[i], said);
      }
    };
    const auto take_pairs = [&](i64 first, std::span<const wsl::f32> numbers) {
      std::copy(numbers.begin(), numbers.end(), of_pairs.begin() + first);
    };
    const f64 counted = ml::counts_of_losses(model, b).front();
    sum += counted * (e.pairs ? t.evaluate(b, take_pairs) : t.evaluate(b, count_right));
    if (e.pairs) e.pairs->add(of_pairs, reference_in(b), task_.preferences->beta);
    counts += counted, e.samples += b.sequences;
    for (i64 k = 0; k < drawn; ++k) {
      const i64 sample = mine.begin_in(b.sequences) + k;
      const auto numbers =
          static_cast<std::size_t>(b.features.size()) / static_cast<std::size_t>(b.sequences);
      std::vector<wsl::i32> truth;
      for (i64 i = 0; i < length; ++i) truth.push_back(classes_of[sample * length + i]);
      e.pictures.push_back(task_.draw_picture(
          b.features.subspan(static_cast<std::size_t>(sample) * numbers, numbers), truth,
          std::span(said_of_drawn)
              .subspan(static_cast<std::size_t>(k * length), static_cast<std::size_t>(length))));
    }
    bar->tick();
  }
  right = ranks::sum(right), judged = ranks::sum(judged);
  if (e.pixels)
    for (i64& n : e.pixels->counts()) n = ranks::sum(n);
  e.loss = sum / counts;
  if (judged) e.accuracy = static_cast<f64>(right) / static_cast<f64>(judged);
  say("| Eval Device=fabric, GlobalStep=%lld, Batch=%lld, Loss=%.5f", static_cast<long long>(t.steps()),
      static_cast<long long>(e.batches), e.loss);
  if (e.accuracy) say(", Accuracy=%.4f", *e.accuracy);
  if (has_perplexity(model)) say(", Perplexity=%.4f", std::exp(e.loss));
  if (e.pixels)
    say(", mIOU=%.4f, DSC=%.4f, MPCA=%.4f", e.pixels->mean_iou(), e.pixels->dice(),
        e.pixels->mean_class_accuracy());
  if (e.pairs) say("%s", in_log(*e.pairs).c_str());
  say("\n");
  return e;
}

void session::eval() {
  require_same();
  trains_ = false;
  if (!resume(nullptr))
    throw std::invalid_argument("there is no checkpoint in " + params_.run.model_dir +
                                ": train first, or give --checkpoint_path");
  find_reference(false, true);
  const evaluation e = with_average(params_.optimizer, wafer(), [&] { return evaluate(); });
  if (!std::isfinite(e.loss)) {
    const run_params& r = params_.run;
    throw std::runtime_error((r.checkpoint_path.empty() ? r.model_dir : r.checkpoint_path) +
                             ": the loss of the held-out data is " +
                             (std::isnan(e.loss) ? "NaN" : "infinite") +
                             ": a weight of the model is damaged, or its configuration is another model's");
  }
  say("Evaluated %lld sample(s): loss %.5f", static_cast<long long>(e.samples), e.loss);
  if (e.accuracy) say(", accuracy %.2f %%", 100 * *e.accuracy);
  if (e.pairs) say(", of %.2f %% of the pairs the chosen one", 100 * e.pairs->accuracy());
  say("\n");
}

void session::eval_all() {
  require_same();
  if (params_.run.checkpoint_asked)
    throw std::invalid_argument(
        "eval_all evaluates the checkpoints in --model_dir: leave --checkpoint_path "
        "out, or take the mode eval");
  const ml::checkpoints all(params_.run.model_dir);
  std::vector<i64> steps = all.steps();
  i64 count = static_cast<i64>(steps.size());
  ranks::share({&count, 1});
  steps.resize(static_cast<std::size_t>(count));  // other processes may not see the folder
  ranks::share(steps);
  if (const auto newest = ranks::root() ? all.newest() : std::nullopt)
    kept_reference_ = reference_in(*newest), keeps_reference_ = *newest;
  find_reference(false, true);
  trains_ = false;
  if (ranks::any(ranks::root() && params_.sparsity.are_given())) {
    std::vector<std::string> names;
    for (const i64 step : ranks::root() ? steps : std::vector<i64>{}) names.push_back(all.name_of(step));
    evaluates_sparse_ = ranks::any(ranks::root() && is_sparse(names));
  }
  ml::best_loss lowest;
  i64 evaluated = 0;
  for (const i64 step : steps) {
    const std::string from = all.name_of(step);
    try {
      if (ranks::root()) {
        require_fit(from, false);
        ml::checkpoint(from).require_undamaged();
      }
    } catch (const ml::file_error& e) {
      if (ranks::size() > 1) throw;  // the others would wait
      std::fprintf(stderr, "%s\n", e.what());
      status_ = 1;
      continue;
    }
    load(from, false);
    lowest.add(step, with_average(params_.optimizer, wafer(), [&] { return evaluate(); }).loss);
    ++evaluated;
  }
  if (evaluated == 0)
    throw std::invalid_argument("there is no whole checkpoint in " + params_.run.model_dir + ": train first");
  if (lowest.step() < 0)
    throw std::runtime_error("none of the losses is a number: the checkpoints are of no use");
  say("Evaluated %lld checkpoint(s): the lowest loss is %.5f, of %s\n", static_cast<long long>(evaluated),
      lowest.loss(), all.name_of(lowest.step()).c_str());
}

/// Throws std::invalid_argument if the run was compared with another reference.
void session::require_same_reference(u64 fingerprint) const {
  const std::string ours = text_of_fingerprint(fingerprint);
  if (kept_reference_.empty() || kept_reference_ == ours) return;
  throw std::invalid_argument(fmt::format(
      "{} was compared with a reference whose weights have the fingerprint {}, and those of {} have {}: "
      "give the model as it was, as --reference_model{}",
      keeps_reference_, kept_reference_, task_.preferences->reference_name, ours,
      with_new_states(ml::checkpoint(keeps_reference_))));
}

/// Takes the log-probabilities of the run's reference from its files, where the reference itself is no longer
/// there. Returns false if it is; throws std::invalid_argument if the files have gone, too.
bool session::take_kept_reference(bool of_train, bool of_held_out) {
  const preference_run& p = *task_.preferences;
  if (ranks::any(ranks::root() && p.read_reference)) return false;
  u64 fingerprint = 0;
  const std::string& text = kept_reference_;
  if (ranks::root() && std::from_chars(text.data(), text.data() + text.size(), fingerprint, 16).ptr !=
                           text.data() + text.size())
    throw ml::file_error(
        fmt::format("{}: '{}' should be a fingerprint, not '{}'", keeps_reference_, fact_of_reference, text));
  for (const auto& [wanted, data, to] : {std::tuple(of_train, &task_.train, &of_reference_),
                                         {of_held_out, &task_.held_out, &of_reference_held_out_}}) {
    if (!wanted || !to->empty()) continue;
    if (ranks::root()) {
      const reference_file kept(p.cache.empty() ? params_.run.model_dir : p.cache, *data, fingerprint,
                                p.is_mean, params_.precision.format());
      std::optional<std::vector<wsl::f32>> found = text.empty() ? std::nullopt : kept.read();
      if (!found)
        throw std::invalid_argument(fmt::format(
            "dpo.reference_model {} is not there, and {} has no log-probabilities by it for the {} pairs "
            "of {}: bring it back, or name its new place with --reference_model",
            p.reference_name, p.cache.empty() ? params_.run.model_dir : p.cache, data->count,
            data == &task_.train ? "train_input" : "eval_input"));
      *to = std::move(*found);
      say("The log-probabilities of the reference are those of %s\n", kept.name().c_str());
    }
    share_numbers(*to);
  }
  reference_ = text;
  return true;
}

/// Finds the log-probabilities of the reference for the data that are needed, in a file or by computing them.
void session::find_reference(bool of_train, bool of_held_out) {
  if (!task_.preferences || !task_.preferences->reference) return;
  if (take_kept_reference(of_train, of_held_out)) return;
  const preference_run& p = *task_.preferences;
  std::optional<ml::weights> weights;
  i64 of_weights = 0;
  if (ranks::root()) {
    weights = p.read_reference();
    const u64 fingerprint = fingerprint_of(p.reference(), *weights, p.architecture);
    require_same_reference(fingerprint);
    of_weights = std::bit_cast<i64>(fingerprint), reference_ = text_of_fingerprint(fingerprint);
  }
  ranks::share({&of_weights, 1});
  std::unique_ptr<machine> by;
  for (const auto& [wanted, data, input, to] :
       {std::tuple(of_train, &task_.train, &params_.train_input, &of_reference_),
        {of_held_out, &task_.held_out, &params_.eval_input, &of_reference_held_out_}}) {
    if (!wanted || !to->empty()) continue;
    const reference_file kept(p.cache.empty() ? params_.run.model_dir : p.cache, *data,
                              std::bit_cast<u64>(of_weights), p.is_mean, params_.precision.format());
    std::optional<std::vector<wsl::f32>> found = ranks::root() ? kept.read() : std::nullopt;
    if (ranks::any(found.has_value())) {
      if (found) *to = std::move(*found);
      share_numbers(*to);
      say("The log-probabilities of the reference are those of %s\n", kept.name().c_str());
      continue;
    }
    say("The log-probabilities of %lld pairs by the reference, %s, are computed once\n",
        static_cast<long long>(data->count), p.reference_name.c_str());
    if (!by) {
      // With one column the numbers of a sequence do not depend on the grid.
      ml::streaming_settings how = streaming();
      how.columns = 1, how.loss_scaling = 1.;
      // Both models are there while the reference computes.
      const memory_need ours = need_of(params_.train_input, task_.train);
      memory_need both = memory_of(p.reference(), ml::optimizer::sgd(), how, ours.batch, task_.train.length,
                                   params_.run.on.memory);
      both.parameters += ours.parameters, both.state += ours.state;
      require_memory(both);
      by = ranks::streaming(p.reference(), ml::optimizer::sgd(), how);
      if (ranks::root()) by->run().parameters() = *weights;
      weights.reset();
    }
    *to = reference_of(*data, input->batch_size, *by);
    if (ranks::root()) kept.write(*to);
  }
}

std::vector<wsl::f32> session::reference_of(const ml::dataset& data, int batch_size, machine& by) const {
  const std::unique_ptr<wsl::support::progress> bar = progress_of("pairs", data.count);
  return ml::reference_of_all(
      data, batch_size, [&](const ml::batch& b) { return by.predict(b); },
      [&](i64 pairs) { bar->tick(static_cast<u64>(pairs)); });
}

ml::streaming_settings session::streaming() const { return streaming(params_); }
ml::streaming_settings session::streaming(const common_params& p, wsl::scaling_profile* profile) const {
  const bool is_dense = !trains_ && !evaluates_sparse_;
  return training_of(p, task_.model(), rule(), is_dense ? ml::sparsity_settings{} : sparsity(),
                     task_.train.length, profile);
}

/// The memory for training on batches of an input.
memory_need session::need_of(const input_params& input, const ml::dataset& data) const {
  const ml::network model = task_.model();
  const int sequences = input.batch_size * sequences_of_example(model);
  return in_pipeline(params_)
             ? memory_of(model, rule(), sequences, data.length, params_.run.on.memory)
             : memory_of(model, rule(), streaming(), sequences, data.length, params_.run.on.memory);
}

void session::require_memory_for_batches() const {
  require_memory(need_of(params_.train_input, task_.train));
  if (task_.held_out.count) require_memory(need_of(params_.eval_input, task_.held_out));
}

void session::validate() {
  require_layout();
  require_trained();
  require_rates(0, last_step(0));
  describe();
  say("%s\n", text_of(need_of(params_.train_input, task_.train)).c_str());
  require_memory_for_batches();
  for (const auto& [data, input, drop_last] :
       {std::tuple(&task_.train, &params_.train_input, true),
        {&task_.held_out, &params_.eval_input, params_.eval_input.drop_last}})
    if (data->count || data == &task_.train) {
      require_full_batch(*data, *input, drop_last, data == &task_.train ? "train_input" : "eval_input");
      ml::batches(*data, {.size = input->batch_size, .drop_last = drop_last, .prefetch = 0});
    }
  if (!params_.run.memory_folder.empty() && ranks::root())
    say("%s\n", disk_text(task_.model(), rule(), streaming(), need_of(params_.train_input, task_.train),
                          task_.train.length)
                    .c_str());
  predict_threads();
  if (params_.run.threads == 0) wsl::default_threads();  // throws if WSL_THREADS is no number
  if (ranks::root()) require_own_folder();
  const std::string from = ranks::root() ? checkpoint_to_train_from(params_.run) : "";
  if (from.empty()) require_masks_of_beginning();
  if (task_.begin && !ranks::any(!from.empty()))
    if (machine& empty = wafer(); ranks::root()) task_.begin(empty.run());
  if (from.empty()) return;
  require_resumable(from);
  if (takes_weights_only(from)) return;
  ml::batches data(task_.train, {.size = params_.train_input.batch_size, .prefetch = 0});
  resume_data(data, ml::place_in_data(ml::checkpoint(from)), from);
}

void session::describe() const {
  const ml::network model = task_.model();
  say("%s: %s, %lld parameters\n", task_.program.c_str(), task_.model_words.c_str(),
      static_cast<long long>(model.parameter_count()));
  if (const i64 trained = model.trained_count(), all = model.parameter_count(); trained < all)
    say("%s\n",
        fmt::format("{} of these numbers are trained, {:.3g} %: the gradients of a pass are {}, not {}",
                    trained, 100 * static_cast<f64>(trained) / static_cast<f64>(all),
                    app::size_text(4 * static_cast<f64>(trained)), app::size_text(4 * static_cast<f64>(all)))
            .c_str());
  if (const auto is_sparse = sparse()) {
    const std::string from = ranks::root() ? checkpoint_to_train_from(params_.run) : "";
    const i64 done = from.empty() || takes_weights_only(from) ? 0 : ml::checkpoint(from).step();
    say("%s\n", is_sparse->words(params_.precision.format(), done, last_step(0), from).c_str());
  }
  say("%s\n", task_.data_words.c_str());
  // The whole line is known before it is said, so an error has a line of its own.
  const std::vector<std::string> limits = limits_of(params_.run);
  say("%s\n",
      fmt::format("batches of {}{}, {} steps an epoch, {} steps in all{}; {}{}",
                  params_.train_input.batch_size, task_.preferences ? " pairs" : "", steps_per_epoch(),
                  last_step(0),
                  limits.size() > 1 ? fmt::format(", the first limit of {}", fmt::join(limits, ", ")) : "",
                  placement(), ranks::size() > 1 ? fmt::format(", on {} processes", ranks::size()) : "")
          .c_str());
  const auto scaled = std::count_if(model.parameters().begin(), model.parameters().end(),
                                    [](const ml::parameter& a) { return a.rate_factor != 1; });
  if (scaled)
    say("the learning rates of %lld of %lld parameters have factors\n", static_cast<long long>(scaled),
        static_cast<long long>(model.parameters().size()));
}

/// Where a step of training runs, in words.
std::string session::placement() const {
  const run_params& r = params_.run;
  if (in_pipeline(params_))
    return fmt::format(
        "a pipeline{} of {} strips{}", in_sixteen_bits(params_.precision.format()), r.strips,
        r.on.replicas > 1 ? fmt::format(", {} replicas", r.on.replicas)
        : r.multireplica
            ? ", one replica: more would have less than a core for each strip, or do not divide the batch "
              "(--replicas says how many)"
            : "");
  const ml::streaming_settings how = streaming();
  return fmt::format("weight streaming{} to {} wafer{} of {} x {} workers{}", in_sixteen_bits(how.precision),
                     r.num_csx, r.num_csx > 1 ? "s" : "", how.workers / how.columns, how.columns,
                     micro_batches(how));
}

/// The micro-batches of a step that has several, in words. They are as even as can be, as in the Model Zoo,
/// so they may be smaller than the params say.
std::string session::micro_batches(const ml::streaming_settings& how) const {
  // Micro-batches have whole examples, of which pairs are two sequences each.
  const int each = params_.train_input.batch_size / how.num_csx, k = sequences_of_example(task_.model()),
            asked = how.micro_batch_size / k, passes = ml::micro_batch::count(each, 1, asked),
            largest = (each + passes - 1) / passes;
  if (passes == 1) return params_.train_input.micro_batch_size.is_auto ? ", in one micro-batch" : "";
  return fmt::format(
      ", in {} micro-batches of {}{} {}{}{}{}", passes, each % passes ? "at most " : "", largest,
      k > 1 ? "pair" : "sample", largest > 1 ? "s" : "", how.num_csx > 1 ? " on each" : "",
      largest == asked ? "" : fmt::format(" (micro_batch_size {} does not divide {})", asked, each));
}

void session::require_one_replica(const std::string& mode) const {
  if (in_pipeline(params_) && params_.run.on.replicas > 1)
    throw std::invalid_argument(fmt::format(
        "runconfig: multi-replica is for the mode train only, and {} has {} replicas of the model: "
        "take the mode train, or --multireplica false --replicas 1",
        mode, params_.run.on.replicas));
}

void session::compile() const {
  describe();
  const estimate_of what{.sequences = params_.train_input.batch_size * sequences_of_example(task_.model()),
                         .length = task_.train.length,
                         .rule = rule()};
  const ml::network model = task_.model();
  say("%s", (in_pipeline(params_) ? estimate(model, pipelining_of(params_), what)
                                  : estimate(model, streaming(), what))
                .c_str());
  say("%s", memory_of_layers(model).c_str());
}

/// The memory of a step's layers, for the sequences that pass together on a wafer.
std::string session::memory_of_layers(const ml::network& model) const {
  const int k = sequences_of_example(model), each = k * params_.train_input.batch_size / params_.run.num_csx,
            micro = in_pipeline(params_) ? k * params_.train_input.micro_batch_size.size
                                         : streaming().micro_batch_size,
            together = micro > 0 ? std::min(micro, each) : each;
  return fmt::format("\nthe memory of the layers, for {} sequence{} that pass together:\n{}", together,
                     together == 1 ? "" : "s",
                     ml::memory_table(ml::memory_by_layer(model, rule(), together, task_.train.length)));
}

void freeze(ml::network& model, const optimizer_params& p, const named_groups& groups) {
  with_name("optimizer.frozen_parameters", [&] {
    for (const std::string& name : p.frozen.words) model.freeze(patterns_of(name, groups));
  });
}

ml::optimizer optimizer_for(const optimizer_params& p, const ml::network& model, const named_groups& groups) {
  ml::optimizer o = p.rule();
  for (ml::parameter_group& g : o.groups) {
    std::vector<std::string> all;
    for (const std::string& name : g.patterns) {
      const auto named =
          std::find_if(groups.begin(), groups.end(), [&](const auto& x) { return x.first == name; });
      if (named == groups.end()) all.push_back(name);
      else  // a group may have patterns for layers that this model does not have
        std::copy_if(named->second.begin(), named->second.end(), std::back_inserter(all),
                     [&](const std::string& pattern) {
                       return std::any_of(
                           model.parameters().begin(), model.parameters().end(),
                           [&](const ml::parameter& a) { return ml::parameter_group::is_match(pattern, a); });
                     });
    }
    g.patterns = std::move(all);
  }
  ml::updates_of(o, model.parameters());
  return o;
}

std::string checkpoint_to_look_at(const run_params& r) {
  if (r.checkpoint_asked) return r.checkpoint_path;
  const std::string newest = newest_checkpoint(r.model_dir);
  return newest.empty() ? r.checkpoint_path : newest;
}

std::string checkpoint_to_train_from(const run_params& r) {
  const std::string newest = r.autoload_last_checkpoint ? newest_checkpoint(r.model_dir) : "";
  if (newest.empty()) return r.checkpoint_path;
  std::error_code none;
  if (r.checkpoint_asked && !std::filesystem::equivalent(newest, r.checkpoint_path, none))
    std::fprintf(stderr,
                 "%s has a later checkpoint than its beginning, --checkpoint_path: the run goes on from "
                 "that; --autoload_last_checkpoint false sets it aside and begins anew\n",
                 r.model_dir.c_str());
  return newest;
}

void require_same_program(const std::string& checkpoint, const std::string& program) {
  const ml::text_by_name facts = ml::checkpoint(checkpoint).facts();
  const auto fact = facts.find("program");  // those of earlier versions do not say it
  const auto kind = [](const std::string& x) { return x == "wsl-zoo" ? "wsl-gpt" : x; };  // of decoders
  if (fact != facts.end() && kind(fact->second) != kind(program))
    throw std::invalid_argument(
        fmt::format("{} is of {}, not of {}: give it to that program, or give "
                    "another checkpoint",
                    checkpoint, fact->second, program));
}

void require_same_model(const std::string& checkpoint, const named_words& ours, bool override_it) {
  const ml::text_by_name facts = ml::checkpoint(checkpoint).facts();
  const auto fact = facts.find("model");
  if (fact == facts.end()) {
    std::fprintf(stderr, "%s does not say which model it is of: only shapes are compared\n",
                 checkpoint.c_str());
    return;
  }
  const auto theirs = words_of(fact->second);
  if (std::none_of(ours.begin(), ours.end(), [&](const auto& o) { return theirs.contains(o.first); }) &&
      !theirs.empty() && !ours.empty())
    throw std::invalid_argument(checkpoint + " is of another program's model, which has " +
                                theirs.begin()->first + " and no " + ours.front().first +
                                ": give a checkpoint of this program");
  std::string differs;
  // A field of adapters that is not there is none of the run's.
  const auto absent = [](const std::string& name, const std::string& value) {
    const bool is_of_adapters = name.starts_with("lora_") || name == "target_modules" ||
                                name == "use_rslora" || name == "rank_pattern" || name == "alpha_pattern";
    return !is_of_adapters ? "the usual" : value == "true" ? "false" : "none";
  };
  for (const auto& [name, value] : ours)
    if (const auto there = theirs.find(name); there == theirs.end() || there->second != value)
      differs += (differs.empty() ? "" : ", ") + name + " is " +
                 (there == theirs.end() ? absent(name, value) : there->second) + " there, not " + value;
  for (const auto& [name, value] : theirs)
    if (std::none_of(ours.begin(), ours.end(), [&](const auto& o) { return o.first == name; }))
      differs += (differs.empty() ? "" : ", ") + name + " is " + value + " there, not " + absent(name, value);
  if (differs.empty()) return;
  const std::string params = (std::filesystem::path(checkpoint).parent_path() / "params.yaml").string();
  if (!override_it)
    throw std::invalid_argument(
        checkpoint + " is of another model: " + differs +
        ": leave these options out, or --override_model true takes its weights for this model" +
        (std::filesystem::exists(params)
             ? "; where none of them is given, --params " + params + " has its settings"
             : "") +
        (differs.starts_with("vocab_size")
             ? "; on a text of other characters --checkpoint_path " + checkpoint +
                   " --load_checkpoint_states model takes its weights and vocabulary"
             : ""));
  std::fprintf(stderr, "%s is taken for another model: %s\n", checkpoint.c_str(), differs.c_str());
}

void require_same_vocabulary(const std::string& checkpoint, const std::string& ours) {
  if (fact_of(checkpoint, "vocabulary") != ours)
    throw std::invalid_argument(checkpoint +
                                " was trained with another vocabulary: take the text that it was trained "
                                "with, or begin a run in another "
                                "--model_dir; with --checkpoint_path " +
                                checkpoint +
                                " --load_checkpoint_states model it has these weights and their vocabulary");
}

std::string fact_of(const std::string& checkpoint, const std::string& name) {
  return ml::checkpoint(checkpoint).fact(name);
}
bool has_adapters(const std::string& checkpoint) {
  const ml::checkpoint c(checkpoint);
  return std::any_of(c.tensors().begin(), c.tensors().end(),
                     [](const ml::tensor_info& t) { return t.name.ends_with(ml::adapter::end_of_name); });
}
void load(const std::string& checkpoint, machine& m) { ml::load_model(checkpoint, m.run()); }

std::vector<std::pair<std::string, std::string>> common_modes() {
  return {{"train", "train, going on from the last checkpoint in model_dir if there is one"},
          {"eval", "evaluate a checkpoint on the held-out data"},
          {"eval_all", "evaluate all checkpoints in model_dir on the held-out data"},
          {"train_and_eval", "train, and evaluate on the way and at the end"},
          {"validate", "check the configuration, the data and the shapes; say what would be done"},
          {"compile", "show the placement on the wafer, memory, colors and cycles; nothing runs"}};
}

mode_names together(std::initializer_list<mode_names> some) {
  mode_names all;
  for (const mode_names& names : some) all.insert(all.end(), names.begin(), names.end());
  return all;
}

std::vector<readers> common_readers() {
  const kinds_of_modes m;
  const mode_names computes = together({m.trains, m.evaluates});
  std::vector<readers> all{{"optimizer", m.trains},
                           {"sparsity", m.trains},
                           {"optimizer.ema_decay", together({m.trains, m.evaluates, m.uses_weights})},
                           {"step", m.trains},
                           {"wandb", m.trains},
                           {"dump_activations", m.trains},
                           {"op_profiler", m.trains},
                           {"runconfig.log_histograms", m.trains},
                           {"runconfig.log_images", m.evaluates_on_the_way},
                           {"prediction", m.trains},
                           {"checkpoint", together({m.trains, m.evaluates, m.uses_weights})},
                           {"runconfig.eval_steps", together({m.evaluates_on_the_way, m.evaluates})},
                           {"runconfig.eval_frequency", m.evaluates_on_the_way}};
  for (const char* name : {"shuffle", "shuffle_seed", "drop_last"})
    all.push_back({fmt::format("train_input.{}", name), m.trains});
  for (const char* name :
       {"load_checkpoint_states", "autoload_last_checkpoint", "max_steps", "num_steps", "num_epochs",
        "steps_per_epoch", "log_steps", "checkpoint_steps", "save_initial_checkpoint", "max_checkpoints",
        "keep_best_checkpoint", "early_stopping_patience", "peak_gflops", "seed"})
    all.push_back({fmt::format("runconfig.{}", name), m.trains});
  all.push_back({"processes", computes});
  for (const char* name : {"memory_folder", "recompute", "memory_gi", "multireplica", "replicas"})
    all.push_back({fmt::format("runconfig.{}", name), computes});
  for (const char* name : {"num_csx", "execution_strategy", "workers", "grid", "strips"})
    all.push_back({fmt::format("runconfig.{}", name), together({computes, m.verifies})});
  return all;
}

bool run_mode(const std::string& mode, session& s) {
  const ranks::apart from_input_workers;
  if (from_input_workers.serves()) return true;
  if (mode == "train_and_eval" || mode == "eval" || mode == "eval_all") s.require_one_replica(mode);
  if (mode == "train" || mode == "train_and_eval") return s.train(mode == "train_and_eval"), true;
  if (mode == "eval") return s.eval(), true;
  if (mode == "eval_all") return s.eval_all(), true;
  if (mode == "validate") return s.validate(), true;
  if (mode == "compile") return s.compile(), true;
  return false;
}

}  // namespace train_app
