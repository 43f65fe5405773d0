// SPDX-License-Identifier: MIT
#include "trainer_form.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>

#include "../nearest.hpp"

namespace train_app {
namespace {

/// Two names of one setting.
struct name_in_both {
  const char *v2, *v1;
};
constexpr name_in_both names_in_both[] = {
    {"init.model_dir", "runconfig.model_dir"},
    {"init.seed", "runconfig.seed"},
    {"init.backend.backend_type", "runconfig.target_device"},
    {"init.backend.compile_dir", "runconfig.compile_dir"},
    {"init.backend.compile_only", "runconfig.compile_only"},
    {"init.backend.validate_only", "runconfig.validate_only"},
    {"init.backend.enable_distributed", "runconfig.enable_distributed"},
    {"init.backend.main_process_id", "runconfig.main_process_id"},
    {"init.backend.dist_backend", "runconfig.dist_backend"},
    {"init.backend.init_method", "runconfig.init_method"},
    {"init.backend.sync_batchnorm", "runconfig.sync_batchnorm"},
    {"init.backend.cluster_config.num_csx", "runconfig.num_csx"},
    {"init.backend.cluster_config.max_wgt_servers", "runconfig.num_wgt_servers"},
    {"init.backend.cluster_config.max_act_per_csx", "runconfig.num_act_servers"},
    {"init.backend.cluster_config.num_workers_per_csx", "runconfig.num_workers_per_csx"},
    {"init.backend.cluster_config.mgmt_address", "runconfig.mgmt_address"},
    {"init.backend.cluster_config.mgmt_namespace", "runconfig.mgmt_namespace"},
    {"init.backend.cluster_config.credentials_path", "runconfig.credentials_path"},
    {"init.backend.cluster_config.mount_dirs", "runconfig.mount_dirs"},
    {"init.backend.cluster_config.python_paths", "runconfig.python_paths"},
    {"init.backend.cluster_config.job_labels", "runconfig.job_labels"},
    {"init.backend.cluster_config.job_priority", "runconfig.job_priority"},
    {"init.backend.cluster_config.job_time_sec", "runconfig.job_time_sec"},
    {"init.backend.cluster_config.disable_version_check", "runconfig.disable_version_check"},
    {"init.precision.enabled", "model.mixed_precision"},
    {"init.precision.fp16_type", "model.fp16_type"},
    {"init.precision.precision_opt_level", "runconfig.precision_opt_level"},
    {"init.precision.loss_scaling_factor", "optimizer.loss_scaling_factor"},
    {"init.precision.initial_loss_scale", "optimizer.initial_loss_scale"},
    {"init.precision.steps_per_increase", "optimizer.steps_per_increase"},
    {"init.precision.min_loss_scale", "optimizer.min_loss_scale"},
    {"init.precision.max_loss_scale", "optimizer.max_loss_scale"},
    {"init.precision.max_gradient_norm", "optimizer.max_gradient_norm"},
    {"init.precision.max_gradient_value", "optimizer.max_gradient_value"},
    {"init.loop.num_steps", "runconfig.num_steps"},
    {"init.loop.max_steps", "runconfig.max_steps"},
    {"init.loop.num_epochs", "runconfig.num_epochs"},
    {"init.loop.steps_per_epoch", "runconfig.steps_per_epoch"},
    {"init.loop.eval_frequency", "runconfig.eval_frequency"},
    {"init.loop.eval_steps", "runconfig.eval_steps"},
    {"init.loop.grad_accum_steps", "optimizer.grad_accum_steps"},
    {"init.checkpoint.steps", "runconfig.checkpoint_steps"},
    {"init.checkpoint.autoload_last_checkpoint", "runconfig.autoload_last_checkpoint"},
    {"init.checkpoint.save_initial_checkpoint", "runconfig.save_initial_checkpoint"},
    {"init.checkpoint.disable_strict_checkpoint_loading", "runconfig.disable_strict_checkpoint_loading"},
    {"init.logging.log_steps", "runconfig.log_steps"},
    {"init.logging.log_level", "runconfig.logging"},
    {"init.logging.wsc_log_level", "runconfig.wsc_log_level"},
    {"init.logging.enable_act_frequency", "runconfig.enable_act_frequency"},
    {"fit.ckpt_path", "runconfig.checkpoint_path"}};
/// Maps whose members have the same names in both forms.
constexpr name_in_both maps_in_both[] = {
    {"init.model", "model"}, {"fit.train_dataloader", "train_input"}, {"fit.val_dataloader", "eval_input"}};
/// Members of callbacks; a name of flags may also be a path of maps.
constexpr name_in_both callbacks_in_both[] = {
    {"ScopedTrainFlags.csx.performance.micro_batch_size", "train_input.micro_batch_size"},
    {"ScopedValidateFlags.csx.performance.micro_batch_size", "eval_input.micro_batch_size"},
    {"LoadCheckpointStates.load_checkpoint_states", "runconfig.load_checkpoint_states"},
    {"KeepNCheckpoints.n", "runconfig.max_checkpoints"},
    {"DumpActivations.outputs", "dump_activations.outputs"},
    {"DumpActivations.every_steps", "dump_activations.every_steps"},
    {"DumpActivations.buffer_steps", "dump_activations.buffer_steps"},
    {"OpProfiler.start_step", "op_profiler.start_step"},
    {"OpProfiler.end_step", "op_profiler.end_step"},
    {"OpProfiler.host_activities", "op_profiler.host_activities"}};

/// A setting of the V2 form that changes no result here, and the reason.
struct ignored_name {
  const char *name, *why;
};
constexpr ignored_name ignored_names[] = {
    {"init.device", "all is computed on this computer"},
    {"init.backend.cluster_config.workflow_id", "there is no cluster here"},
    {"init.precision.log_loss_scale", "dynamic loss scales are in the events anyway"},
    {"init.checkpoint.checkpoint_name", "checkpoints have names of their own here"}};
/// Settings that would change a result, and the reason why they are not honoured.
constexpr ignored_name refused_names[] = {
    {"validate.ckpt_path",
     "the modes of a file share its settings here: leave it out, and give eval --checkpoint_path"},
    {"validate_all.ckpt_paths", "eval_all takes all checkpoints in model_dir: leave it out"}};
/// Flags of the machine that change no result, and where they begin if there are many.
constexpr const char* flags_of_machine[] = {"csx.performance.transfer_processes",
                                            "csx.precision.optimization_level"};
constexpr const char* flags_of_debugging = "csx.debug.";
constexpr const char* micro_batch_flag = "csx.performance.micro_batch_size";
constexpr const char *only_says = "it only reports",
                     *of_machine = "it is of the wafer's compiler and cluster",
                     *after_training = "it evaluates on other tasks, beside the training";
constexpr ignored_name ignored_callbacks[] = {
    {"GlobalFlags", of_machine},
    {"ScopedTrainFlags", of_machine},
    {"ScopedValidateFlags", of_machine},
    {"DebugArgsPath", of_machine},
    {"CheckLoss", "a loss that is no number ends a run in any case"},
    {"LogSparsity", only_says},
    {"LogInputSummaries", only_says},
    {"LogOptimizerParamGroup", only_says},
    {"LogEvalMetrics", only_says},
    {"ModelEvalMetrics", only_says},
    {"CountParams", only_says},
    {"RateProfiler", only_says},
    {"FlopUtilization", only_says},
    {"MemoryProfiler", only_says},
    {"TimeRemaining", only_says},
    {"DurationProfiler", only_says},
    {"Profiler", only_says},
    {"SavePerformanceData", only_says},
    {"DumpAvailableTensorNames", only_says},
    {"SummaryTensorListener", only_says},
    {"NormTensorListener", only_says},
    {"Listener", only_says},
    {"EmailNotification", only_says},
    {"ModelZooParamsMetadata", only_says},
    {"HFCacheDir", "nothing is loaded from Hugging Face's servers"},
    {"SaveCheckpointState", "it saves parts of a checkpoint once more"},
    {"EleutherEvalHarness", after_training},
    {"ScopedEleutherEvalHarnessFlags", after_training},
    {"BigCodeEvalHarness", after_training},
    {"ScopedBigCodeEvalHarnessFlags", after_training}};
constexpr ignored_name refused_callbacks[] = {
    {"WeightCompression", "compressed weights are not supported"},
    {"SelectiveGrad",
     "a choice of gradients is not supported; optimizer.frozen_parameters freezes parameters"},
    {"Lora", "adapters are fields of the section lora here, see docs/guide/finetuning.md"}};
constexpr const char* loggers[] = {"TensorBoardLogger", "ProgressLogger", "WandbLogger"};

/// The place for what only this program has, by the names of V1.
constexpr const char* own = "init.wsl";

template <class Rows>
auto row_of(const Rows& rows, std::string_view name) {
  return std::find_if(std::begin(rows), std::end(rows), [&](const auto& row) { return row.name == name; });
}
template <std::size_t N>
const char* v1_of(const name_in_both (&rows)[N], std::string_view v2) {
  for (const name_in_both& row : rows)
    if (row.v2 == v2) return row.v1;
  return nullptr;
}
template <std::size_t N>
const char* v2_of(const name_in_both (&rows)[N], std::string_view v1) {
  for (const name_in_both& row : rows)
    if (row.v1 == v1) return row.v2;
  return nullptr;
}

/// "LinearLR" as "Linear".
std::string without_end(const std::string& name, std::string_view end) {
  return name.size() > end.size() && name.ends_with(end) ? name.substr(0, name.size() - end.size()) : name;
}

/// Whether two nodes say the same.
bool are_same(const YAML::Node& a, const YAML::Node& b) {
  if (a.is(b)) return true;
  if (const std::optional<bool> x = truth_of(a), y = truth_of(b); x && y) return x == y;
  const auto text_of = [](const YAML::Node& n) {
    std::string text = n.IsScalar() ? n.Scalar() : YAML::Dump(n);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  return text_of(a) == text_of(b);
}

/// Reads the V2 form.
class trainer_reader {
 public:
  trainer_reader(std::string file, mistakes& found, std::vector<std::string>& ignored,
                 std::map<std::string, std::string>* names)
      : file_(std::move(file)), found_(found), ignored_(ignored), names_(names) {}

  YAML::Node read(const YAML::Node& root) {
    for (const auto& [name, content] : pairs_of(root, file_, "", found_))
      if (name == "trainer") trainer(content);
      else
        found_.add(place(file_, content) + ": " + name +
                   " stands beside trainer: a file of the V2 form has nothing else on its first level");
    YAML::Node all(YAML::NodeType::Map);
    for (auto& [name, section] : sections_) all[name] = section;
    return all;
  }

 private:
  void refuse_here(const YAML::Node& at, const std::string& sentence) {
    found_.add(place(file_, at) + ": " + sentence);
  }
  void ignore(const YAML::Node& at, const std::string& name, const std::string& why) {
    if (!at.IsNull()) ignored_.push_back(place(file_, at) + ": " + name + " has no effect here: " + why);
  }
  /// Sets "section.name", unless it has another value.
  void set(const std::string& v1, const YAML::Node& value, const std::string& v2) {
    if (value.IsNull()) return;
    const std::size_t dot = v1.find('.');
    const std::string section = v1.substr(0, dot), name = v1.substr(dot + 1);
    YAML::Node& map = section_at(section, value);
    if (const auto before = given_.find(v1); before != given_.end() && !are_same(before->second, value))
      return refuse_here(value, v2 + " is " + shown(value) + ", and " + place(file_, before->second) +
                                    " says otherwise of the same, " + shown(before->second) +
                                    ": leave one of them out");
    given_.erase(v1), given_.emplace(v1, value);  // an assignment to a node would change what it refers to
    if (names_)
      names_->insert_or_assign(v1, v2.starts_with("trainer.") ? v2 : "trainer.init.callbacks: " + v2);
    map[name] = value;
  }
  YAML::Node& section_at(const std::string& name, const YAML::Node& there) {
    const auto at =
        std::find_if(sections_.begin(), sections_.end(), [&](const auto& s) { return s.first == name; });
    if (at != sections_.end()) return at->second;
    sections_.emplace_back(name, at_line_of(there, "{}"));
    return sections_.back().second;
  }

  void trainer(const YAML::Node& content) {
    if (content.IsSequence())
      return refuse_here(content,
                         "trainer is a list, of several runs one after the other: make a file of each");
    if (content.IsNull()) return;
    if (!content.IsMap())
      return refuse_here(content, "trainer is a map with init and fit, not " + shown(content));
    std::vector<std::pair<std::string, YAML::Node>> rest;
    for (const auto& [name, part] : pairs_of(content, file_, "trainer", found_))
      if (name != "init" && name != "fit" && name != "validate" && name != "validate_all")
        refuse_here(part, "trainer." + name +
                              " is no part of a trainer; there are init, fit, validate, validate_all");
      else if (name == "fit" || name == "init") found_.of([&, &of = name, &in = part] { walk(in, of); });
      else rest.emplace_back(name, part);
    for (const auto& [name, part] : rest) found_.of([&, &of = name, &in = part] { walk(in, of); });
    if (own_rate_ && given_.contains("optimizer.learning_rate"))
      ignore(*own_rate_, "the learning_rate of trainer.init.optimizer", "schedulers set it");
    else if (own_rate_) set("optimizer.learning_rate", *own_rate_, "trainer.init.optimizer.learning_rate");
    // A precision that is given is enabled unless it says otherwise; so it is bfloat16.
    if (precision_) {
      if (!given_.contains("model.mixed_precision"))
        set("model.mixed_precision", at_line_of(*precision_, "true"), "trainer.init.precision.enabled");
      if (!given_.contains("model.fp16_type"))
        set("model.fp16_type", at_line_of(*precision_, "bfloat16"), "trainer.init.precision.fp16_type");
    }
  }

  /// Reads a map of the V2 form, "init.precision" for instance.
  void walk(const YAML::Node& map, const std::string& path) {
    if (map.IsNull()) return;
    if (path == "init.precision") precision_.emplace(map);
    for (const auto& [name, value] : pairs_of(map, file_, "trainer." + path, found_)) {
      const std::string here = path + "." + name;
      found_.of([&, &of = value] { one(of, here, path); });
    }
  }

  void one(const YAML::Node& value, const std::string& path, const std::string& above) {
    if (const char* const v1 = v1_of(names_in_both, path)) return set(v1, value, "trainer." + path);
    if (const auto row = row_of(ignored_names, path); row != std::end(ignored_names))
      return ignore(value, "trainer." + path, row->why);
    if (const auto row = row_of(refused_names, path); row != std::end(refused_names) && !value.IsNull())
      return refuse_here(value, "trainer." + path + " would change the result, and " + row->why);
    if (path == "init.optimizer") return optimizer(value);
    if (path == "init.schedulers" || path == "init.scheduler") return schedulers(value, path);
    if (path == "init.sparsity") return sparsity(value);
    if (path == "init.callbacks") return callbacks(value);
    if (path == "init.loggers")
      return each_of(value, path, [&](const std::string& name, const YAML::Node& of) { logger(name, of); });
    if (path == own) return own_sections(value);
    if (path == "init.model" || path == "fit.train_dataloader")
      return members(value, path, v1_of(maps_in_both, path));
    if (path == "fit.val_dataloader" || path == "validate.val_dataloader" ||
        path == "validate_all.val_dataloaders")
      return held_out(value, path);
    if (const std::array maps{"init.backend", "init.backend.cluster_config", "init.precision", "init.loop",
                              "init.checkpoint", "init.logging"};
        std::find(maps.begin(), maps.end(), path) != maps.end())
      return walk(value, path);
    std::vector<std::string> known;
    const auto add = [&](std::string_view name) {
      if (name.starts_with(above + ".") && name.find('.', above.size() + 1) == name.npos)
        known.emplace_back(name.substr(above.size() + 1));
    };
    for (const name_in_both& row : names_in_both) add(row.v2);
    for (const ignored_name& row : ignored_names) add(row.name);
    for (const char* map :
         {"init.model", "init.optimizer", "init.schedulers", "init.sparsity", "init.callbacks",
          "init.loggers", "init.backend", "init.backend.cluster_config", "init.precision", "init.loop",
          "init.checkpoint", "init.logging", "fit.train_dataloader", "fit.val_dataloader",
          "validate.val_dataloader", "validate_all.val_dataloaders", own})
      add(map);
    refuse_here(
        value, "trainer." + path + " is no field" + app::nearest_words(path.substr(above.size() + 1), known));
  }

  /// Takes the members of a map as those of a section.
  void members(const YAML::Node& map, const std::string& path, const std::string& section) {
    if (map.IsNull()) return;
    if (map.IsSequence())
      return refuse_here(map, "trainer." + path + " is a list; this program has one for a run");
    section_at(section, map);
    for (const auto& [name, value] : pairs_of(map, file_, "trainer." + path, found_))
      set(section + "." + name, value, "trainer." + path + "." + name);
  }

  /// The data that are held out, which all commands of a file share.
  void held_out(const YAML::Node& value, const std::string& path) {
    if (value.IsNull()) return;
    const YAML::Node data = value.IsSequence() && value.size() == 1 ? value[0] : value;
    if (data.IsSequence())
      return refuse_here(value, "trainer." + path + " has " + std::to_string(data.size()) +
                                    " parts; a run has one part that is held out here: make a file of each");
    if (!held_out_) {
      held_out_.emplace(data);
      return members(data, path, "eval_input");
    }
    if (!are_same(*held_out_, data))
      refuse_here(data, "trainer." + path + " has other data than " + place(file_, *held_out_) +
                            ", and a run has one part that is held out here: make a file of each");
  }

  /// Calls f with the name and the settings of each part of a list of maps with one name each.
  template <class F>
  void each_of(const YAML::Node& list, const std::string& path, F f) {
    if (list.IsNull()) return;
    const auto parts_of = [&](const YAML::Node& part) {
      if (part.IsScalar()) return found_.of([&] { f(part.Scalar(), at_line_of(part, "{}")); });
      for (const auto& [name, value] : pairs_of(part, file_, "trainer." + path, found_))
        found_.of([&, &of = name, &in = value] { f(of, in.IsNull() ? at_line_of(in, "{}") : in); });
    };
    if (!list.IsSequence()) return parts_of(list);
    for (std::size_t k = 0; k < list.size(); ++k) found_.of([&] { parts_of(list[k]); });
  }

  void optimizer(const YAML::Node& map) {
    if (map.IsNull()) return;
    const auto all = pairs_of(map, file_, "trainer.init.optimizer", found_);
    if (all.size() != 1)
      return refuse_here(map, "trainer.init.optimizer has " + std::to_string(all.size()) +
                                  " names; it is a map of one, the optimizer, to its settings");
    for (const auto& pair : map)  // at the line of the name, unless it is merged
      if (pair.first.IsScalar() && pair.first.Scalar() == all[0].first)
        set("optimizer.optimizer_type", pair.first, "trainer.init.optimizer");
    if (!given_.contains("optimizer.optimizer_type"))
      set("optimizer.optimizer_type", at_line_of(map, YAML::Dump(YAML::Node(all[0].first))),
          "trainer.init.optimizer");
    if (all[0].second.IsNull()) return;
    const std::string path = "trainer.init.optimizer." + all[0].first;
    for (const auto& [name, value] : pairs_of(all[0].second, file_, path, found_)) {
      if (name != "learning_rate" && name != "lr") {
        set("optimizer." + name, value, path + "." + name);
        continue;
      }
      if (own_rate_ && !value.IsNull())
        refuse_here(value, path + "." + name + " is the learning rate, and " + place(file_, *own_rate_) +
                               " gives it by its other name, " + (name == "lr" ? "learning_rate" : "lr") +
                               ": leave one of them out");
      else if (!value.IsNull()) own_rate_.emplace(value);
    }
  }
  void schedulers(const YAML::Node& list, const std::string& path) {
    if (list.IsNull() || (list.IsSequence() && !list.size())) return;
    if (list.IsSequence() && list.size() > 1)
      return refuse_here(list,
                         "trainer." + path + " has " + std::to_string(list.size()) +
                             " parts that act at once; this program has one schedule, whose phases follow "
                             "each other in a SequentialLR");
    YAML::Node phases = at_line_of(list, "[]");
    const YAML::Node first = list.IsSequence() ? list[0] : list;
    phases_of(first, phases, 0);
    set("optimizer.learning_rate", phases, "trainer." + path);
  }
  void phases_of(const YAML::Node& scheduler, YAML::Node& phases, int depth) {
    constexpr int deepest = 8;
    if (depth > deepest)
      return refuse_here(scheduler, "trainer.init.schedulers: schedulers inside of schedulers");
    for (const auto& [name, settings] : pairs_of(scheduler, file_, "trainer.init.schedulers", found_)) {
      if (name == "SequentialLR" || name == "ScalePerParamLR") {
        for (const auto& [of, value] :
             pairs_of(settings, file_, "trainer.init.schedulers: " + name, found_)) {
          if (of == "schedulers" && value.IsSequence()) {
            for (std::size_t k = 0; k < value.size(); ++k) phases_of(value[k], phases, depth + 1);
          } else if (of == "scheduler" && name == "ScalePerParamLR") phases_of(value, phases, depth + 1);
          else if (of == "milestones" || of == "last_epoch")
            refuse_here(value, "trainer.init.schedulers: " + name + "." + of +
                                   " is not supported: phases follow each other after their total_iters");
          else refuse_here(value, "trainer.init.schedulers: " + of + " is no setting of " + name);
        }
        continue;
      }
      YAML::Node phase = at_line_of(settings.IsNull() ? scheduler : settings, "{}");
      phase["scheduler"] = at_line_of(scheduler, YAML::Dump(YAML::Node(without_end(name, "LR"))));
      if (!settings.IsNull())
        for (const auto& [of, value] : pairs_of(settings, file_, "trainer.init.schedulers: " + name, found_))
          phase[of] = value;
      phases.push_back(phase);
    }
  }

  void sparsity(const YAML::Node& value) {
    if (!value.IsNull()) sections_.emplace_back("sparsity", value);
  }

  void callbacks(const YAML::Node& list) {
    each_of(list, "init.callbacks",
            [&](const std::string& name, const YAML::Node& settings) { callback(name, settings); });
  }
  void callback(const std::string& name, const YAML::Node& settings) {
    if (name == "ComputeNorm") {
      for (const auto& [of, value] : pairs_of(settings, file_, "trainer.init.callbacks: " + name, found_))
        refuse_here(value, "trainer.init.callbacks: " + of + " is no setting of " + name);
      return set("optimizer.log_summaries", at_line_of(settings, "true"), "trainer.init.callbacks");
    }
    if (const auto refused = row_of(refused_callbacks, name); refused != std::end(refused_callbacks))
      return refuse_here(settings,
                         "trainer.init.callbacks: " + name + " would change the result, and " + refused->why);
    if (name.ends_with("Flags")) return flags(settings, name, name, 0);
    const auto ignored = row_of(ignored_callbacks, name);
    bool is_ours = false;
    for (const name_in_both& row : callbacks_in_both)
      is_ours |= std::string_view(row.v2).starts_with(name + ".");
    if (is_ours) {
      if (name == "OpProfiler" && (!settings.IsMap() || !settings["start_step"] || !settings["end_step"]))
        return refuse_here(settings, "trainer.init.callbacks: OpProfiler needs start_step and end_step");
      // As in the Zoo all steps are dumped unless it says otherwise.
      if (name == "DumpActivations" && !settings["every_steps"])
        set("dump_activations.every_steps", at_line_of(settings, "1"), "trainer.init.callbacks");
      for (const auto& [of, value] : pairs_of(settings, file_, "trainer.init.callbacks: " + name, found_))
        if (const char* const v1 = v1_of(callbacks_in_both, name + "." + of)) set(v1, value, name + "." + of);
        else refuse_here(value, "trainer.init.callbacks: " + of + " is no setting of " + name);
      return;
    }
    if (ignored != std::end(ignored_callbacks))
      return ignore(settings, "trainer.init.callbacks: " + name, ignored->why);
    std::vector<std::string> known{"ComputeNorm"};
    for (const ignored_name& row : ignored_callbacks) known.emplace_back(row.name);
    for (const name_in_both& row : callbacks_in_both)
      known.push_back(std::string(row.v2).substr(0, std::string(row.v2).find('.')));
    refuse_here(settings, "trainer.init.callbacks: there is no " + name + app::nearest_words(name, known) +
                              "; it might change the result: leave it out if it does not");
  }
  /// Flags of the machine: "csx.performance.micro_batch_size", or maps of such.
  void flags(const YAML::Node& map, const std::string& callback, const std::string& path, int depth) {
    constexpr int deepest = 8;
    if (depth > deepest)
      return refuse_here(map, "trainer.init.callbacks: maps inside of the maps of " + callback);
    for (const auto& [name, value] : pairs_of(map, file_, "trainer.init.callbacks: " + path, found_)) {
      const std::string here = path + "." + name;
      if (const char* const v1 = v1_of(callbacks_in_both, here)) set(v1, value, here);
      else if (value.IsMap()) flags(value, callback, here, depth + 1);
      else if (const auto row = row_of(ignored_callbacks, callback); row != std::end(ignored_callbacks))
        flag(value, here, row->why);
      else refuse_here(value, "trainer.init.callbacks: there is no " + callback);
    }
  }
  /// A flag, "ScopedTrainFlags.csx.debug.x", or that of all modes, "GlobalFlags.csx.debug.x".
  void flag(const YAML::Node& value, const std::string& path, const char* why) {
    const std::string name = path.substr(path.find('.') + 1);
    if (name == micro_batch_flag) {
      for (const char* input : {"train_input", "eval_input"})
        set(std::string(input) + ".micro_batch_size", value, path);
      return;
    }
    const auto known = [&](const char* x) { return name == x; };
    if (name.starts_with(flags_of_debugging) || std::ranges::any_of(flags_of_machine, known) ||
        path.starts_with("ScopedEleuther") || path.starts_with("ScopedBigCode"))
      return ignore(value, "trainer.init.callbacks: " + path, why);
    std::vector<std::string> all{micro_batch_flag};
    for (const char* x : flags_of_machine) all.emplace_back(x);
    refuse_here(value, "trainer.init.callbacks: " + path + " is no flag that is known here" +
                           app::nearest_words(name, all) +
                           "; it might change the result: leave it out if it does not");
  }

  void logger(const std::string& name, const YAML::Node& settings) {
    if (name == "WandbLogger") {
      constexpr std::array known{"project", "group", "run_name", "job_type", "run_id", "tags", "resume"};
      for (const auto& [of, value] : pairs_of(settings, file_, "trainer.init.loggers: " + name, found_))
        if (std::find(known.begin(), known.end(), of) != known.end())
          set("wandb." + of, value, "trainer.init.loggers: " + name + "." + of);
        else refuse_here(value, "trainer.init.loggers: " + of + " is no setting of " + name);
      if (!given_.contains("wandb.project"))
        set("wandb.project", at_line_of(settings, "uncategorized"), "trainer.init.loggers");
      return;
    }
    if (std::find(std::begin(loggers), std::end(loggers), name) != std::end(loggers)) {
      constexpr std::array known{"summary_dir", "legacy_event_dirs"};
      for (const auto& [of, value] : pairs_of(settings, file_, "trainer.init.loggers: " + name, found_))
        if (name != "TensorBoardLogger" || std::find(known.begin(), known.end(), of) == known.end())
          refuse_here(value, "trainer.init.loggers: " + of + " is no setting of " + name);
      return ignore(settings, "trainer.init.loggers: " + name, "lines and events are written in any case");
    }
    refuse_here(settings, "trainer.init.loggers: there is no " + name +
                              app::nearest_words(name, {std::begin(loggers), std::end(loggers)}));
  }

  void own_sections(const YAML::Node& map) {
    if (map.IsNull()) return;
    for (const auto& [section, content] : pairs_of(map, file_, "trainer.init.wsl", found_)) {
      if (content.IsMap()) {
        for (const auto& [name, value] : pairs_of(content, file_, section, found_))
          set(section + "." + name, value, "trainer.init.wsl." + section + "." + name);
      } else if (!content.IsNull())
        refuse_here(content, "trainer.init.wsl." + section + " is a map of fields, not " + shown(content));
    }
  }

  std::string file_;
  mistakes& found_;
  std::vector<std::string>& ignored_;
  std::vector<std::pair<std::string, YAML::Node>> sections_;
  std::map<std::string, YAML::Node> given_;
  std::map<std::string, std::string>* names_;
  std::optional<YAML::Node> held_out_, precision_, own_rate_;
};

/// A node at a path of names in maps, which are made.
void set_at(YAML::Node map, std::string_view path, const YAML::Node& value) {
  for (;;) {
    const std::size_t dot = path.find('.');
    const std::string name(path.substr(0, dot));
    if (dot == path.npos) {
      map[name] = value;
      return;
    }
    if (!map[name]) map[name] = YAML::Node(YAML::NodeType::Map);
    // An assignment to a node changes what it refers to.
    map.reset(map[name]);
    path.remove_prefix(dot + 1);
  }
}
YAML::Node map_of(const std::string& name, const YAML::Node& value) {
  YAML::Node map(YAML::NodeType::Map);
  map[name] = value;
  return map;
}

/// Writes the V2 form.
class trainer_writer {
 public:
  trainer_writer(std::string file, mistakes& found) : file_(std::move(file)), found_(found) {}

  YAML::Node write(const YAML::Node& root) {
    for (const auto& [name, content] : pairs_of(root, file_, "", found_))
      if (name == "sparsity") set_at(trainer_, "init.sparsity", content);
      else if (content.IsMap()) found_.of([&, &of = name, &in = content] { section(of, in); });
      else if (!content.IsNull())
        found_.add(place(file_, content) + ": " + name + " is a map of fields, not " + shown(content));
    // A V2 file that says no format means bfloat16, and a V1 file float16, but for language models.
    if (trainer_["init"]["precision"].IsMap() && !trainer_["init"]["precision"]["fp16_type"])
      set_at(trainer_, "init.precision.fp16_type", YAML::Node("float16"));
    if (optimizer_.size() || !type_.empty())
      set_at(trainer_, "init.optimizer", map_of(type_.empty() ? "AdamW" : type_, optimizer_));
    if (callbacks_.size()) set_at(trainer_, "init.callbacks", callbacks_);
    return map_of("trainer", trainer_);
  }

 private:
  void section(const std::string& section, const YAML::Node& map) {
    for (const auto& [name, value] : pairs_of(map, file_, section, found_))
      if (!value.IsNull()) one(section, name, value);
  }
  void one(const std::string& section, const std::string& name, const YAML::Node& value) {
    const std::string v1 = section + "." + name;
    if (const char* const v2 = v2_of(names_in_both, v1)) {
      set_at(trainer_, v2, value);
      // A V2 file that says only a part of it enables it.
      if (std::string_view(v2).starts_with("init.precision.") && !trainer_["init"]["precision"]["enabled"])
        set_at(trainer_, "init.precision.enabled", YAML::Node(false));
      return;
    }
    if (v1 == "optimizer.log_summaries") return norms(value);
    if (const char* const v2 = v2_of(callbacks_in_both, v1)) {
      const std::string callback = v2;
      const std::size_t dot = callback.find('.');
      return callbacks_.push_back(map_of(callback.substr(0, dot), map_of(callback.substr(dot + 1), value)));
    }
    if (v1 == "optimizer.optimizer_type" && value.IsScalar()) type_ = value.Scalar();
    else if (v1 == "optimizer.learning_rate") schedulers(value);
    else if (section == "optimizer") optimizer_[name] = value;
    else if (const char* const map = v2_of(maps_in_both, section))
      set_at(trainer_, std::string(map) + "." + name, value);
    else set_at(trainer_, std::string(own) + "." + v1, value);
  }
  void norms(const YAML::Node& value) {
    if (are_same(value, YAML::Node("true")))
      callbacks_.push_back(map_of("ComputeNorm", YAML::Node(YAML::NodeType::Map)));
  }
  void schedulers(const YAML::Node& rate) {
    YAML::Node phases(YAML::NodeType::Sequence);
    const auto add = [&](const YAML::Node& phase) {
      if (!phase.IsMap()) return phases.push_back(map_of("ConstantLR", map_of("learning_rate", phase)));
      std::string name = "Constant";
      YAML::Node settings(YAML::NodeType::Map);
      for (const auto& [of, value] : pairs_of(phase, file_, "optimizer.learning_rate", found_))
        if (of == "scheduler" && value.IsScalar()) name = value.Scalar();
        else settings[of] = value;
      const bool has_end = name.ends_with("LR") || name == "CosineAnnealingWarmRestarts";
      phases.push_back(map_of(has_end ? name : name + "LR", settings));
    };
    if (rate.IsSequence())
      for (std::size_t k = 0; k < rate.size(); ++k) add(rate[k]);
    else add(rate);
    YAML::Node all(YAML::NodeType::Sequence);
    all.push_back(phases.size() == 1 ? phases[0] : map_of("SequentialLR", map_of("schedulers", phases)));
    set_at(trainer_, "init.schedulers", all);
  }

  std::string file_, type_;
  mistakes& found_;
  YAML::Node trainer_{YAML::NodeType::Map}, optimizer_{YAML::NodeType::Map},
      callbacks_{YAML::NodeType::Sequence};
};

}  // namespace

bool is_trainer_form(const YAML::Node& root) { return root.IsMap() && root["trainer"]; }

YAML::Node sections_of_trainer(const YAML::Node& root, const std::string& file, mistakes& found,
                               std::vector<std::string>& ignored, std::map<std::string, std::string>* names) {
  return trainer_reader(file, found, ignored, names).read(root);
}
std::string name_in_trainer(std::string_view v1, const std::string& optimizer) {
  if (const char* const v2 = v2_of(names_in_both, v1)) return std::string("trainer.") + v2;
  if (const char* const v2 = v2_of(callbacks_in_both, v1))
    return std::string("trainer.init.callbacks: ") + v2;
  const std::size_t dot = v1.find('.');
  const std::string_view section = v1.substr(0, dot), name = v1.substr(dot + 1);
  if (const char* const map = v2_of(maps_in_both, section))
    return "trainer." + std::string(map) + "." + std::string(name);
  if (v1 == "optimizer.learning_rate") return "trainer.init.schedulers";
  if (v1 == "optimizer.optimizer_type") return "trainer.init.optimizer";
  if (section == "optimizer")
    return "trainer.init.optimizer." + (optimizer.empty() ? "" : optimizer + ".") + std::string(name);
  if (section == "sparsity") return "trainer.init.sparsity." + std::string(name);
  if (section == "wandb") return "trainer.init.loggers: WandbLogger." + std::string(name);
  return std::string("trainer.") + own + "." + std::string(v1);
}
YAML::Node trainer_of_sections(const YAML::Node& root, const std::string& file, mistakes& found) {
  return trainer_writer(file, found).write(root);
}

}  // namespace train_app
