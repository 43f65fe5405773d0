// SPDX-License-Identifier: MIT
// wsl-t5: trains models that read one text and write another, T5 and the Transformer, on texts with spans
// left out or on pairs of texts, and writes with them. See docs/guide/text.md.
#include <fmt/format.h>

#include <cstdio>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/companions.hpp>
#include <wsl/ml/io/hugging_face/families.hpp>
#include <wsl/ml/run/metrics/bleu.hpp>
#include <wsl/ml/write/encoder_decoder_writer.hpp>
#include <wsl/support/progress.hpp>
#include <wsl/support/whole_folder.hpp>

#include "../files.hpp"
#include "../run.hpp"
#include "../train/command.hpp"
#include "../train/ranks.hpp"
#include "configurations.hpp"
#include "model.hpp"
#include "text_input.hpp"
#include "text_run.hpp"

namespace t5_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;
using wsl::i32;

const std::vector<std::string> processors{"T5DynamicDataProcessor", "TransformerDynamicDataProcessor"};

struct search_params {
  int num_beams = 4, max_new_tokens = 0, limit = 0, columns = 0;
  f64 length_penalty = 1;
};

struct options {
  common_params common;
  model_params model;
  text_app::text_input train, eval;
  search_params search;
  std::string hf;   ///< a folder of transformers, with whose model a run begins; empty: none
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
  f.add("hf", o.hf, "a folder of Hugging Face with T5 or Marian, with whose model a run begins")
      .of_one_command();
  declare_checkpoint_options(f, o.common);
  f.options_of("predict");
  f.add("num_beams", o.search.num_beams,
        "hypotheses of a text that are followed; 1: the best token each time")
      .at_least(1)
      .at_most(1024);
  f.add("length_penalty", o.search.length_penalty, "above 0 it favours long texts");
  f.add("max_new_tokens", o.search.max_new_tokens, "of a text; null: tgt_max_sequence_length").at_least(1);
  f.add("limit", o.search.limit, "only the first texts; null: all").at_least(1);
  f.add("sample_columns", o.search.columns, "PEs that write; null: as many as threads").at_least(1);
  f.options_of("export");
  f.add("out", o.out, "the folder for the files of Hugging Face").of_one_command();
}

void complete(fields& f, options& o) {
  if (!o.hf.empty())
    text_app::take_model(f, o.hf, [&] {
      const auto [family, m] =
          ml::read_hugging_face_config<ml::encoder_decoder>(fmt::format("{}/config.json", o.hf));
      const model_params asked = std::exchange(o.model, model_params::of(m, family->model_type));
      o.model.dropout = asked.dropout, o.model.attention_dropout = asked.attention_dropout;
      o.model.label_smoothing = asked.label_smoothing;
    });
  train_app::complete(o.common, ranks::cores(), ranks::memory());
}

/// The processor of a part of the data, whose vocabulary is that of --hf if no other is given.
ml::text_processor processor_of(fields& f, const options& o, bool trains) {
  const std::string& folder = (trains ? o.common.train_input : o.common.eval_input).data_dir;
  ml::text_processor p = trains ? o.train.processor(f, folder) : o.eval.processor(f, folder, &o.train);
  ml::each_setting(p, [&](const std::string& name, auto& value, const char*) {
    if constexpr (std::is_same_v<decltype(value), std::string&>) {
      if (name == "src_vocab_file" && value.empty()) value = o.hf;
    } else if constexpr (std::is_same_v<decltype(value), std::vector<std::string>&>)
      if (name == "src_data_dir" && !folder.empty()) value = {folder};
  });
  return p;
}

/// The settings that both processors have.
const ml::encoder_decoder_input& input_of(const ml::text_processor& p) {
  if (const auto* x = std::get_if<ml::t5_dynamic_processor>(&p)) return *x;
  return std::get<ml::transformer_dynamic_processor>(p);
}
int vocabulary_of(const ml::text_processor& p) {
  const ml::tokenizer words = input_of(p).by();
  const auto* t5 = std::get_if<ml::t5_dynamic_processor>(&p);
  return t5 ? ml::vocabulary_with_sentinels(words, t5->extra_ids) : words.size();
}

struct run_of_texts {
  task what;
  ml::text_processor by;  ///< of what is held out
};

run_of_texts read_run(fields& f, options& o) {
  const ml::text_processor train_by = processor_of(f, o, true), eval_by = processor_of(f, o, false);
  const ml::text_task train = ml::task_of(train_by, true), held_out = ml::task_of(eval_by, false);
  model_params& m = o.model;
  const int vocabulary = vocabulary_of(train_by);
  if (!m.vocab_size) m.vocab_size = vocabulary;
  if (m.vocab_size < vocabulary)
    throw std::invalid_argument(
        fmt::format("model.src_vocab_size {} is less than the {} tokens of src_vocab_file: take as many",
                    m.vocab_size, vocabulary));
  int longest = 0;
  for (const ml::text_processor* p : {&train_by, &eval_by})
    longest = std::max({longest, input_of(*p).sequences.src_max_sequence_length,
                        input_of(*p).sequences.tgt_max_sequence_length});
  if (!m.max_position_embeddings) m.max_position_embeddings = longest;
  const ml::encoder_decoder model = m.model();
  if (model.position != ml::position_encoding::relative && longest > model.positions)
    throw std::invalid_argument(
        fmt::format("sequences of up to {} tokens are longer than model.max_position_embeddings {}", longest,
                    model.positions));
  run_of_texts r{
      .what = {.program = "wsl-t5",
               .model = [model] { return model.build(); },
               .model_words = m.words(),
               .data_words = fmt::format("{} to train with; held out: {}", train.about, held_out.about),
               .architecture = m.architecture(),
               .train = train.data,
               .held_out = held_out.data},
      .by = eval_by};
  if (o.hf.empty()) return r;
  r.what.begins_with = fmt::format("--hf {}", o.hf);
  r.what.begin = [hf = o.hf, folder = o.common.run.model_dir](ml::trainer_base& to) {
    text_app::set_weights(to, ml::read_hugging_face<ml::encoder_decoder>(hf).to_weights(to.model()));
    app::make_folder(folder);
    ml::hugging_face::copy_companions(hf, folder);
  };
  return r;
}

