// SPDX-License-Identifier: MIT
// wsl-gpt trains language models and samples from them. `wsl-gpt train_and_eval` needs no data and no file:
// it reads this project's pages.
#include <cstdio>
#include <tuple>
#include <wsl/ml/io/checkpoint.hpp>

#include <command.hpp>
#include <ranks.hpp>
#include <session.hpp>

#include "../files.hpp"
#include "../run.hpp"
#include "configurations.hpp"
#include "export.hpp"
#include "model.hpp"
#include "text.hpp"
#include "verify.hpp"
#include "writing.hpp"

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;
using wsl::i32;

struct text_params {
  int max_sequence_length = 0;
  i64 stride = 0;
  std::string vocabulary, tokenizer_dir;
};

struct options {
  common_params common;
  model_params model;
  text_params train, eval;
  writing_params sample;
  verification check;
  std::string format, out = ".", initial_weights;
};

void declare_text(fields& f, text_params& p) {
  f.add("max_sequence_length", p.max_sequence_length, "tokens of a sample; null: max_position_embeddings")
      .at_least(1);
  f.add("stride", p.stride,
        "tokens from one sample to the next; null: max_sequence_length, 1: from every token on")
      .at_least(1);
  f.add(
       "vocabulary", p.vocabulary,
       "what tokens are; null: what the file of tokens or a vocabulary beside it says, of a text characters, "
       "or gpt2 with a tokenizer_dir")
      .one_of({"characters", "gpt2"});
  f.add("tokenizer_dir", p.tokenizer_dir,
        "folder with encoder.json and vocab.bpe (vocab.json and merges.txt), for gpt2");
}

void declare_rest(fields& f, options& o) {
  declare_writing(f, o.sample);
  f.options_of("verify");
  f.add("model", o.check.model, "model.bin of llm.c");
  f.add("state", o.check.state, "debug_state.bin of llm.c");
  f.add("after", o.check.after, "the model after ten steps of AdamW");
  f.add("tolerance", o.check.tolerance, "largest error of a tensor, relative to its norm").above(0);
  f.options_of("export");
  f.add("format", o.format,
        "llmc (model.bin), hf (model.safetensors, config.json) or both; null: those that can hold the model")
      .one_of({"llmc", "hf", "both"});
  f.add("out", o.out, "folder for the files");
}

/// Throws std::invalid_argument if the data do not fit the model's vocabulary.
void check_vocabulary(const options& o, const corpus& text) {
  const int given = o.model.vocab_size;
  const i32 largest = std::max(text.train.largest(), text.held_out.largest());
  const bool goes_on =
      o.common.run.autoload_last_checkpoint && !ml::checkpoints(o.common.run.model_dir).steps().empty();
  const std::string wanted = std::to_string(largest + 1);
  if (largest >= given)
    throw std::invalid_argument("the data have token " + std::to_string(largest) +
                                ", beyond model.vocab_size " + std::to_string(given) + ": " +
                                (goes_on ? "the run in " + o.common.run.model_dir +
                                               " goes on with the text that it began with; a new one, with "
                                               "another --model_dir, needs --vocab_size " +
                                               wanted + " or more"
                                         : "take --vocab_size " + wanted + " or more, or null"));
  // A size that is a little larger may be rounded up; that of GPT-2 says that other tokens are meant.
  if (text.is_vocabulary_assumed && !goes_on && given >= vocabulary::gpt2("").size() &&
      text.words.size() < given)
    throw std::invalid_argument("model.vocab_size is " + std::to_string(given) + ", but " + text.about +
                                " has " + std::to_string(text.words.size()) +
                                " characters, and train_input.vocabulary is not given: say gpt2, with a "
                                "tokenizer_dir, or characters");
}

/// A note if the data do not use the whole vocabulary of the model.
std::string unused_words(const options& o, const corpus& text) {
  const int known = text.words.size(), given = o.model.vocab_size;
  return known && known < given ? ", of the model's " + std::to_string(given) + " tokens those from " +
                                      std::to_string(known) + " on are none of the vocabulary's"
                                : "";
}

/// Groups of parameters by the names that the Model Zoo has for them.
std::vector<std::pair<std::string, std::vector<std::string>>> parameter_groups() {
  return {{"embedding", {"embedding.*"}},
          {"decoder_attention", {"layer * qkv.weight", "layer * projection.weight"}},
          {"decoder_input_ffn", {"layer * up.weight", "layer * gate.weight"}},
          {"decoder_output_ffn", {"layer * down.weight"}},
          {"decoder_kernel",
           {"layer * qkv.weight", "layer * projection.weight", "layer * up.weight", "layer * gate.weight",
            "layer * down.weight"}}};
}

