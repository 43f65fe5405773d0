// SPDX-License-Identifier: MIT
#include "language.hpp"

#include <filesystem>
#include <tuple>
#include <wsl/ml/io/checkpoint.hpp>

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;
using wsl::i32;

void declare_text(fields& f, text_params& p) {
  f.no_effect("a word", {"data_processor"});
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
        "the tokenizer of a text, of tokens or of a model: a folder with tokenizer.json, tokenizer.model, or "
        "GPT-2's encoder.json and vocab.bpe (vocab.json and merges.txt)");
}

/// Throws std::invalid_argument if the data do not fit the model's vocabulary.
void check_vocabulary(const language_params& o, const corpus& text) {
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
std::string unused_words(const language_params& o, const corpus& text) {
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

/// The vocabulary of the checkpoint whose weights alone a run begins with; empty if it does not.
std::string vocabulary_of_weights(const run_params& r) {
  if (r.load_checkpoint_states != "model" || r.checkpoint_path.empty()) return "";
  const std::string from = checkpoint_to_look_at(r);
  return from.empty() ? "" : fact_of(from, "vocabulary");
}

task task_with(const std::string& program, language_params& o, const corpus& text) {
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
  task t{.program = program,
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

}  // namespace

void declare_inputs(fields& f, language_params& p) {
  f.section("train_input");
  declare_input(f, p.common.train_input, true), declare_text(f, p.train);
  f.section("eval_input");
  declare_input(f, p.common.eval_input, false), declare_text(f, p.eval);
}

void complete(fields& f, language_params& p) {
  p.common.run.checkpoint_asked = f.is_asked("checkpoint_path");
  train_app::complete(p.common, ranks::cores(), ranks::memory());
  for (const auto& [name, of_train, of_eval] :
       {std::tuple("vocabulary", &p.train.vocabulary, &p.eval.vocabulary),
        {"tokenizer_dir", &p.train.tokenizer_dir, &p.eval.tokenizer_dir}})
    if (!of_eval->empty() && *of_eval != *of_train)
      throw std::invalid_argument("eval_input." + std::string(name) + " is " + *of_eval +
                                  ", that of train_input " + (of_train->empty() ? "null" : *of_train) +
                                  ": a model has one vocabulary");
}

task task_of(const std::string& program, language_params& p) {
  return task_with(program, p,
                   read_corpus({.train = p.common.train_input.data_dir,
                                .held_out = p.common.eval_input.data_dir,
                                .kind = p.train.vocabulary,
                                .tokenizer_dir = p.train.tokenizer_dir,
                                .of_weights = vocabulary_of_weights(p.common.run),
                                .of_model = p.hf}));
}

void refuse_options(fields& f, std::initializer_list<const char*> names, const std::string& why) {
  for (const char* name : names)
    if (f.is_asked(name)) throw std::invalid_argument("--" + std::string(name) + ": " + why);
}

namespace {

/// A run's last checkpoint, or the one that was asked for, and its vocabulary. Throws std::invalid_argument
/// if there is none, or if it is of another model.
std::string trained_checkpoint(language_params& o, vocabulary& words) {
  const run_params& r = o.common.run;
  const std::string from = checkpoint_to_look_at(r);
  if (from.empty())
    throw std::invalid_argument("there is no checkpoint in " + r.model_dir +
                                ": train first, or give --checkpoint_path");
  const std::string kept = fact_of(from, "vocabulary"),
                    folder = std::filesystem::absolute(from).parent_path();
  // The folder of the tokenizer may have gone since; a run that began with a model of Hugging Face has a
  // copy.
  if (!kept.starts_with("characters") && !std::filesystem::is_directory(o.train.tokenizer_dir) &&
      ml::tokenizer::is_in(folder))
    o.train.tokenizer_dir = folder;
  try {
    words = vocabulary::from_saved(kept, o.train.tokenizer_dir);
  } catch (const ml::file_error&) {
    throw;  // of a file that the vocabulary is read with
  } catch (const std::invalid_argument& e) {
    throw ml::file_error(from + ": its vocabulary is damaged: " + e.what());
  }
  if (!o.model.vocab_size) o.model.vocab_size = words.size();
  require_same_model(from, o.model.architecture(), r.override_model);
  return from;
}

}  // namespace

std::unique_ptr<machine> trained(language_params& o, vocabulary& words) {
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

stored_model trained_model(language_params& o) {
  vocabulary words;
  const std::string from = trained_checkpoint(o, words);
  const bool has_letters = words.saved().starts_with("characters");
  stored_model m =
      model_of_checkpoint(from, o.model.decoder(), std::move(words), o.common.optimizer.ema_decay > 0);
  m.tokenizer = o.train.tokenizer_dir;
  // A run that began with a model of Hugging Face has its tokenizer beside the checkpoints.
  if (const std::string folder = std::filesystem::absolute(from).parent_path();
      !has_letters && ml::tokenizer::is_in(folder))
    take_words(m, folder, o.train.tokenizer_dir);
  return m;
}

}  // namespace gpt_app
