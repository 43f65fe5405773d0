// SPDX-License-Identifier: MIT
// wsl-bert: trains encoders, BERT, RoBERTa and Linformer, to guess hidden words, and fine-tunes them for
// classes of texts, tags of words, extractive summaries and answers to questions. See docs/guide/text.md.
#include <fmt/format.h>

#include <cstdio>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/companions.hpp>
#include <wsl/ml/io/hugging_face/families.hpp>
#include <wsl/support/whole_folder.hpp>

#include "../files.hpp"
#include "../run.hpp"
#include "../train/command.hpp"
#include "../train/ranks.hpp"
#include "configurations.hpp"
#include "model.hpp"
#include "predictions.hpp"
#include "text_input.hpp"
#include "text_run.hpp"

namespace bert_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;

const std::vector<std::string> processors{"BertCSVDynamicMaskDataProcessor",
                                          "BertCSVDataProcessor",
                                          "BertClassifierDataProcessor",
                                          "SST2DataProcessor",
                                          "MNLIDataProcessor",
                                          "BertTokenClassifierDataProcessor",
                                          "BertSumCSVDataProcessor",
                                          "QADataProcessor"};

struct options {
  common_params common;
  model_params model;
  text_app::text_input train, eval;
  std::string hf;   ///< a folder of transformers, with whose encoder a run begins; empty: none
  std::string out;  ///< the folder to which `export` writes
};

void declare_all(fields& f, options& o) {
  f.section("train_input");
  declare_input(f, o.common.train_input, true), o.train.declare(f, "train_input", processors);
  f.section("eval_input");
  declare_input(f, o.common.eval_input, false), o.eval.declare(f, "eval_input", processors);
  declare(f, o.model), declare_precision(f, o.common.precision);
  declare_optimizer(f, o.common.optimizer);
  declare_run(f, o.common.run);
  f.add("hf", o.hf,
        "a folder of Hugging Face with BERT or RoBERTa: a run begins with its encoder, and with new layers "
        "for "
        "another task than its own")
      .of_one_command();
  declare_checkpoint_options(f, o.common);
  f.options_of("export");
  f.add("out", o.out, "the folder for the files of Hugging Face").of_one_command();
}

/// The model of --hf, but its task.
void take_folder(fields& f, options& o) {
  text_app::take_model(f, o.hf, [&] {
    const auto [family, e] = ml::read_hugging_face_config<ml::encoder>(fmt::format("{}/config.json", o.hf));
    const model_params asked = std::exchange(o.model, model_params::of(e, family->model_type));
    o.model.dropout = asked.dropout, o.model.attention_dropout = asked.attention_dropout;
    o.model.mlm_loss_weight = asked.mlm_loss_weight, o.model.num_classes = asked.num_classes;
    o.model.disable_nsp = asked.disable_nsp, o.model.deviation = asked.deviation;
  });
}

void complete(fields& f, options& o) {
  if (!o.hf.empty()) take_folder(f, o);
  train_app::complete(o.common, ranks::cores(), ranks::memory());
  for (const auto& [section, in] :
       {std::pair("train_input", &o.common.train_input), {"eval_input", &o.common.eval_input}})
    if (in->data_dir.empty())
      throw std::invalid_argument(
          fmt::format("{}.data_dir is missing: name a file of texts or a folder", section));
}

/// The task that an encoder is trained for with the examples of a processor.
ml::encoder_task goal_of(const ml::text_processor& p) {
  const auto of_hidden_words = [](bool disable_nsp) {
    return disable_nsp ? ml::encoder_task::masked_words : ml::encoder_task::next_sentence;
  };
  if (const auto* x = std::get_if<ml::bert_csv_dynamic_mask_processor>(&p))
    return of_hidden_words(x->disable_nsp);
  if (const auto* x = std::get_if<ml::bert_csv_processor>(&p)) return of_hidden_words(x->disable_nsp);
  if (std::holds_alternative<ml::qa_processor>(p)) return ml::encoder_task::span;
  const bool of_tokens = std::holds_alternative<ml::bert_token_classifier_processor>(p) ||
                         std::holds_alternative<ml::bert_sum_csv_processor>(p);
  return of_tokens ? ml::encoder_task::token_classes : ml::encoder_task::sequence_classes;
}

