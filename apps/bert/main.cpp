// SPDX-License-Identifier: MIT
// wsl-bert: trains encoders, BERT, RoBERTa and Linformer, to guess hidden words, and fine-tunes them for
// classes of texts, tags of words, extractive summaries and answers to questions. See docs/guide/text.md.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/config.hpp>
#include <wsl/ml/io/hugging_face/families.hpp>
#include <wsl/support/whole_folder.hpp>

#include "../files.hpp"
#include "../train/command.hpp"
#include "../train/ranks.hpp"
#include "../train/synthetic.hpp"
#include "../train/trainer_main.hpp"
#include "configurations.hpp"
#include "options.hpp"
#include "predictions.hpp"
#include "text_run.hpp"

namespace bert_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;

/// The model of --hf, but its task.
void take_folder(fields& f, options& o) {
  text_app::take_model(f, o.hf, [&] {
    const auto [family, e] = ml::read_hugging_face_config<ml::encoder>(fmt::format("{}/config.json", o.hf));
    const model_params asked = std::exchange(o.model, model_params::of(e, family->model_type));
    o.model.dropout = asked.dropout, o.model.attention_dropout = asked.attention_dropout;
    o.model.ffn_dropout = std::max(asked.ffn_dropout, 0.);  // transformers has none there
    o.model.mlm_loss_weight = asked.mlm_loss_weight, o.model.num_classes = asked.num_classes;
    o.model.disable_nsp = asked.disable_nsp, o.model.deviation = asked.deviation;
  });
}

/// Whether the data of a part are random numbers.
bool is_random(const text_app::text_input& x, const text_app::text_input& otherwise) {
  return (x.data_processor.empty() ? otherwise : x).data_processor == synthetic_processor;
}
bool reads_held_out(const options& o, const text_app::stage& now) {
  return now.reads_held_out(!o.common.eval_input.data_dir.empty() || is_random(o.eval, o.train));
}

void complete(fields& f, options& o, const text_app::stage& now) {
  if (!o.hf.empty()) take_folder(f, o);
  for (text_app::text_input* x : {&o.train, &o.eval}) x->forget_lengths(f);
  if (o.model.has_mup()) require_rule_for_mup(o.common.optimizer);
  train_app::complete(o.common, ranks::cores(), ranks::memory());
  if (now.trains()) require_data(o, true);
  if (reads_held_out(o, now)) require_data(o, false);
}

/// The processor of a part of the data, with what the run says elsewhere.
ml::text_processor processor_of(fields& f, const options& o, bool trains) {
  ml::text_processor p = trains ? o.train.processor(f, o.common.train_input.data_dir)
                                : o.eval.processor(f, o.common.eval_input.data_dir, &o.train);
  ml::each_setting(p, [&](const std::string& name, auto& value, const char*) {
    if constexpr (std::is_same_v<decltype(value), std::string&>) {
      if (name == "vocab_file" && value.empty()) value = o.hf;
    } else if constexpr (std::is_same_v<decltype(value), bool&>) {
      if (name == "disable_nsp") value = value || o.model.disable_nsp;
      else if (name == "include_padding_in_loss") value = value || o.model.include_padding;
    }
  });
  complete_length(p, o.model);
  text_app::complete_synthetic(p, trains ? o.common.train_input : o.common.eval_input, trains,
                               o.model.vocab_size, o.model.max_position_embeddings);
  return p;
}
/// Gives the classes of the training data to the processor of the others, so that they have the same numbers.
void take_classes(ml::text_processor& p, const ml::label_map& classes) {
  if (auto* x = std::get_if<ml::bert_classifier_processor>(&p); x && x->classes.empty())
    x->classes = classes.names();
  if (auto* x = std::get_if<ml::bert_token_classifier_processor>(&p)) x->classes = classes;
}
/// The names of the classes of a run that looks at a checkpoint: those that were given, or the checkpoint's.
std::vector<std::string> classes_of(fields& f, ml::text_processor& p, const text_app::text_meaning& kept) {
  if (const auto* x = std::get_if<ml::bert_classifier_processor>(&p); x && !x->classes.empty())
    return x->classes;
  if (auto* x = std::get_if<ml::bert_token_classifier_processor>(&p)) {
    const std::string file = std::exchange(x->label_vocab_file, "");
    for (const field* given : f.named("label_vocab_file"))
      if (given->given.starts_with("--")) return ml::label_map::of_file(file).names();
  }
  return kept.classes;
}

/// The task of a run: the model, whose vocabulary and classes are those of the data, and the data.
struct run_of_texts {
  task what = {};
  ml::text_task held_out = {};
  ml::text_processor by;  ///< of what is held out
  ml::encoder_task goal = {};
  text_app::text_meaning meaning = {};
};

/// The numbers that the model does not take are left out of the data.
ml::text_task for_model(ml::text_task t, const ml::encoder& e) {
  return e.token_types ? std::move(t) : ml::without(std::move(t), "token_type_ids");
}

