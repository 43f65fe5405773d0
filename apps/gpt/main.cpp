// SPDX-License-Identifier: MIT
// wsl-gpt trains language models and samples from them. `wsl-gpt train_and_eval` needs no data and no file:
// it reads this project's pages.
#include <cstdio>

#include "../export_folder.hpp"
#include "../train/trainer_main.hpp"
#include "configurations.hpp"
#include "export.hpp"
#include "language.hpp"
#include "verify.hpp"
#include "writing.hpp"

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;

struct options : language_params {
  writing_params sample;
  completing_params completing;
  verification check;
  std::string format, out = ".", initial_weights;
  bool adapter_only = false;
};

void declare_rest(fields& f, options& o) {
  declare_writing(f, o.sample);
  f.add("pretrained", o.sample.pretrained,
        "write with the model of this folder of transformers: config.json, model.safetensors or its parts, "
        "and a tokenizer");
  declare_completing(f, o.completing);
  f.options_of("verify");
  f.add("model", o.check.model, "model.bin of llm.c");
  f.add("state", o.check.state, "debug_state.bin of llm.c");
  f.add("after", o.check.after, "the model after ten steps of AdamW");
  f.add("tolerance", o.check.tolerance, "largest error of a tensor, relative to its norm").above(0);
  f.options_of("export");
  f.add("format", o.format,
        "llmc (model.bin), hf (model.safetensors, config.json) or both; null: those that can hold the model")
      .one_of({"llmc", "hf", "both"});
  f.add("adapter_only", o.adapter_only,
        "write the adapters of the run for peft, and no model; false: the model, into whose layers they are "
        "folded");
  f.add("out", o.out, "folder for the files: a new one, an empty one, or that of an earlier export");
}

/// Throws std::invalid_argument for options that say what the folder of transformers says.
void require_no_model(fields& f) {
  for (const field& x : f.all()) {
    const bool is_precision =
        x.name == "mixed_precision" || x.name == "fp16_type" || x.name == "use_bfloat16";
    if (((x.section == "model" && !is_precision) || x.name == "checkpoint_path" || x.name == "model_dir") &&
        x.given.starts_with("--"))
      throw std::invalid_argument("--" + x.name +
                                  " and --pretrained both say which model writes: leave one of "
                                  "them out");
  }
}
void sample(options& o, fields& f) {
  if (!o.sample.pretrained.empty()) {
    require_no_model(f);
    refuse_options(f, {"ema_decay", "override_model"},
                   "it is of checkpoints, and --pretrained names a folder of transformers: leave it out");
    refuse_settings(f, o.lora, "sample --pretrained");
  } else refuse_options(f, {"adapter"}, "the adapters of a run are in its checkpoints: leave it out");
  write_texts(o.sample.pretrained.empty()
                  ? trained_model(o)
                  : pretrained_model(o.sample.pretrained, o.train.tokenizer_dir, o.lora.adapter),
              o.sample, o.common.precision.format(), o.common.run.threads);
}

void export_adapters(const options& o, machine& t) {
  if (!o.format.empty())
    throw std::invalid_argument(
        "--adapter_only writes the files of peft, and --format is of a model: leave one out");
  const adapted_model m(o.model, o.lora);
  app::export_folder out(o.out, "wsl-gpt");
  with_average(o.common.optimizer, t, [&] { m.write(out.unfinished(), weights_of(t.run())); });
  out.finish();
  std::printf("%s/%s\n%s/%s\n", o.out.c_str(), ml::hugging_face::adapter_tensors, o.out.c_str(),
              ml::hugging_face::adapter_config);
}

void export_model(options& o) {
  vocabulary words;
  const std::unique_ptr<machine> t = trained(o, words);
  if (o.adapter_only) return export_adapters(o, *t);
  const ml::decoder d = o.model.decoder();
  if (!o.format.empty()) {
    const std::string none = o.format == "hf"         ? gpt_app::why_no_hugging_face(d)
                             : o.format == "llmc"     ? why_no_llmc(d)
                             : why_no_llmc(d).empty() ? gpt_app::why_no_hugging_face(d)
                                                      : why_no_llmc(d);
    if (!none.empty()) throw std::invalid_argument("--format " + o.format + ": " + none);
  }
  const std::string no_llmc = o.format == "hf" ? "not asked for" : why_no_llmc(d),
                    no_hf = o.format == "llmc" ? "not asked for" : gpt_app::why_no_hugging_face(d);
  if (!no_llmc.empty() && !no_hf.empty())
    throw std::invalid_argument("no file of another program can hold this model; " + no_llmc +
                                (no_hf == no_llmc ? "" : "; " + no_hf));
  app::export_folder out(o.out, "wsl-gpt");
  with_average(o.common.optimizer, *t, [&] {
    const ml::weights w = adapted_model(o.model, o.lora).folded(weights_of(t->run()));
    if (no_llmc.empty()) export_llmc(out.unfinished(), d, w);
    if (no_hf.empty()) export_hugging_face(out.unfinished(), d, w);
  });
  out.finish();
  if (no_llmc.empty()) std::printf("%s/model.bin\n", o.out.c_str());
  if (no_hf.empty()) std::printf("%s/model.safetensors\n%s/config.json\n", o.out.c_str(), o.out.c_str());
  if (o.format.empty() && !no_llmc.empty())
    std::fprintf(stderr, "wsl-gpt: there is no model.bin: %s\n", no_llmc.c_str());
}