/// The processor of a part of the data, with what the run says elsewhere.
ml::text_processor processor_of(fields& f, const options& o, bool trains) {
  ml::text_processor p = trains ? o.train.processor(f, o.common.train_input.data_dir)
                                : o.eval.processor(f, o.common.eval_input.data_dir, &o.train);
  ml::each_setting(p, [&](const std::string& name, auto& value, const char*) {
    if constexpr (std::is_same_v<decltype(value), std::string&>) {
      if (name == "vocab_file" && value.empty()) value = o.hf;
    } else if constexpr (std::is_same_v<decltype(value), bool&>)
      if (name == "disable_nsp") value = value || o.model.disable_nsp;
  });
  return p;
}
/// Gives the classes of the training data to the processor of the others, so that they have the same numbers.
void take_classes(ml::text_processor& p, const ml::label_map& classes) {
  if (auto* x = std::get_if<ml::bert_classifier_processor>(&p); x && x->classes.empty())
    x->classes = classes.names();
  if (auto* x = std::get_if<ml::bert_token_classifier_processor>(&p)) x->classes = classes;
}
std::string vocabulary_of(ml::text_processor p) {
  std::string file;
  ml::each_setting(p, [&](const std::string& name, auto& value, const char*) {
    if constexpr (std::is_same_v<decltype(value), std::string&>)
      if (name == "vocab_file") file = value;
  });
  return file;
}
int length_of(const ml::text_task& t) { return t.data.length; }

/// The task of a run: the model, whose vocabulary and classes are those of the data, and the data.
struct run_of_texts {
  task what;
  ml::text_task held_out;
  ml::text_processor by;  ///< of what is held out
  ml::encoder_task goal;
  std::string vocab_file;
};

/// The numbers that the model does not take are left out of the data.
ml::text_task for_model(ml::text_task t, const ml::encoder& e) {
  return e.token_types ? std::move(t) : ml::without(std::move(t), "token_type_ids");
}

/// Sets the sizes that follow from the data. Throws std::invalid_argument for those that do not fit.
void fit_to_data(model_params& m, int vocabulary, int longest, const ml::label_map& classes) {
  if (!m.vocab_size) m.vocab_size = vocabulary;
  if (m.vocab_size < vocabulary)
    throw std::invalid_argument(
        fmt::format("model.vocab_size {} is less than the {} tokens of vocab_file: take as many",
                    m.vocab_size, vocabulary));
  if (!m.max_position_embeddings) m.max_position_embeddings = longest;
  if (longest > m.max_position_embeddings)
    throw std::invalid_argument(
        fmt::format("max_sequence_length {} is more than model.max_position_embeddings {}", longest,
                    m.max_position_embeddings));
  const int count = std::max(2, classes.count());
  if (!m.num_classes) m.num_classes = count;
  if (m.num_classes < count)
    throw std::invalid_argument(
        fmt::format("model.num_classes {} is less than the {} classes of the data: {}", m.num_classes, count,
                    classes.text()));
}