task task_of(options& o, const corpus& text) {
  model_params& m = o.model;
  if (!m.vocab_size) m.vocab_size = text.words.size();
  if (!m.vocab_size)
    throw std::invalid_argument("model.vocab_size is missing: files of tokens do not say it");
  check_vocabulary(o, text);
  for (text_params* p : {&o.train, &o.eval})
    if (!p->max_sequence_length) p->max_sequence_length = m.max_position_embeddings;
    else if (p->max_sequence_length > m.max_position_embeddings)
      throw std::invalid_argument("max_sequence_length " + std::to_string(p->max_sequence_length) + " of " +
                                  (p == &o.train ? "train_input" : "eval_input") +
                                  " is more than model.max_position_embeddings " +
                                  std::to_string(m.max_position_embeddings));
  const ml::decoder d = m.decoder();
  task t{.program = "wsl-gpt",
         .model = [d] { return network_of(d); },
         .model_words = m.words(),
         .data_words = text.about + ": " + std::to_string(text.train.size()) + " tokens to train with, " +
                       std::to_string(text.held_out.size()) + " held out" + unused_words(o, text)};
  const auto windows_of = [&](const ml::tokens& part, const text_params& p, const char* what) {
    try {
      return ml::windows(part, p.max_sequence_length, p.stride);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(std::string(e.what()) + " " + what + " of " + text.about +
                                  ": it takes a longer text, or a smaller max_sequence_length");
    }
  };
  t.train = windows_of(text.train, o.train, "in the part to train with");
  t.held_out = windows_of(text.held_out, o.eval, "in the part that is held out");
  t.groups = parameter_groups();
  t.architecture = m.architecture();
  t.vocabulary = text.words.saved();
  return t;
}

/// A run's last checkpoint, or the one that was asked for, and its vocabulary. Throws std::invalid_argument
/// if there is none, or if it is of another model.
std::string trained_checkpoint(options& o, vocabulary& words) {
  const run_params& r = o.common.run;
  const std::string from = checkpoint_to_look_at(r);
  if (from.empty())
    throw std::invalid_argument("there is no checkpoint in " + r.model_dir +
                                ": train first, or give --checkpoint_path");
  try {
    words = vocabulary::from_saved(fact_of(from, "vocabulary"), o.train.tokenizer_dir);
  } catch (const ml::file_error&) {
    throw;  // of a file that the vocabulary is read with
  } catch (const std::invalid_argument& e) {
    throw ml::file_error(from + ": its vocabulary is damaged: " + e.what());
  }
  if (!o.model.vocab_size) o.model.vocab_size = words.size();
  require_same_model(from, o.model.architecture(), r.override_model);
  return from;
}

/// A trainer with those weights.
std::unique_ptr<machine> trained(options& o, vocabulary& words) {
  const std::string from = trained_checkpoint(o, words);
  ml::network model = network_of(o.model.decoder());
  const ml::optimizer rule = optimizer_for(o.common.optimizer, model, parameter_groups());
  auto t = ranks::streaming(std::move(model), rule,
                            {.workers = 1,
                             .threads = o.common.run.threads,
                             .precision = o.common.precision.format(),
                             .loss_scaling = 1.});
  load(from, *t);
  return t;
}

/// The vocabulary of the checkpoint whose weights alone a run begins with; empty if it does not.
std::string vocabulary_of_weights(const run_params& r) {
  if (r.load_checkpoint_states != "model" || r.checkpoint_path.empty()) return "";
  const std::string from = checkpoint_to_look_at(r);
  return from.empty() ? "" : fact_of(from, "vocabulary");
}

/// Throws std::invalid_argument for options that say what the folder of transformers says.
void require_no_model(fields& f) {
  for (const field& x : f.all()) {
    const bool is_precision =
        x.name == "mixed_precision" || x.name == "fp16_type" || x.name == "use_bfloat16";
    if (((x.section == "model" && !is_precision) || x.name == "checkpoint_path") && x.given.starts_with("--"))
      throw std::invalid_argument("--" + x.name +
                                  " and --pretrained both say which model writes: leave one of "
                                  "them out");
  }
}
void sample(options& o, fields& f) {
  if (!o.sample.pretrained.empty()) require_no_model(f);
  const auto model = [&] {
    if (!o.sample.pretrained.empty()) return pretrained_model(o.sample.pretrained, o.train.tokenizer_dir);
    vocabulary words;
    const std::string from = trained_checkpoint(o, words);
    return model_of_checkpoint(from, o.model.decoder(), std::move(words), o.common.optimizer.ema_decay > 0);
  };
  write_texts(model(), o.sample, o.common.precision.format(), o.common.run.threads);
}