/// The text of some tokens. Sentinels may have numbers behind the vocabulary, the last of them first.
std::string text_of(const ml::tokenizer& words, const std::vector<i32>& ids, int vocabulary) {
  std::string all;
  std::vector<i32> some;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) all += fmt::format("{}{}", all.empty() ? "" : " ", text);
  };
  for (const i32 id : ids) {
    if (id < words.size()) {
      some.push_back(id);
      continue;
    }
    add(words.decode(std::exchange(some, {})));
    add(fmt::format("<extra_id_{}>", vocabulary - 1 - id));
  }
  add(words.decode(some));
  return all;
}

/// Writes what the model makes of each held-out text, and compares it with what was to be written.
void predict(options& o, const run_of_texts& r) {
  const auto m = text_app::trained(o.common, r.what);
  const ml::encoder_decoder_input& input = input_of(r.by);
  const ml::tokenizer words = input.by();
  const auto tokens = ml::encoder_decoder_tokens::of(input.sequences, words);
  const int vocabulary = vocabulary_of(r.by);
  std::vector<i32> never;  // rows of the model's table that are no tokens
  for (i32 id = vocabulary; id < o.model.vocab_size; ++id) never.push_back(id);
  ml::encoder_decoder_writer text(
      o.model.model(), with_average(o.common.optimizer, *m, [&] { return text_app::weights_of(m->run()); }),
      {.columns = o.search.columns,
       .precision = o.common.precision.format(),
       .threads = o.common.run.threads});
  const ml::search_settings how{
      .beams = o.search.num_beams,
      .length_penalty = o.search.length_penalty,
      .max_tokens = o.search.max_new_tokens ? o.search.max_new_tokens : tokens.targets,
      .begin = {tokens.begin},
      .end = {tokens.end},
      .never = never};
  const i64 all = r.what.held_out.count, count = o.search.limit ? std::min<i64>(o.search.limit, all) : all;
  ml::batches data(r.what.held_out, {.size = 1, .shuffle = false});
  ml::bleu found;
  i64 equal = 0;
  std::string lines;
  wsl::support::progress bar("texts", static_cast<wsl::u64>(count));
  for (i64 k = 0; k < count; ++k) {
    const ml::loaded_batch b = data.next();
    const auto numbers = [&](std::size_t field) -> const std::vector<i32>& {
      return b.by_name[field].numbers;
    };
    std::vector<i32> said = text.write(ml::source_text(numbers(0), numbers(1)), how).front().tokens, right;
    if (!said.empty() && said.back() == tokens.end) said.pop_back();
    for (const i32 id : numbers(3))
      if (id != ml::encoder_decoder::no_label && id != tokens.end) right.push_back(id);
    equal += said == right;
    const auto texts_of = [](const std::vector<i32>& ids) {
      std::vector<std::string> each;
      for (const i32 id : ids) each.push_back(std::to_string(id));
      return each;
    };
    const std::vector<std::string> wanted = texts_of(right);
    found.add(texts_of(said), {&wanted, 1});
    lines += fmt::format("{}\n", text_of(words, said, vocabulary));
    bar.tick();
  }
  const std::string file = fmt::format("{}/predictions.txt", o.common.run.model_dir);
  app::write_file(file, lines);
  std::printf("exact match %.4f, BLEU of tokens %.2f, of %lld texts\n%s\n",
              static_cast<f64>(equal) / static_cast<f64>(count), 100 * found.score(),
              static_cast<long long>(count), file.c_str());
}

void write_model(options& o, const run_of_texts& r) {
  if (o.out.empty())
    throw std::invalid_argument("export needs --out, a folder for the files of Hugging Face");
  const auto m = text_app::trained(o.common, r.what);
  const std::string& words = input_of(r.by).src_vocab_file;
  with_average(o.common.optimizer, *m, [&] {
    const auto tokens = ml::encoder_decoder_tokens::of(input_of(r.by).sequences, input_of(r.by).by());
    wsl::support::whole_folder out(o.out);
    ml::write_hugging_face(out.unfinished(), o.model.model(), m->run().model(),
                           text_app::weights_of(m->run()),
                           {.tokens = {{"pad_token_id", tokens.padding},
                                       {"eos_token_id", tokens.end},
                                       {"decoder_start_token_id", tokens.begin}},
                            .companions = ml::tokenizer::is_in(words) ? words : ""});
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
  modes.emplace_back("predict", "write what a trained model makes of the held-out texts, by a beam search");
  modes.emplace_back("export", "write a trained model for Hugging Face");
  const auto mode =
      parse(argc, argv,
            {.name = "wsl-t5",
             .about = "Trains models that read a text and write another, by weight streaming on a "
                      "simulated wafer.\nwsl-t5 train_and_eval --data_processor "
                      "TransformerDynamicDataProcessor --train_input.data_dir train.tsv "
                      "--eval_input.data_dir dev.tsv --src_vocab_file words.txt --model_dir run",
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
}  // namespace t5_app

int main(int argc, char** argv) {
  app::says = &train_app::ranks::first_to_say;
  return app::run("wsl-t5", [&] { return t5_app::run(argc, argv); });
}