/// Sets the sizes that follow from the data. Throws std::invalid_argument for those that do not fit.
void fit_to_data(model_params& m, int vocabulary, int longest, ml::encoder_task goal,
                 const std::vector<std::string>& classes) {
  if (!m.vocab_size) m.vocab_size = vocabulary;
  if (m.vocab_size < vocabulary)
    throw std::invalid_argument(
        fmt::format("model.vocab_size {} is less than the {} tokens of vocab_file: take as many",
                    m.vocab_size, vocabulary));
  if (!m.max_position_embeddings) m.max_position_embeddings = longest;
  require_positions(m, longest);
  if (goal != ml::encoder_task::sequence_classes && goal != ml::encoder_task::token_classes) {
    if (m.num_classes)
      throw std::invalid_argument(fmt::format(
          "model.num_classes {} is of texts, words or sentences with classes, and this task has none: leave "
          "it out",
          m.num_classes));
    return;
  }
  const int count = std::max(2, static_cast<int>(classes.size()));
  if (!m.num_classes) m.num_classes = count;
  if (m.num_classes < count)
    throw std::invalid_argument(
        fmt::format("model.num_classes {} is less than the {} classes of the data: {}", m.num_classes, count,
                    ml::label_map(classes).text()));
}

/// The names of the classes of a folder of Hugging Face; none if they are only numbered.
std::vector<std::string> classes_of_folder(const std::string& folder) {
  const ml::hugging_face::config_file config(fmt::format("{}/config.json", folder));
  const auto labels = config.object("id2label").fields();
  std::vector<std::string> names;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const auto name = labels.find(std::to_string(k));
    if (name == labels.end() || !name->is_string() || *name == fmt::format("LABEL_{}", k)) return {};
    names.push_back(name->get<std::string>());
  }
  return names;
}

/// Reads the training data. Classes that the files alone name have the numbers that the run gives them if it
/// goes on, or the model of --hf. Returns whether the layer of the classes of that model is for other ones.
bool read_training_data(const options& o, const text_app::stage& now, ml::text_processor& by,
                        ml::text_task& to) {
  to = ml::task_of(by, ml::text_use::training);
  if ((o.hf.empty() && !now.begun) || !to.classes.count()) return false;
  const std::vector<std::string> theirs = now.begun ? now.begun->classes : classes_of_folder(o.hf),
                                 ours = to.classes.names();
  if (theirs.empty() || theirs == ours) return false;
  const auto* words = std::get_if<ml::bert_token_classifier_processor>(&by);
  const auto* texts = std::get_if<ml::bert_classifier_processor>(&by);
  const bool is_free = (words && words->label_vocab_file.empty()) || (texts && texts->classes.empty());
  if (!is_free || !std::is_permutation(ours.begin(), ours.end(), theirs.begin(), theirs.end())) return true;
  take_classes(by, ml::label_map(theirs));
  to = ml::task_of(by, ml::text_use::training);
  return false;
}

/// Begins a run with the encoder of a folder, and with new layers for other classes than its own.
void begin_with(const std::string& hf, const ml::encoder& e, bool has_new_classes, ml::trainer_base& to) {
  ml::pretrained_encoder p = ml::read_hugging_face<ml::encoder>(hf);
  p.config.task = e.task, p.config.classes = e.classes;
  const ml::weights before = text_app::weights_of(to);
  ml::weights now = p.to_weights(to.model(), before);
  for (std::size_t k = 0; has_new_classes && k < now.size(); ++k)
    if (to.model().parameters()[k].name.starts_with("classifier.")) now[k] = before[k];
  text_app::set_weights(to, now);
}

