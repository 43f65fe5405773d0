// SPDX-License-Identifier: MIT
// wsl-dpr: trains a pair of encoders that find the passages which answer questions (dense passage retrieval,
// arXiv:2004.04906), and searches passages with it. See docs/guide/text.md.
#include <fmt/format.h>

#include <cstdio>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/companions.hpp>
#include <wsl/ml/io/hugging_face/dpr.hpp>
#include <wsl/support/whole_folder.hpp>

#include "../files.hpp"
#include "../run.hpp"
#include "../train/command.hpp"
#include "../train/ranks.hpp"
#include "configurations.hpp"
#include "model.hpp"
#include "text_input.hpp"
#include "text_run.hpp"
#include "vectors.hpp"

namespace dpr_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;

struct options {
  common_params common;
  model_params model;
  text_app::text_input train, eval;
  std::string hf, hf_ctx;  ///< folders of transformers, with whose encoders a run begins; empty: none
  std::string out;         ///< the folder to which `export` writes
  int best = 20;

  ml::dpr_folders folders() const {
    return hf_ctx.empty() ? ml::dpr_folders::in(hf) : ml::dpr_folders{hf, hf_ctx};
  }
};

void declare_all(fields& f, options& o) {
  const std::vector<std::string> processors{ml::dpr_processor::name};
  f.section("train_input");
  declare_input(f, o.common.train_input, true), o.train.declare(f, "train_input", processors);
  f.section("eval_input");
  declare_input(f, o.common.eval_input, false), o.eval.declare(f, "eval_input", processors);
  declare(f, o.model), declare_precision(f, o.common.precision);
  declare_optimizer(f, o.common.optimizer);
  declare_run(f, o.common.run);
  f.add("hf", o.hf,
        "a folder of Hugging Face with which a run begins: one with q_encoder and ctx_encoder, or BERT for "
        "both encoders, or, with hf_ctx, DPRQuestionEncoder")
      .of_one_command();
  f.add("hf_ctx", o.hf_ctx, "the folder of DPRContextEncoder, if that of questions is elsewhere")
      .of_one_command();
  declare_checkpoint_options(f, o.common);
  f.options_of("predict");
  f.add("best", o.best, "passages of each question that are written").at_least(1).at_most(10'000);
  f.options_of("export");
  f.add("out", o.out, "the folder for the two folders of Hugging Face").of_one_command();
}

/// The encoders of --hf. The fields that a folder does not say are as they are asked for.
void take_folders(fields& f, options& o) {
  text_app::take_model(f, o.hf, [&] {
    const ml::dual_encoder d = ml::read_dpr_config(o.folders(), !o.model.use_biencoder);
    const model_params asked = std::exchange(o.model, model_params::of(d, o.hf));
    o.model.dropout = asked.dropout, o.model.attention_dropout = asked.attention_dropout;
    o.model.use_biencoder = asked.use_biencoder, o.model.temperature = asked.temperature;
    o.model.mutual_information = asked.mutual_information, o.model.deviation = asked.deviation;
    if (ml::hugging_face::dpr_half{o.folders().questions, true}.is_bert())
      o.model.projection_dim = asked.projection_dim;
  });
}

void complete(fields& f, options& o) {
  if (o.hf.empty() && !o.hf_ctx.empty())
    throw std::invalid_argument("--hf_ctx needs --hf, the folder of the encoder of questions");
  if (!o.hf.empty()) take_folders(f, o);
  train_app::complete(o.common, ranks::cores(), ranks::memory());
  for (const auto& [section, in] :
       {std::pair("train_input", &o.common.train_input), {"eval_input", &o.common.eval_input}})
    if (in->data_dir.empty())
      throw std::invalid_argument(
          fmt::format("{}.data_dir is missing: name a file of questions and passages, or a folder", section));
}

ml::dpr_processor processor_of(fields& f, const options& o, bool trains) {
  ml::text_processor p = trains ? o.train.processor(f, o.common.train_input.data_dir)
                                : o.eval.processor(f, o.common.eval_input.data_dir, &o.train);
  auto& x = std::get<ml::dpr_processor>(p);
  if (x.vocab_file.empty() && !o.hf.empty()) x.vocab_file = o.folders().questions;
  return x;
}

/// The task of a run: the model, whose sizes are those of the data, and the data.
struct run_of_texts {
  task what;
  ml::retrieved_text held_out;
  ml::dual_encoder pair;
  std::string vocab_file;
};

/// The numbers that the model does not take are left out of the data.
ml::text_task for_model(ml::text_task t, const ml::dual_encoder& d) {
  if (d.questions.token_types) return t;
  t = ml::without(std::move(t), "questions_token_type_ids");
  for (int k = 0; k < d.passages_of_question; ++k)
    t = ml::without(std::move(t), ml::dual_encoder::name_of_passage(k) + "token_type_ids");
  return t;
}

/// Sets the sizes that follow from the data. Throws std::invalid_argument for those that do not fit.
void fit_to_data(model_params& m, int vocabulary, int longest) {
  if (!m.vocab_size) m.vocab_size = vocabulary;
  if (m.vocab_size < vocabulary)
    throw std::invalid_argument(
        fmt::format("model.vocab_size {} is less than the {} tokens of vocab_file: take as many",
                    m.vocab_size, vocabulary));
  if (!m.max_position_embeddings) m.max_position_embeddings = longest;
  if (longest > m.max_position_embeddings)
    throw std::invalid_argument(
        fmt::format("the data have sequences of {} tokens, more than model.max_position_embeddings {}: take "
                    "a smaller max_sequence_length and max_passage_length",
                    longest, m.max_position_embeddings));
}

run_of_texts read_run(fields& f, options& o) {
  const ml::dpr_processor train_by = processor_of(f, o, true), eval_by = processor_of(f, o, false);
  if (train_by.hard_negatives != eval_by.hard_negatives)
    throw std::invalid_argument(
        fmt::format("eval_input.hard_negatives {} is not train_input's {}: the model takes as many passages "
                    "of each question",
                    eval_by.hard_negatives, train_by.hard_negatives));
  const ml::retrieved_text train_texts = train_by.texts(), held_out_texts = eval_by.texts();
  int longest = 0;
  for (const ml::dpr_processor* p : {&train_by, &eval_by})
    longest = std::max({longest, p->max_sequence_length, p->max_passage_length});
  fit_to_data(o.model, train_by.by().size(), longest);
  const ml::dual_encoder d = o.model.pair(1 + train_by.hard_negatives);
  const ml::text_task train = for_model(train_texts.task(true), d),
                      held_out = for_model(held_out_texts.task(false), d);
  run_of_texts r{
      .what = {.program = "wsl-dpr",
               .model = [d] { return d.build(); },
               .model_words = o.model.words(),
               .data_words = fmt::format("{} to train with; held out: {}", train.about, held_out.about),
               .architecture = o.model.architecture(),
               .train = train.data,
               .held_out = held_out.data},
      .held_out = held_out_texts,
      .pair = d,
      .vocab_file = train_by.vocab_file};
  if (o.hf.empty()) return r;
  r.what.begins_with = fmt::format("--hf {}", o.hf);
  r.what.begin = [d, in = o.folders(), folder = o.common.run.model_dir](ml::trainer_base& to) {
    text_app::set_weights(to, ml::read_dpr(in, d, to.model(), text_app::weights_of(to)));
    app::make_folder(folder);
    ml::hugging_face::copy_companions(in.questions, folder);
  };
  return r;
}

void predict(options& o, const run_of_texts& r) {
  const auto m = text_app::trained(o.common, r.what);
  with_average(o.common.optimizer, *m, [&] {
    dpr_app::predict(*m, r.pair, r.held_out, o.common,
                     {.batch_size = o.common.eval_input.batch_size,
                      .best = o.best,
                      .passages_of_question = r.pair.passages_of_question},
                     o.common.run.model_dir);
  });
}

void write_model(options& o, const run_of_texts& r) {
  if (o.out.empty())
    throw std::invalid_argument("export needs --out, a folder for the two folders of Hugging Face");
  const auto m = text_app::trained(o.common, r.what);
  with_average(o.common.optimizer, *m, [&] {
    const bool has_tokenizer = ml::tokenizer::is_in(r.vocab_file);
    wsl::support::whole_folder out(o.out);
    ml::write_dpr(out.unfinished(), r.pair, m->run().model(), text_app::weights_of(m->run()),
                  {.companions = has_tokenizer ? r.vocab_file : ""});
    out.finish();
  });
  for (const char* half : {ml::dpr_folders::of_questions, ml::dpr_folders::of_passages})
    std::printf("%s/%s/model.safetensors\n", o.out.c_str(), half);
}

int run(int argc, char** argv) {
  options o;
  fields f;
  declare_all(f, o);
  int status = 0;
  auto modes = common_modes();
  modes.emplace_back("predict",
                     "write the vectors of the held-out questions and passages, and what is found");
  modes.emplace_back("export", "write both trained encoders for Hugging Face");
  const auto mode =
      parse(argc, argv,
            {.name = "wsl-dpr",
             .about = "Trains encoders that find the passages which answer questions, by weight streaming on "
                      "a simulated wafer.\nwsl-dpr train_and_eval --train_input.data_dir nq-train.json "
                      "--eval_input.data_dir nq-dev.json --hf bert --model_dir run",
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
}  // namespace dpr_app

int main(int argc, char** argv) {
  app::says = &train_app::ranks::first_to_say;
  return app::run("wsl-dpr", [&] { return dpr_app::run(argc, argv); });
}
