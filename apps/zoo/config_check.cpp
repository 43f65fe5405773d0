// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <trainer_form.hpp>
#include <trainer_params.hpp>
#include <zoo_models.hpp>

#include "../bert/options.hpp"
#include "../command_line.hpp"
#include "../dpr/options.hpp"
#include "../files.hpp"
#include "../mnist/options.hpp"
#include "../t5/options.hpp"
#include "../unet/options.hpp"
#include "config_files.hpp"
#include "options.hpp"

namespace zoo_app {
namespace {

using namespace train_app;

constexpr std::pair<const char*, std::unique_ptr<trainer_params> (*)()> programs[] = {
    {"wsl-zoo", new_params},
    {"wsl-bert", bert_app::new_params},
    {"wsl-t5", t5_app::new_params},
    {"wsl-dpr", dpr_app::new_params},
    {"wsl-unet", unet_app::new_params},
    {"wsl-mnist", mnist_app::new_params}};

std::unique_ptr<trainer_params> params_of(const std::string& program) {
  for (const auto& [name, make] : programs)
    if (program == name) return make();
  throw std::logic_error("there is no " + program);
}

/// The model of a file: the one that it names, that of its folder, or the one that was asked for.
const zoo_model* model_of(const YAML::Node& root, const std::string& file, const std::string& asked,
                          std::string& name) {
  name = model_named_in(root);
  if (!name.empty()) return zoo_model_of(name);
  const zoo_model* const found = asked.empty() ? zoo_model_of_path(file) : zoo_model_of(asked);
  if (found) name = found->name;
  return found;
}

/// The text of a file. One that cannot be read is refused as others are, so that the rest are looked at, too.
std::string text_of(const std::string& file) try {
  return app::read_file(file);
} catch (const std::runtime_error& e) { throw std::invalid_argument(e.what()); }

/// Throws std::invalid_argument if a file of no known model has names on its first level that no file has, or
/// those of both forms.
void check_first_level(const YAML::Node& root, const std::string& file) {
  static const std::vector<std::string> known{
      "trainer", "train_input", "eval_input", "model",    "optimizer", "runconfig", "sparsity",
      "lora",    "dpo",         "csconfig",   "cerebras", "wandb",     "seed",      "description"};
  mistakes found;
  const bool is_trainer = is_trainer_form(root);
  for (const auto& [name, content] : pairs_of(root, file, "", found))
    if (is_trainer && name != "trainer")
      found.add(
          place(file, content) + ": " + name +
          " stands beside trainer: a file has the V1 form, of sections, or the V2 form, with nothing but "
          "trainer on its first level; leave one of them out");
    else if (std::find(known.begin(), known.end(), name) == known.end())
      found.add(place(file, content) + ": " + name + " is no section" + app::nearest_words(name, known));
    else if (name == "trainer" && content.IsScalar())
      found.add(place(file, content) + ": trainer is a map with init and fit, not " + shown(content));
  found.report();
}

}  // namespace

verdict verdict_of(const std::string& file, const std::string& asked) {
  mistakes found;
  std::string text;
  found.of([&] { text = text_of(file); });
  if (found.all().empty()) return verdict_of_text(text, file, asked);
  verdict v;
  for (const std::string& sentence : found.all()) v.refused.push_back(file + ": " + sentence);
  return v;
}

verdict verdict_of_text(const std::string& text, const std::string& file, const std::string& asked) {
  verdict v;
  mistakes found;
  found.of([&] {
    const YAML::Node root = parsed_params(text, file);
    if (!root.IsMap()) refuse(file, "a params file is a map of sections, not " + shown(root));
    const zoo_model* const model = model_of(root, file, asked, v.model);
    if (const YAML::Node name = name_node_in(root); !model && name.IsDefined())
      refuse(place(file, name), std::string(is_trainer_form(root) ? "trainer.init." : "") +
                                    "model.name: there is no model " + v.model +
                                    app::nearest_words(v.model, names_of_zoo_models()));
    if (!model) {
      check_first_level(root, file);
      refuse(file, "neither the file nor its folder says which model it is of: give --model, such as gpt2");
    }
    v.program = model->program;
    if (v.program.empty()) return;
    const std::unique_ptr<trainer_params> params = params_of(v.program);
    mistakes inside;
    inside.of([&] { params->f.read(text, file); });
    take_model_name(params->f, v.model);
    take_defaults_of_zoo(params->f);
    mistakes together;
    params->check(together);
    // A field whose value could not be read is not missing.
    const std::vector<std::string> of_reading = inside.all();
    const words_of_file as = params->f.words();
    for (const std::string& of_library : together.all()) {
      const std::string sentence = of_library.starts_with("wsl: ") ? of_library.substr(5) : of_library;
      const std::string name = " " + as.in_its_names(sentence.substr(0, sentence.find_first_of(" :"))) + " ";
      if (std::none_of(of_reading.begin(), of_reading.end(),
                       [&](const std::string& x) { return x.find(name) != x.npos; }))
        inside.add(as.said(sentence));
    }
    v.notes = params->f.notes();
    // A rate that could not be read is none that is missing.
    const auto is_of_rate = [&](const std::string& x) {
      return x.find("optimizer.learning_rate") != x.npos || x.find("trainer.init.schedulers") != x.npos;
    };
    if (std::any_of(of_reading.begin(), of_reading.end(), is_of_rate)) {
      std::erase_if(v.notes, is_of_rate);
      mistakes rest;
      for (const std::string& sentence : inside.all())
        if (sentence.find(" has no learning rate, ") == sentence.npos) rest.add(sentence);
      inside = rest;
    }
    for (const field& x : params->f.all())
      if (const std::string note = note_of_default(x, params->f); !note.empty())
        v.notes.push_back(file + ": " + as.in_its_names(note));
    const std::vector<std::string> limits = params->limits();
    if (limits.empty())
      v.notes.push_back(file + (as.is_trainer_form ? ": trainer.init.loop" : ": runconfig") +
                        " has none of max_steps, num_steps and num_epochs; training needs one of them, "
                        "perhaps on the command line");
    if (limits.size() > 1)
      v.notes.push_back(fmt::format("{}: training ends with the first that is reached of {}", file,
                                    fmt::join(limits, ", ")));
    inside.report();
  });
  for (const std::string& sentence : found.all())
    v.refused.push_back(sentence.starts_with(file) ? sentence : file + ": " + sentence);
  return v;
}

void require_model(const std::string& asked) {
  if (!asked.empty() && (!zoo_model_of(asked) || !*zoo_model_of(asked)->program))
    throw std::invalid_argument("--model: there is no " + asked +
                                app::nearest_words(asked, names_of_zoo_models()));
}

int run_config_check(int argc, char** argv) {
  CLI::App app(
      "Says which params files are accepted, what of them has no effect, and what is refused; data and "
      "models "
      "are not looked at.",
      "wsl-zoo config check");
  std::vector<std::string> files;
  std::string model;
  bool is_brief = false;
  app.add_option("files", files, "params files of the V1 or V2 form")->required();
  app.add_option("--model", model, "the model of files that do not say it, and do not lie in its folder");
  app.add_flag("--brief", is_brief, "without the settings that have no effect");
  int status = 0;
  if (!app::parse(app, argc, argv, "option", status)) return status;
  require_model(model);
  std::size_t accepted = 0, of_others = 0;
  for (const std::string& file : files) {
    const verdict v = verdict_of(file, model);
    if (v.is_of_others()) {
      ++of_others;
      std::printf("%s: a file of %s, a model that there is not here\n", file.c_str(), v.model.c_str());
      continue;
    }
    const std::string of = v.program.empty() ? "" : fmt::format(": {}, by {}", v.model, v.program);
    accepted += v.refused.empty();
    std::printf("%s: %s%s\n", file.c_str(), v.refused.empty() ? "accepted" : "refused", of.c_str());
    for (const std::string& sentence : v.refused) std::printf("  %s\n", sentence.c_str());
    for (std::size_t k = 0; !is_brief && k < v.notes.size(); ++k) std::printf("  %s\n", v.notes[k].c_str());
  }
  if (of_others) std::printf("config: %zu files of models that there are not here\n", of_others);
  const std::size_t ours = files.size() - of_others;
  std::printf("config: %zu of %zu files accepted\n", accepted, ours);
  return accepted == files.size() ? 0 : 1;
}

}  // namespace zoo_app