run_of_texts read_run(fields& f, options& o, const text_app::stage& now) {
  run_of_texts r{.by = processor_of(f, o, false)};
  ml::text_task train;
  int longest = length_of(r.by);
  bool has_new_classes = false;
  if (now.trains()) {
    ml::text_processor train_by = processor_of(f, o, true);
    if (train_by.index() != r.by.index())
      throw std::invalid_argument(
          "eval_input.data_processor is another one than train_input's: a model has one task");
    r.meaning.vocabulary = text_app::share_vocabulary(now, train_by, r.by);
    i64 number = 0;
    train = text_app::read_task([&] {
      ml::text_task read;
      number = read_training_data(o, now, train_by, read);
      return read;
    });
    ranks::tell(number);
    has_new_classes = number != 0;
    take_classes(r.by, train.classes);
    r.meaning.classes = train.classes.names();
    longest = std::max(longest, length_of(train_by));
  } else {
    r.meaning.vocabulary = text_app::take_vocabulary(f, o.common, now, r.by);
    r.meaning.classes = classes_of(f, r.by, *now.kept);
    take_classes(r.by, ml::label_map(r.meaning.classes));
    if (ranks::root()) text_app::require_same_meaning(now.checkpoint, r.meaning, o.common.run.override_model);
  }
  if (reads_held_out(o, now)) r.held_out = text_app::read_task([&] { return ml::task_of(r.by, now.use()); });
  r.goal = goal_of(r.by);
  const ml::tokenizer words = r.meaning.words();
  if (!o.hf.empty()) text_app::require_vocabulary_of_folder(words, o.hf, o.model.vocab_size, "vocab_file");
  fit_to_data(o.model, words.size(), longest, r.goal, r.meaning.classes);
  const ml::encoder e = o.model.encoder(r.goal);
  for (const ml::text_task* data : {&train, &r.held_out})
    text_app::require_token_types(o.model.num_segments, *data);
  if (now.trains()) train = for_model(std::move(train), e);
  else train.data.length = longest;
  if (r.held_out.data.count) r.held_out = for_model(std::move(r.held_out), e);
  r.what = {
      .program = "wsl-bert",
      .model = [e] { return e.build(); },
      .model_words = o.model.words(),
      .data_words = text_app::data_words(train, r.held_out),
      .architecture = o.model.architecture(r.goal),
      .train = train.data,
      .held_out = r.held_out.data,
      .names_in_zoo =
          [](const std::string& ours) { return names_in_zoo(ours, "bert_encoder.transformer_encoder"); }};
  text_app::keep_meaning(r.what, r.meaning, o.common.run);
  if (!o.hf.empty())
    text_app::begin_with_folder(r.what, o.hf, o.common.run.model_dir, [=, hf = o.hf](ml::trainer_base& to) {
      begin_with(hf, e, has_new_classes, to);
    });
  return r;
}

void predict(const fields& f, options& o, const run_of_texts& r, const text_app::stage& now) {
  const auto m = text_app::trained(now.checkpoint, o.common, r.what);
  const char* const name = r.goal == ml::encoder_task::span            ? "predictions.json"
                           : r.goal == ml::encoder_task::token_classes ? "predictions.conll"
                                                                       : "predictions.tsv";
  if (o.predictions.empty()) o.predictions = fmt::format("{}/{}", o.common.run.model_dir, name);
  with_average(o.common.optimizer, *m, [&] {
    bert_app::predict(*m, r.held_out, r.by, r.goal, o.common.eval_input.batch_size, f, o.predictions);
  });
}

void write_model(options& o, const run_of_texts& r, const text_app::stage& now) {
  if (o.out.empty())
    throw std::invalid_argument("export needs --out, a folder for the files of Hugging Face");
  // A model of hidden words and next sentences is exported for its encoder, and classes hang on the pooler.
  if (o.model.has_pooler_of_its_own(r.goal)) {
    const std::string what =
        fmt::format("the pooler of {} has {} (model.pooler_nonlinearity), and that of Hugging Face tanh",
                    now.checkpoint, o.model.pooler_nonlinearity);
    if (r.goal == ml::encoder_task::sequence_classes)
      throw std::invalid_argument(
          what +
          ", so that there the classes would be others: train with --pooler_nonlinearity tanh to export");
    std::fprintf(stderr, "wsl-bert: %s: there it judges next sentences otherwise\n", what.c_str());
  }
  const auto m = text_app::trained(now.checkpoint, o.common, r.what);
  std::vector<std::string> classes = r.meaning.classes;
  while (!classes.empty() && std::ssize(classes) < o.model.num_classes)
    classes.push_back(fmt::format("LABEL_{}", classes.size()));
  with_average(o.common.optimizer, *m, [&] {
    wsl::support::whole_folder out(o.out);
    ml::write_hugging_face(
        out.unfinished(), o.model.encoder(r.goal), m->run().model(), text_app::weights_of(m->run()),
        {.classes = classes, .companions = std::filesystem::path(now.checkpoint).parent_path().string()});
    text_app::write_vocabulary(out.unfinished(), r.meaning, o.model.max_position_embeddings);
    out.finish();
  });
  std::printf("%s/model.safetensors\n", o.out.c_str());
}

int run(int argc, char** argv) {
  options o;
  fields f;
  declare(f, o);
  using text_app::stage;
  return text_app::run(
      argc, argv, f, o.common,
      {.words = {.name = "wsl-bert",
                 .about = "Trains encoders on texts, by weight streaming on a simulated wafer.\nwsl-bert "
                          "train_and_eval --data_processor SST2DataProcessor --train_input.data_dir "
                          "train.tsv --eval_input.data_dir dev.tsv --hf bert --model_dir run",
                 .modes = {},
                 .configurations = configurations(),
                 .model_option = "hf"},
       .predicts = "write what a trained encoder says of the held-out data, and how well",
       .exports = "write a trained encoder for Hugging Face",
       .complete = [&](const stage& now) { complete(f, o, now); },
       .read = [&](const stage& now) { return read_run(f, o, now).what; },
       .predict = [&](const stage& now) { predict(f, o, read_run(f, o, now), now); },
       .write_model = [&](const stage& now) { write_model(o, read_run(f, o, now), now); }});
}

}  // namespace
}  // namespace bert_app

int main(int argc, char** argv) { return train_app::run_trainer("wsl-bert", argc, argv, bert_app::run); }
