// SPDX-License-Identifier: MIT
// wsl-dpr: trains a pair of encoders that find the passages which answer questions (dense passage retrieval,
// arXiv:2004.04906), and searches passages with it. See docs/guide/text.md.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/dpr.hpp>
#include <wsl/support/whole_folder.hpp>

#include "../files.hpp"
#include "../train/command.hpp"
#include "../train/ranks.hpp"
#include "../train/trainer_main.hpp"
#include "configurations.hpp"
#include "options.hpp"
#include "text_run.hpp"
#include "vectors.hpp"

namespace dpr_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;

/// The encoders of --hf. The fields that a folder does not say are as they are asked for.
void take_folders(fields& f, options& o) {
  text_app::take_model(f, o.hf, [&] {
    const ml::dual_encoder d = ml::read_dpr_config(o.folders(), !o.model.use_biencoder);
    const model_params asked = std::exchange(o.model, model_params::of(d, o.hf));
    o.model.dropout = asked.dropout, o.model.attention_dropout = asked.attention_dropout;
    o.model.ffn_dropout = std::max(asked.ffn_dropout, 0.);  // transformers has none there
    o.model.use_biencoder = asked.use_biencoder, o.model.temperature = asked.temperature;
    o.model.mutual_information = asked.mutual_information, o.model.deviation = asked.deviation;
    if (ml::hugging_face::dpr_half{o.folders().questions, true}.is_bert())
      o.model.projection_dim = asked.projection_dim;
  });
}

bool reads_held_out(const options& o, const text_app::stage& now) {
  return o.passages.empty() && now.reads_held_out(!o.common.eval_input.data_dir.empty());
}

void complete(fields& f, options& o, const text_app::stage& now) {
  if (o.hf.empty() && !o.hf_ctx.empty())
    throw std::invalid_argument("--hf_ctx needs --hf, the folder of the encoder of questions");
  if (!o.hf.empty()) take_folders(f, o);
  train_app::complete(o.common, ranks::cores(), ranks::memory());
  if (now.trains()) require_data(o, true);
  if (reads_held_out(o, now)) require_data(o, false);
}

ml::text_processor processor_of(fields& f, const options& o, bool trains) {
  ml::text_processor p = trains ? o.train.processor(f, o.common.train_input.data_dir)
                                : o.eval.processor(f, o.common.eval_input.data_dir, &o.train);
  auto& x = std::get<ml::dpr_processor>(p);
  if (x.vocab_file.empty() && !o.hf.empty()) x.vocab_file = o.folders().questions;
  return p;
}

/// The task of a run: the model, whose sizes are those of the data, and the data.
struct run_of_texts {
  task what = {};
  std::optional<ml::retrieved_text> held_out = {};
  ml::dpr_processor by = {};  ///< of what is held out, with the vocabulary of the run
  ml::dual_encoder pair = {};
  text_app::text_meaning meaning = {};
};

/// The tokens of a question and of its passages, with their padding.
i64 tokens_of(const ml::dataset& d) {
  i64 sum = 0;
  for (const ml::named_field& x : d.named)
    if (x.name.ends_with("input_ids")) sum += x.count;
  return sum;
}

/// The numbers that the model does not take are left out of the data.
ml::text_task for_model(ml::text_task t, const ml::dual_encoder& d) {
  if (d.questions.token_types) return t;
  t = ml::without(std::move(t), "questions_token_type_ids");
  for (int k = 0; k < d.passages_of_question; ++k)
    t = ml::without(std::move(t), ml::dual_encoder::name_of_passage(k) + "token_type_ids");
  return t;
}

