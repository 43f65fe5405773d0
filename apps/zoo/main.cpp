// SPDX-License-Identifier: MIT
// wsl-zoo trains, verifies, converts and samples from the decoders that the library knows, and verifies its
// encoders, in the files of Hugging Face and by the field names of the Cerebras Model Zoo. See
// docs/guide/zoo.md.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <wsl/ml/io/hugging_face/reward.hpp>

#include "../nearest.hpp"
#include "../train/trainer_main.hpp"
#include "checkpoint.hpp"
#include "config_files.hpp"
#include "configurations.hpp"
#include "evaluate.hpp"
#include "export.hpp"
#include "mup_config.hpp"
#include "options.hpp"
#include "preferences.hpp"
#include "scores.hpp"
#include "stored.hpp"
#include "studies.hpp"
#include "verify.hpp"

namespace zoo_app {
namespace {

using namespace train_app;
namespace ml = wsl::ml;

/// Throws std::invalid_argument for options that have no effect on a command, or that the folder of --hf
/// contradicts.
void check_effects(const std::string& mode, bool reads_file, fields& f, const options& o) {
  const bool trains = mode == "fit" || mode == "validate" || mode == "compile";
  if (!o.hf.empty() && !trains) {
    if (mode == "eval" && !reads_file)
      throw std::invalid_argument("eval --hf needs --text or --choices, a file to evaluate the model on");
    gpt_app::refuse_options(
        f, {"model_dir", "checkpoint_path"},
        "the model of " + mode + " is that of --hf, and this option names another: leave one of them out");
    gpt_app::refuse_options(
        f, {"ema_decay", "override_model"},
        "it is of checkpoints, and the model of " + mode + " is that of --hf: leave one of them out");
  }
  if (o.hf.empty() && !trains)
    gpt_app::refuse_options(f, {"adapter"}, "the adapters of a run are in its checkpoints: leave it out");
  if (!o.hf.empty() && !trains) gpt_app::refuse_settings(f, o.lora, mode + " --hf");
  if (!o.hf.empty() && (mode == "fit" || mode == "validate") && o.common.train_input.data_dir.empty())
    throw std::invalid_argument(
        mode + " --hf needs --data_dir, a text" +
        (o.train.tokenizer_dir.empty() ? "" : " for the tokenizer in " + o.train.tokenizer_dir) +
        " or a folder of tokens, such as `wsl-data tokenize input.txt --tokenizer " + o.hf +
        " --out tokens` makes");
  if (!o.hf.empty() && is_hugging_face(o.hf) && ml::is_reward_model(o.hf) && !trains && o.scores.file.empty())
    throw std::invalid_argument(
        o.hf +
        " is a reward model, which gives texts scores and writes none: wsl-zoo predict "
        "--hf " +
        o.hf + " --score FILE");
  if (!reads_file) return;
  gpt_app::refuse_options(
      f,
      {"num_csx", "execution_strategy", "workers", "grid", "strips", "multireplica", "replicas",
       "memory_folder", "recompute", "memory_gi"},
      "eval of --text and --choices computes on one PE, with the same result: leave it out");
  gpt_app::refuse_options(
      f,
      {"train_input.data_dir", "eval_input.data_dir", "train_input.batch_size", "eval_input.batch_size",
       "eval_steps"},
      "eval of --text and --choices reads all of these files, and no other data: leave it out");
}

void sample(options& o) {
  gpt_app::write_texts(o.hf.empty() ? gpt_app::trained_model(o)
                                    : gpt_app::pretrained_model(o.hf, o.train.tokenizer_dir, o.lora.adapter),
                       o.sample, o.common.precision.format(), o.common.run.threads);
}

int run_verify(const options& o) {
  if (o.hf.empty())
    throw std::invalid_argument("verify needs --hf, a folder with a model and its golden.safetensors");
  check_strategy(o.common.run);
  return verify(o.hf, o.common.run) ? 0 : 1;
}

/// The modes that read an option.
std::vector<readers> options_of_program() {
  const kinds_of_modes m;
  std::vector<readers> all = gpt_app::options_of_modes();
  all.insert(all.end(), {{"runconfig.hf", together({m.trains, {"eval", "sample", "predict", "verify"}})},
                         {"dpo", together({m.trains, m.evaluates, {"predict"}})},
                         {"eval", {"eval"}},
                         {"lora.adapter", together({m.trains, {"eval", "sample", "predict"}})}});
  // Runs of a grid are those of fit that begin with random weights; a coordinate check takes some steps, and
  // has no run.
  for (readers& r : all) {
    const bool is_of_others = r.of == "runconfig.hf" || r.of.starts_with("lora") || r.of == "dpo" ||
                              r.of == "runconfig.load_checkpoint_states";
    if (is_of_others || std::find(r.modes.begin(), r.modes.end(), "fit") == r.modes.end()) continue;
    r.modes.insert(r.modes.end(), {"sweep", "scaling"});
    if (r.of == "optimizer" || r.of == "runconfig.seed" || r.of.starts_with("train_input") ||
        r.of.starts_with("model."))
      r.modes.push_back("coord_check");
  }
  all.insert(all.end(), {{"grid.widths", {"coord_check", "sweep"}},
                         {"grid.check_steps", {"coord_check"}},
                         {"grid.learning_rates", {"sweep"}},
                         {"grid.seeds", {"sweep"}},
                         {"grid.sizes", {"scaling"}},
                         {"grid.tokens_per_parameter", {"scaling"}},
                         {"grid.how", {"sweep", "scaling"}}});
  return all;
}

/// The command line without its --how, for messages.
std::string command_of(int argc, char** argv) {
  std::string words;
  for (int k = 0; k < argc; ++k) {
    std::string word = argv[k];
    if (word == "--how") ++k;
    if (word.starts_with("--how")) continue;
    std::replace(word.begin(), word.end(), '\n', ' ');  // it stands in a comment of a script, too
    const bool is_plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) ||
             std::string_view("_-./,=:+").find(static_cast<char>(c)) != std::string_view::npos;
    });
    words += (words.empty() ? "" : " ") + (is_plain ? word : "'" + word + "'");
  }
  return words;
}