run_of_texts read_run(fields& f, options& o) {
  const ml::text_processor train_by = processor_of(f, o, true);
  ml::text_processor eval_by = processor_of(f, o, false);
  if (train_by.index() != eval_by.index())
    throw std::invalid_argument(
        "eval_input.data_processor is another one than train_input's: a model has one task");
  ml::text_task train = ml::task_of(train_by, true);
  take_classes(eval_by, train.classes);
  ml::text_task held_out = ml::task_of(eval_by, false);
  const ml::encoder_task goal = goal_of(train_by);
  const int vocabulary = std::visit([](const auto& p) { return p.by().size(); }, train_by);
  fit_to_data(o.model, vocabulary, std::max(length_of(train), length_of(held_out)), train.classes);
  const ml::encoder e = o.model.encoder(goal);
  train = for_model(std::move(train), e), held_out = for_model(std::move(held_out), e);
  run_of_texts r{
      .what = {.program = "wsl-bert",
               .model = [e] { return e.build(); },
               .model_words = o.model.words(),
               .data_words = fmt::format("{} to train with; held out: {}", train.about, held_out.about),
               .architecture = o.model.architecture(goal),
               .train = train.data,
               .held_out = held_out.data},
      .held_out = held_out,
      .by = eval_by,
      .goal = goal,
      .vocab_file = vocabulary_of(train_by)};
  if (o.hf.empty()) return r;
  r.what.begins_with = fmt::format("--hf {}", o.hf);
  r.what.begin = [e, hf = o.hf, folder = o.common.run.model_dir](ml::trainer_base& to) {
    ml::pretrained_encoder p = ml::read_hugging_face<ml::encoder>(hf);
    p.config.task = e.task, p.config.classes = e.classes;
    text_app::set_weights(to, p.to_weights(to.model(), text_app::weights_of(to)));
    app::make_folder(folder);
    ml::hugging_face::copy_companions(hf, folder);
  };
  return r;
}

void predict(options& o, const run_of_texts& r) {
  const auto m = text_app::trained(o.common, r.what);
  const char* const name = r.goal == ml::encoder_task::span            ? "predictions.json"
                           : r.goal == ml::encoder_task::token_classes ? "predictions.conll"
                                                                       : "predictions.tsv";
  with_average(o.common.optimizer, *m, [&] {
    bert_app::predict(*m, r.held_out, r.by, r.goal, o.common.eval_input.batch_size,
                      fmt::format("{}/{}", o.common.run.model_dir, name));
  });
}

void write_model(options& o, const run_of_texts& r) {
  if (o.out.empty())
    throw std::invalid_argument("export needs --out, a folder for the files of Hugging Face");
  const auto m = text_app::trained(o.common, r.what);
  with_average(o.common.optimizer, *m, [&] {
    const bool has_tokenizer = ml::tokenizer::is_in(r.vocab_file);
    wsl::support::whole_folder out(o.out);
    ml::write_hugging_face(out.unfinished(), o.model.encoder(r.goal), m->run().model(),
                           text_app::weights_of(m->run()), {.companions = has_tokenizer ? r.vocab_file : ""});
    out.finish();
  });
  std::printf("%s/model.safetensors\n", o.out.c_str());
}

int run(int argc, char** argv) {
  options o;
  fields f;
  declare_all(f, o);
  int status = 0;
  auto modes = common_modes();
  modes.emplace_back("predict", "write what a trained encoder says of the held-out data, and how well");
  modes.emplace_back("export", "write a trained encoder for Hugging Face");
  const auto mode =
      parse(argc, argv,
            {.name = "wsl-bert",
             .about = "Trains encoders on texts, by weight streaming on a simulated wafer.\nwsl-bert "
                      "train_and_eval --data_processor SST2DataProcessor --train_input.data_dir train.tsv "
                      "--eval_input.data_dir dev.tsv --hf bert --model_dir run",
             .modes = modes,
             .configurations = configurations(),
             .model_option = "hf"},
            f, status);
  if (!mode) return status;
  o.common.run.checkpoint_asked = f.is_asked("checkpoint_path");
  if (*mode == "predict" || *mode == "export") text_app::require_checkpoint(o.common);
  complete(f, o);
  run_of_texts r = read_run(f, o);
  if ((*mode == "predict" || *mode == "export") && ranks::size() > 1)
    throw std::invalid_argument(fmt::format("{} is the work of one process: start it without mpirun", *mode));
  if (*mode == "predict") return predict(o, r), 0;
  if (*mode == "export") return write_model(o, r), 0;
  session s(o.common, f.kept_text(), std::move(r.what));
  run_mode(*mode, s);
  return s.status();
}

}  // namespace
}  // namespace bert_app

int main(int argc, char** argv) {
  app::says = &train_app::ranks::first_to_say;
  return app::run("wsl-bert", [&] { return bert_app::run(argc, argv); });
}