/// Throws std::invalid_argument if no question is ever compared with a passage that does not answer it, so
/// that the loss is 0 for any weights. `of_batch` is the number of questions that are compared.
void require_comparison(const char* section, i64 of_batch, const ml::retrieval_data& data, int hard) {
  const bool has_hard =
      hard > 0 && std::ranges::any_of(data.questions, [](const auto& q) { return !q.hard.empty(); });
  if (of_batch == 1 && !has_hard)
    throw std::invalid_argument(
        fmt::format("the questions of {0} come one at a time, each with the passage that answers it and no "
                    "other, so there is nothing to compare and the loss is always 0: take a larger "
                    "{0}.batch_size (and micro_batch_size), or data with hard negatives and hard_negatives 1",
                    section));
}
/// The questions that are compared in training: those of a micro-batch of all wafers.
i64 compared_questions(const common_params& p) {
  const i64 all = p.train_input.batch_size, of_wafer = p.train_input.micro_batch_size.size;
  return of_wafer ? std::min(all, of_wafer * p.run.num_csx) : all;
}

/// Sets the sizes that follow from the data. Throws std::invalid_argument for those that do not fit.
void fit_to_data(model_params& m, int vocabulary, int longest) {
  if (!m.vocab_size) m.vocab_size = vocabulary;
  if (m.vocab_size < vocabulary)
    throw std::invalid_argument(
        fmt::format("model.vocab_size {} is less than the {} tokens of vocab_file: take as many",
                    m.vocab_size, vocabulary));
  if (!m.max_position_embeddings) m.max_position_embeddings = longest;
  require_positions(m, longest);
}

run_of_texts read_run(fields& f, options& o, const text_app::stage& now) {
  run_of_texts r;
  ml::text_processor held_out_by = processor_of(f, o, false);
  const auto& eval_by = std::get<ml::dpr_processor>(held_out_by);
  int longest = length_of(eval_by);
  ml::text_task train, held_out;
  int hard = eval_by.hard_negatives;
  if (now.trains()) {
    ml::text_processor by = processor_of(f, o, true);
    r.meaning.vocabulary = text_app::share_vocabulary(now, by, held_out_by);
    const auto& train_by = std::get<ml::dpr_processor>(by);
    if (reads_held_out(o, now) && train_by.hard_negatives != eval_by.hard_negatives)
      throw std::invalid_argument(
          fmt::format("eval_input.hard_negatives {} is not train_input's {}: the model takes as many "
                      "passages of each question",
                      eval_by.hard_negatives, train_by.hard_negatives));
    longest = std::max(longest, length_of(train_by));
    hard = train_by.hard_negatives;
    r.meaning.settings = {{"hard_negatives", std::to_string(hard)}};
    train = text_app::read_task([&] {
      const ml::retrieved_text texts = train_by.texts();
      require_comparison("train_input", compared_questions(o.common), texts.data(), hard);
      return texts.task(true);
    });
  } else {
    r.meaning.vocabulary = text_app::take_vocabulary(f, o.common, now, held_out_by);
    if (ranks::root()) text_app::require_same_meaning(now.checkpoint, r.meaning, o.common.run.override_model);
    train.data.length = eval_by.max_sequence_length;
  }
  r.by = eval_by;
  if (reads_held_out(o, now))
    held_out = text_app::read_task([&] {
      r.held_out.emplace(eval_by.texts());
      ml::text_task t = r.held_out->task(false);
      if (now.mode != "predict")
        require_comparison("eval_input", std::min<i64>(o.common.eval_input.batch_size, t.data.count),
                           r.held_out->data(), hard);
      return t;
    });
  const ml::tokenizer words = r.meaning.words();
  if (!o.hf.empty())
    for (const std::string& half : {o.folders().questions, o.folders().passages})
      if (half == o.folders().questions || ml::tokenizer::is_in(half))
        text_app::require_vocabulary_of_folder(words, half, o.model.vocab_size, "vocab_file");
  fit_to_data(o.model, words.size(), longest);
  for (const ml::text_task* data : {&train, &held_out})
    text_app::require_token_types(o.model.num_segments, *data);
  r.pair = o.model.pair(1 + hard);
  if (now.trains()) train = for_model(std::move(train), r.pair);
  if (reads_held_out(o, now)) held_out = for_model(std::move(held_out), r.pair);
  r.what = {.program = "wsl-dpr",
            .model = [d = r.pair] { return d.build(); },
            .model_words = o.model.words(),
            .data_words = text_app::data_words(train, held_out),
            .architecture = o.model.architecture(),
            .train = train.data,
            .held_out = held_out.data,
            .tokens_of_example = tokens_of(train.data)};
  text_app::keep_meaning(r.what, r.meaning, o.common.run);
  if (!o.hf.empty())
    text_app::begin_with_folder(r.what, o.folders().questions, o.common.run.model_dir,
                                [d = r.pair, in = o.folders()](ml::trainer_base& to) {
                                  text_app::set_weights(
                                      to, ml::read_dpr(in, d, to.model(), text_app::weights_of(to)));
                                });
  return r;
}