void export_model(options& o) {
  vocabulary words;
  const std::unique_ptr<machine> t = trained(o, words);
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
  app::make_folder(o.out);
  with_average(o.common.optimizer, *t, [&] {
    if (no_llmc.empty()) export_llmc(o.out, d, t->run()), std::printf("%s/model.bin\n", o.out.c_str());
    if (no_hf.empty())
      export_hugging_face(o.out, d, t->run()),
          std::printf("%s/model.safetensors\n%s/config.json\n", o.out.c_str(), o.out.c_str());
  });
  if (o.format.empty() && !no_llmc.empty())
    std::fprintf(stderr, "wsl-gpt: there is no model.bin: %s\n", no_llmc.c_str());
}

int run_verify(options& o, fields& f) {
  if (o.check.model.empty() || o.check.state.empty())
    throw std::invalid_argument("verify needs --model and --state, files of llm.c");
  for (const char* name : {"mixed_precision", "fp16_type", "use_bfloat16"})
    if (f.is_asked(name))
      throw std::invalid_argument("--" + std::string(name) +
                                  ": verify compares with llm.c in f32, weights are not rounded");
  check_strategy(o.common.run);
  o.check.num_csx = o.common.run.num_csx, o.check.workers = o.common.run.workers,
  o.check.columns = o.common.run.columns;
  if (o.common.run.execution_strategy == "pipeline") o.check.strips = o.common.run.strips;
  // No configuration describes the model here; of the optimizer's fields only those on the command line
  // count.
  if (f.is_asked("learning_rate"))
    o.check.learning_rate = o.common.optimizer.learning_rate.front().learning_rate;
  if (f.is_asked("weight_decay")) o.check.weight_decay = o.common.optimizer.weight_decay;
  return verify(o.check) ? 0 : 1;
}

int run(int argc, char** argv) {
  options o;
  fields f;
  f.section("train_input");
  declare_input(f, o.common.train_input, true), declare_text(f, o.train);
  f.section("eval_input");
  declare_input(f, o.common.eval_input, false), declare_text(f, o.eval);
  declare(f, o.model), declare_precision(f, o.common.precision);
  declare_optimizer(f, o.common.optimizer);
  declare_run(f, o.common.run);
  f.add("initial_weights", o.initial_weights,
        "begin with these: model.bin of llm.c, or a folder with config.json and model.safetensors, or its "
        "parts and their index, of transformers");
  declare_checkpoint_options(f, o.common), declare_rest(f, o);
  auto modes = common_modes();
  modes.insert(modes.end(), {{"sample", "write text with a trained model"},
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
       .configurations = configurations()},
      f, status);
  if (!mode) return status;
  o.common.run.checkpoint_asked = f.is_asked("checkpoint_path");
  complete(o.common, ranks::cores(), ranks::memory());
  for (const auto& [name, of_train, of_eval] :
       {std::tuple("vocabulary", &o.train.vocabulary, &o.eval.vocabulary),
        {"tokenizer_dir", &o.train.tokenizer_dir, &o.eval.tokenizer_dir}})
    if (!of_eval->empty() && *of_eval != *of_train)
      throw std::invalid_argument("eval_input." + std::string(name) + " is " + *of_eval +
                                  ", that of train_input " + (of_train->empty() ? "null" : *of_train) +
                                  ": a model has one vocabulary");
  if ((*mode == "sample" || *mode == "export" || *mode == "verify") && ranks::size() > 1)
    throw std::invalid_argument(*mode + " is the work of one process: start it without mpirun");
  if (*mode == "sample") return sample(o, f), 0;
  if (*mode == "export") return export_model(o), 0;
  if (*mode == "verify") return run_verify(o, f);
  const corpus text = read_corpus({.train = o.common.train_input.data_dir,
                                   .held_out = o.common.eval_input.data_dir,
                                   .kind = o.train.vocabulary,
                                   .tokenizer_dir = o.train.tokenizer_dir,
                                   .of_weights = vocabulary_of_weights(o.common.run)});
  task t = task_of(o, text);
  if (!o.initial_weights.empty())
    t.begin = [&o](ml::trainer_base& to) { import_weights(o.initial_weights, o.model.decoder(), to); };
  session s(o.common, f.kept_text(), std::move(t));
  run_mode(*mode, s);
  return s.status();
}

}  // namespace
}  // namespace gpt_app

int main(int argc, char** argv) {
  app::says = &train_app::ranks::first_to_say;
  return app::run("wsl-gpt", [&] { return gpt_app::run(argc, argv); });
}