int run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "checkpoint") return run_checkpoint(argc - 1, argv + 1);
  if (argc > 2 && std::string_view(argv[1]) == "config" && std::string_view(argv[2]) == "mup")
    return run_config_mup(argc - 2, argv + 2);
  if (argc > 2 && std::string_view(argv[1]) == "config" && std::string_view(argv[2]) == "check")
    return run_config_check(argc - 2, argv + 2);
  if (argc > 2 && std::string_view(argv[1]) == "config" && std::string_view(argv[2]) == "convert")
    return run_config_convert(argc - 2, argv + 2);
  if (argc > 2 && std::string_view(argv[1]) == "config" && argv[2][0] != '-')
    throw std::invalid_argument(
        fmt::format("config {} is no command{}; there are config check, config convert and "
                    "config mup, and config alone prints the params",
                    argv[2], app::nearest_words(argv[2], {"check", "convert", "mup"})));
  options o;
  fields f;
  declare(f, o);
  int status = 0;
  const auto mode = parse(
      argc, argv,
      {.name = "wsl-zoo",
       .about =
           "Trains, verifies, converts and samples from decoders of Hugging Face, on a simulated wafer.\n"
           "wsl-zoo verify --hf FOLDER; wsl-zoo fit --name llama --model_dir run; wsl-zoo checkpoint "
           "--help",
       .modes = {{"fit", "train, and evaluate on the way and at the end"},
                 {"validate", "check the configuration, the data and the shapes; say what would be done"},
                 {"eval", "evaluate a checkpoint on the held-out data, or a model on --text or --choices"},
                 {"eval_all", "evaluate all checkpoints in model_dir on the held-out data"},
                 {"config",
                  "print the params with those of the model's name or of --hf, as a file for --params; "
                  "config mup: "
                  "make a params file of muP, config check: say which files are accepted, config convert: "
                  "change between the V1 and V2 form; each has a --help"},
                 {"compile", "show the placement on the wafer, memory, colors and cycles; nothing runs"},
                 {"sample", "write text with a model of Hugging Face, or with a trained one"},
                 {"predict",
                  "complete the prompts of the held-out pairs, answer the questions of chats, or give the "
                  "texts of --score the scores of a reward model"},
                 {"verify", "compare a model of Hugging Face, on the wafer, with its golden state"},
                 {"coord_check", "compare the sizes of activations at several widths, with muP and without"},
                 {"sweep",
                  "train with several learning rates, seeds and widths, and print a table of the losses"},
                 {"scaling", "train models of several sizes, and fit a scaling law to their losses"},
                 {"checkpoint", "convert, list and compare files of models: wsl-zoo checkpoint --help"}},
       .configurations = configurations(),
       .model_option = "hf",
       .options = options_of_program()},
      f, status);
  if (!mode) return status;
  if (*mode == "checkpoint")
    throw std::invalid_argument("the word checkpoint comes first: wsl-zoo checkpoint --help");
  complete(f, o, *mode == "verify");
  say_values_not_given(f, "wsl-zoo", true);
  if (*mode == "config") {
    if (ranks::root()) std::fputs(f.kept_text().c_str(), stdout);
    return 0;
  }
  if (*mode == "coord_check") return check_coordinates(f, o);
  if (*mode == "sweep") return sweep(f, o, command_of(argc, argv));
  if (*mode == "scaling") return fit_scaling_law(f, o, command_of(argc, argv));
  const bool reads_file = *mode == "eval" && (!o.eval_of.text.empty() || !o.eval_of.choices.empty());
  check_effects(*mode, reads_file, f, o);
  if ((*mode == "sample" || *mode == "predict" || *mode == "verify" || reads_file) && ranks::size() > 1)
    throw std::invalid_argument(*mode + " is the work of one process: start it without mpirun");
  if (*mode == "sample") return sample(o), 0;
  if (*mode == "predict" && !o.scores.file.empty()) return print_scores(f, o), 0;
  if (*mode == "predict") return gpt_app::predict(f, o, o.completing), 0;
  if (reads_file) return evaluate(o), 0;
  if (*mode == "verify") return run_verify(o);
  // The files are checked before a network is built of what config.json says.
  if (*mode == "fit" && !o.hf.empty() && ranks::root()) {
    if (ml::is_reward_model(o.hf)) ml::read_reward_model(o.hf);
    else read_folder(o.hf);
  }
  o.evaluates = *mode != "train";
  task t = gpt_app::task_of("wsl-zoo", o, *mode != "eval" && *mode != "eval_all");
  if (t.preferences && t.preferences->reference) set_reference(t, o);
  if (!o.hf.empty() && o.model.reward_head) begin_with_score(t, o);
  else if (!o.hf.empty())
    gpt_app::begin_with(t, o, [&o] { return read_hugging_face_model(o.hf).numbers; }, "--hf " + o.hf);
  session s(o.common, f.kept_text(), std::move(t));
  run_mode(*mode == "fit" ? "train_and_eval" : *mode, s);
  return s.status();
}

}  // namespace
}  // namespace zoo_app

int main(int argc, char** argv) { return train_app::run_trainer("wsl-zoo", argc, argv, zoo_app::run); }