void predict(fields& f, options& o, const run_of_texts& r, const text_app::stage& now) {
  if (!o.passages.empty() && f.is_asked("best"))
    throw std::invalid_argument(
        "--best is of questions, and --passages encodes passages alone: leave it out");
  const auto m = text_app::trained(now.checkpoint, o.common, r.what);
  const std::string folder = o.vectors.empty() ? o.common.run.model_dir : o.vectors;
  if (!o.vectors.empty()) app::make_folder(folder);
  with_average(o.common.optimizer, *m, [&] {
    if (!o.passages.empty())
      return dpr_app::encode_passages(*m, r.pair, r.by.passages_in(o.passages), f, o.common, folder);
    dpr_app::predict(*m, r.pair, *r.held_out, f, o.common,
                     {.batch_size = o.common.eval_input.batch_size,
                      .best = o.best,
                      .passages_of_question = r.pair.passages_of_question},
                     folder);
  });
}

void write_model(options& o, const run_of_texts& r, const text_app::stage& now) {
  if (o.out.empty())
    throw std::invalid_argument("export needs --out, a folder for the two folders of Hugging Face");
  const auto m = text_app::trained(now.checkpoint, o.common, r.what);
  constexpr const char* halves[] = {ml::dpr_folders::of_questions, ml::dpr_folders::of_passages};
  with_average(o.common.optimizer, *m, [&] {
    wsl::support::whole_folder out(o.out);
    ml::write_dpr(out.unfinished(), r.pair, m->run().model(), text_app::weights_of(m->run()),
                  {.companions = std::filesystem::path(now.checkpoint).parent_path().string()});
    for (const char* half : halves)
      text_app::write_vocabulary(fmt::format("{}/{}", out.unfinished(), half), r.meaning,
                                 o.model.max_position_embeddings);
    out.finish();
  });
  for (const char* half : halves) std::printf("%s/%s/model.safetensors\n", o.out.c_str(), half);
}

int run(int argc, char** argv) {
  options o;
  fields f;
  declare(f, o);
  using text_app::stage;
  return text_app::run(
      argc, argv, f, o.common,
      {.words = {.name = "wsl-dpr",
                 .about =
                     "Trains encoders that find the passages which answer questions, by weight streaming "
                     "on a simulated wafer.\nwsl-dpr train_and_eval --train_input.data_dir "
                     "nq-train.json --eval_input.data_dir nq-dev.json --hf bert --model_dir run",
                 .modes = {},
                 .configurations = configurations(),
                 .model_option = "hf"},
       .predicts = "write the vectors of the held-out questions and passages, and what is found; or those "
                   "of the passages of an index",
       .exports = "write both trained encoders for Hugging Face",
       .complete = [&](const stage& now) { complete(f, o, now); },
       .read = [&](const stage& now) { return read_run(f, o, now).what; },
       .predict = [&](const stage& now) { predict(f, o, read_run(f, o, now), now); },
       .write_model = [&](const stage& now) { write_model(o, read_run(f, o, now), now); }});
}

}  // namespace
}  // namespace dpr_app

int main(int argc, char** argv) { return train_app::run_trainer("wsl-dpr", argc, argv, dpr_app::run); }