int run_verify(options& o, fields& f) {
  if (o.check.model.empty() || o.check.state.empty())
    throw std::invalid_argument("verify needs --model and --state, files of llm.c");
  check_strategy(o.common.run);
  o.check.num_csx = o.common.run.num_csx, o.check.workers = o.common.run.on.workers,
  o.check.columns = o.common.run.on.columns;
  if (o.common.run.execution_strategy == "pipeline") o.check.strips = o.common.run.strips;
  // No configuration describes the model here; of the optimizer's fields only those on the command line
  // count.
  if (f.is_asked("learning_rate"))
    o.check.learning_rate = o.common.optimizer.learning_rate.front().learning_rate;
  if (f.is_asked("weight_decay")) o.check.weight_decay = o.common.optimizer.weight_decay;
  return verify(o.check) ? 0 : 1;
}

/// The modes that read an option. In verify the files say which model it is.
std::vector<readers> options_of_program() {
  const kinds_of_modes m;
  const mode_names has_model = together({m.trains, m.evaluates, m.uses_weights});
  std::vector<readers> all = options_of_modes();
  all.insert(all.end(), {{"model", has_model},
                         {"runconfig.model_dir", has_model},
                         {"runconfig.checkpoint_path", has_model},
                         {"runconfig.threads", has_model},
                         {"runconfig.initial_weights", m.trains},
                         {"optimizer.learning_rate", together({m.trains, m.verifies})},
                         {"optimizer.weight_decay", together({m.trains, m.verifies})},
                         {"lora.adapter", together({m.trains, {"sample"}})},
                         {"verify", m.verifies},
                         {"export", {"export"}}});
  return all;
}

int run(int argc, char** argv) {
  options o;
  fields f;
  declare_inputs(f, o);
  declare(f, o.model), declare_precision(f, o.common.precision);
  declare_lora(f, o.lora);
  declare_optimizer(f, o.common.optimizer), declare_sparsity(f, o.common.sparsity);
  declare_run(f, o.common.run, o.common.reports);
  f.add("initial_weights", o.initial_weights,
        "begin with these: model.bin of llm.c, or a folder with config.json and model.safetensors, or its "
        "parts and their index, of transformers");
  declare_checkpoint_options(f, o.common), declare_rest(f, o);
  auto modes = common_modes();
  modes.insert(modes.end(),
               {{"sample", "write text with a trained model"},
                {"predict", "complete the prompts of the held-out pairs, or answer the questions of chats"},
                {"verify", "compare with a model and a state of llm.c"},
                {"export", "write a trained model for llm.c and for transformers"}});
  int status = 0;
  const auto mode = parse(
      argc, argv,
      {.name = "wsl-gpt",
       .about =
           "Trains language models, by weight streaming on a simulated wafer, and lets them write.\nwsl-gpt "
           "train_and_eval --data_dir input.txt --model_dir run; wsl-gpt sample --model_dir run",
       .modes = modes,
       .configurations = configurations(),
       .model_option = "pretrained",
       .options = options_of_program()},
      f, status);
  if (!mode) return status;
  gpt_app::complete(f, o);
  if ((*mode == "sample" || *mode == "predict" || *mode == "export" || *mode == "verify") &&
      ranks::size() > 1)
    throw std::invalid_argument(*mode + " is the work of one process: start it without mpirun");
  if (*mode == "sample") return sample(o, f), 0;
  if (*mode == "predict") return gpt_app::predict(f, o, o.completing), 0;
  if (*mode == "export") return export_model(o), 0;
  if (*mode == "verify") return run_verify(o, f);
  o.evaluates = *mode != "train";
  task t = task_of("wsl-gpt", o, *mode != "eval" && *mode != "eval_all");
  if (!o.initial_weights.empty())
    begin_with(
        t, o, [&o] { return import_weights(o.initial_weights, o.model.decoder()); },
        "--initial_weights " + o.initial_weights);
  session s(o.common, f.kept_text(), std::move(t));
  run_mode(*mode, s);
  return s.status();
}

}  // namespace
}  // namespace gpt_app

int main(int argc, char** argv) { return train_app::run_trainer("wsl-gpt", argc, argv, gpt_app::run); }
