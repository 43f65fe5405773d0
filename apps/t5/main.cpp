// SPDX-License-Identifier: MIT
// wsl-t5: trains models that read one text and write another, T5 and the Transformer, on texts with spans
// left out or on pairs of texts, and writes with them. See docs/guide/text.md.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/families.hpp>
#include <wsl/ml/run/metrics/bleu.hpp>
#include <wsl/ml/write/encoder_decoder_writer.hpp>
#include <wsl/support/progress.hpp>
#include <wsl/support/whole_folder.hpp>

#include "../train/command.hpp"
#include "../train/ranks.hpp"
#include "../train/synthetic.hpp"
#include "../train/trainer_main.hpp"
#include "configurations.hpp"
#include "file_of_predictions.hpp"
#include "options.hpp"
#include "text_run.hpp"

namespace t5_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;
using wsl::i32;

void complete(fields& f, options& o) {
  if (!o.hf.empty())
    text_app::take_model(f, o.hf, [&] {
      const auto [family, m] =
          ml::read_hugging_face_config<ml::encoder_decoder>(fmt::format("{}/config.json", o.hf));
      const model_params asked = std::exchange(o.model, model_params::of(m, family->model_type));
      o.model.dropout = asked.dropout, o.model.attention_dropout = asked.attention_dropout;
      o.model.label_smoothing = asked.label_smoothing;
    });
  for (text_app::text_input* x : {&o.train, &o.eval}) x->forget_lengths(f);
  if (o.model.has_mup()) require_rule_for_mup(o.common.optimizer);
  train_app::complete(o.common, ranks::cores(), ranks::memory());
}

/// The processor of a part of the data, whose vocabulary is that of --hf if no other is given.
ml::text_processor processor_of(fields& f, const options& o, bool trains) {
  const std::string& folder = (trains ? o.common.train_input : o.common.eval_input).data_dir;
  const char* const section = trains ? "train_input" : "eval_input";
  if (!folder.empty() && !f.named(fmt::format("{}.src_data_dir", section)).front()->given.empty())
    throw std::invalid_argument(fmt::format(
        "{0}.data_dir and {0}.src_data_dir both name the texts that are read: give one of them", section));
  ml::text_processor p = trains ? o.train.processor(f, folder) : o.eval.processor(f, folder, &o.train);
  ml::each_setting(p, [&](const std::string& name, auto& value, const char*) {
    if constexpr (std::is_same_v<decltype(value), std::string&>) {
      if (name == "src_vocab_file" && value.empty()) value = o.hf;
    } else if constexpr (std::is_same_v<decltype(value), std::vector<std::string>&>)
      if (name == "src_data_dir" && !folder.empty()) value = words_of_list(folder);
  });
  text_app::complete_hdf5(p);
  text_app::complete_synthetic(p, trains ? o.common.train_input : o.common.eval_input, trains,
                               o.model.vocab_size ? o.model.vocabulary() : 0,
                               o.model.max_position_embeddings);
  return p;
}

/// The settings that all processors have.
const ml::encoder_decoder_input& input_of(const ml::text_processor& p) {
  return std::visit(
      []<class T>(const T& x) -> const ml::encoder_decoder_input& {
        if constexpr (std::is_base_of_v<ml::encoder_decoder_input, T>) return x;
        else throw std::logic_error("a processor of encoders");
      },
      p);
}
/// The sentinels of those that leave spans out.
std::optional<int> sentinels_of(const ml::text_processor& p) {
  if (const auto* x = std::get_if<ml::t5_dynamic_processor>(&p)) return x->extra_ids;
  if (const auto* x = std::get_if<ml::t5_hdf5_processor>(&p)) return x->extra_ids;
  return {};
}
int vocabulary_of(const ml::text_processor& p, const ml::tokenizer& words) {
  const std::optional<int> extra_ids = sentinels_of(p);
  return extra_ids ? ml::vocabulary_with_sentinels(words, *extra_ids) : words.size();
}
/// The tokens with a part of their own, and the sentinels, which give the numbers of a model their meaning.
named_words settings_of(const ml::text_processor& p) {
  const ml::encoder_decoder_settings& s = input_of(p).sequences;
  named_words all{{"sos_token", s.sos_token},
                  {"eos_token", s.eos_token},
                  {"pad_token", s.pad_token},
                  {"oov_token", s.oov_token}};
  if (const auto extra_ids = sentinels_of(p)) all.emplace_back("extra_ids", std::to_string(*extra_ids));
  return all;
}

struct run_of_texts {
  task what = {};
  ml::text_task held_out = {};
  ml::text_processor by;  ///< of what is held out
  text_app::text_meaning meaning = {};
};

/// Sets the sizes that follow from the data. Throws std::invalid_argument for those that do not fit.
void fit_to_data(options& o, int vocabulary, int longest) {
  model_params& m = o.model;
  if (!m.vocab_size) m.vocab_size = vocabulary - m.extra_ids;
  if (m.vocabulary() < vocabulary)
    throw std::invalid_argument(
        fmt::format("model.src_vocab_size {} is less than the {} tokens of src_vocab_file{}", m.vocabulary(),
                    vocabulary, o.hf.empty() ? ": take as many" : " and extra_ids, and is that of --hf"));
  if (!m.max_position_embeddings) m.max_position_embeddings = longest;
  const ml::encoder_decoder model = m.model();
  if (model.position != ml::position_encoding::relative && longest > model.positions)
    throw std::invalid_argument(
        fmt::format("src_max_sequence_length or tgt_max_sequence_length is {}, so sequences are longer than "
                    "model.max_position_embeddings {}: take shorter ones, or more positions",
                    longest, model.positions));
}

run_of_texts read_run(fields& f, options& o, const text_app::stage& now) {
  if (now.reads_held_out(false)) require_texts(f, o, false);
  run_of_texts r{.by = processor_of(f, o, false)};
  const auto longest_of = [](const ml::text_processor& p) {
    const ml::encoder_decoder_settings& s = input_of(p).sequences;
    return std::max(s.src_max_sequence_length, s.tgt_max_sequence_length);
  };
  ml::text_task train;
  int longest = longest_of(r.by);
  r.meaning.settings = settings_of(r.by);
  if (now.trains()) {
    ml::text_processor train_by = processor_of(f, o, true);
    if (settings_of(train_by) != r.meaning.settings)
      throw std::invalid_argument(
          "eval_input has other special tokens than train_input, or another data_processor: a model has the "
          "same for both");
    r.meaning.vocabulary = text_app::share_vocabulary(now, train_by, r.by);
    train = text_app::read_task([&] { return ml::task_of(train_by, ml::text_use::training); });
    longest = std::max(longest, longest_of(train_by));
  } else {
    r.meaning.vocabulary = text_app::take_vocabulary(f, o.common, now, r.by);
    if (ranks::root()) text_app::require_same_meaning(now.checkpoint, r.meaning, o.common.run.override_model);
    train.data.length = input_of(r.by).sequences.src_max_sequence_length;
  }
  if (now.reads_held_out(!input_of(r.by).src_data_dir.empty() || text_app::needs_no_files(r.by)))
    r.held_out = text_app::read_task([&] { return ml::task_of(r.by, now.use()); });
  const ml::tokenizer words = r.meaning.words();
  if (!o.hf.empty())
    text_app::require_vocabulary_of_folder(words, o.hf, o.model.vocabulary(), "src_vocab_file", true);
  fit_to_data(o, vocabulary_of(r.by, words), longest);
  const ml::encoder_decoder model = o.model.model();
  r.what = {.program = "wsl-t5",
            .model = [model] { return model.build(); },
            .model_words = o.model.words(),
            .data_words = text_app::data_words(train, r.held_out),
            .architecture = o.model.architecture(),
            .train = train.data,
            .held_out = r.held_out.data};
  text_app::keep_meaning(r.what, r.meaning, o.common.run);
  if (!o.hf.empty())
    text_app::begin_with_folder(r.what, o.hf, o.common.run.model_dir, [hf = o.hf](ml::trainer_base& to) {
      text_app::set_weights(to, ml::read_hugging_face<ml::encoder_decoder>(hf).to_weights(to.model()));
    });
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

/// The texts that a model writes, and how many of them are right.
struct written_texts {
  std::string lines, table = "prediction\ttarget\ttext\n";
  ml::bleu found = {};
  i64 count = 0, judged = 0, equal = 0;

  void add(const std::vector<i32>& said, const std::vector<i32>& right) {
    const auto texts_of = [](const std::vector<i32>& ids) {
      std::vector<std::string> each;
      for (const i32 id : ids) each.push_back(std::to_string(id));
      return each;
    };
    const std::vector<std::string> wanted = texts_of(right);
    ++judged, equal += said == right;
    found.add(texts_of(said), {&wanted, 1});
  }
  void print() const {
    if (const i64 without = count - judged)
      std::printf("%lld of %lld texts have no target, or one that is too long, and are not judged\n",
                  static_cast<long long>(without), static_cast<long long>(count));
    if (judged)
      std::printf("exact match %.4f, BLEU of tokens %.2f, of %lld texts\n",
                  static_cast<f64>(equal) / static_cast<f64>(judged), 100 * found.score(),
                  static_cast<long long>(judged));
  }
};

/// Writes what the model makes of each held-out text, and compares it with what was to be written.
void predict(const fields& f, options& o, const run_of_texts& r, const text_app::stage& now) {
  if (o.predictions.empty()) o.predictions = fmt::format("{}/predictions.txt", o.common.run.model_dir);
  train_app::file_of_predictions out(f, o.predictions),
      table(f, std::filesystem::path(o.predictions).replace_extension(".tsv").string());
  const auto m = text_app::trained(now.checkpoint, o.common, r.what);
  const ml::tokenizer words = r.meaning.words();
  const auto tokens = ml::encoder_decoder_tokens::of(input_of(r.by).sequences, words);
  const int vocabulary = vocabulary_of(r.by, words);
  std::vector<i32> never;  // rows of the model's table that are no tokens
  for (i32 id = vocabulary; id < o.model.vocabulary(); ++id) never.push_back(id);
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
  std::printf("%s\n", r.held_out.about.c_str());
  const i64 all = r.what.held_out.count, count = o.search.limit ? std::min<i64>(o.search.limit, all) : all;
  ml::batches data(r.what.held_out, {.size = 1, .shuffle = false});
  written_texts x;
  wsl::support::progress bar("texts", static_cast<wsl::u64>(count));
  for (; x.count < count; ++x.count) {
    const ml::loaded_batch b = data.next();
    const std::vector<i32>&ids = b.by_name[0].numbers, &seen = b.by_name[1].numbers;
    std::vector<i32> said = text.write(ml::source_text(ids, seen), how).front().tokens, right;
    if (!said.empty() && said.back() == tokens.end) said.pop_back();
    bool is_judged = false;
    for (const i32 id : b.by_name[3].numbers) {
      is_judged |= id != ml::encoder_decoder::no_label;
      if (id != ml::encoder_decoder::no_label && id != tokens.end) right.push_back(id);
    }
    if (is_judged) x.add(said, right);
    const auto read = std::span(ids).first(static_cast<std::size_t>(std::count(seen.begin(), seen.end(), 1)));
    const ml::text_source source =
        r.held_out.source ? r.held_out.source(x.count)
                          : ml::text_source{{text_of(words, {read.begin(), read.end()}, vocabulary)},
                                            {text_of(words, right, vocabulary)}};
    const std::string line = text_app::as_field(text_of(words, said, vocabulary));
    x.lines += line + "\n";
    x.table += fmt::format("{}\t{}\t{}\n", line,
                           source.labels.empty() ? "" : text_app::as_field(source.labels.front()),
                           text_app::as_field(source.texts.front()));
    bar.tick();
  }
  x.print();
  table.write(x.table);
  if (table.name() != out.name()) out.write(x.lines);
}

/// The model as the files of a family say it: those of Marian give padding an id and the logits a bias, which
/// change nothing here. Throws std::invalid_argument if no family has the model.
ml::encoder_decoder model_of_files(ml::encoder_decoder m, i32 padding) {
  const std::string why = ml::why_no_hugging_face(m);
  if (why.empty()) return m;
  if (!m.padding) m.padding = padding;
  m.logit_bias = true;
  if (ml::why_no_hugging_face(m).empty()) return m;
  throw std::invalid_argument(fmt::format(
      "{}: what can be exported is trained with --name t5, or with --name transformer and the usual norms, "
      "positions and biases of that name (--use_pre_normalization false, for Marian)",
      why));
}
/// The weights of a trainer for a network that may have a bias of the logits, of zeros, in addition.
ml::weights weights_for(const ml::network& shape, ml::trainer_base& t) {
  ml::weights w(shape);
  for (std::size_t k = 0; k < w.size(); ++k) {
    const auto& ours = t.model().parameters();
    const bool is_there = std::any_of(ours.begin(), ours.end(), [&](const ml::parameter& p) {
      return p.name == shape.parameters()[k].name;
    });
    if (!is_there) continue;
    const auto numbers = t.parameter_named(shape.parameters()[k].name);
    w[k].assign(numbers.begin(), numbers.end());
  }
  return w;
}

void write_model(options& o, const run_of_texts& r, const text_app::stage& now) {
  if (o.out.empty())
    throw std::invalid_argument("export needs --out, a folder for the files of Hugging Face");
  const auto m = text_app::trained(now.checkpoint, o.common, r.what);
  with_average(o.common.optimizer, *m, [&] {
    const auto tokens = ml::encoder_decoder_tokens::of(input_of(r.by).sequences, r.meaning.words());
    wsl::support::whole_folder out(o.out);
    const ml::encoder_decoder model = model_of_files(o.model.model(), tokens.padding);
    const ml::network shape = model.build();
    ml::write_hugging_face(out.unfinished(), model, shape, weights_for(shape, m->run()),
                           {.tokens = {{"pad_token_id", tokens.padding},
                                       {"eos_token_id", tokens.end},
                                       {"decoder_start_token_id", tokens.begin}},
                            .companions = std::filesystem::path(now.checkpoint).parent_path().string()});
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
      {.words = {.name = "wsl-t5",
                 .about = "Trains models that read a text and write another, by weight streaming on a "
                          "simulated wafer.\nwsl-t5 train_and_eval --data_processor "
                          "TransformerDynamicDataProcessor --train_input.data_dir train.tsv "
                          "--eval_input.data_dir dev.tsv --src_vocab_file words.txt --model_dir run",
                 .modes = {},
                 .configurations = configurations(),
                 .model_option = "hf"},
       .predicts = "write what a trained model makes of the held-out texts, by a beam search",
       .exports = "write a trained model for Hugging Face",
       .complete = [&](const stage&) { complete(f, o); },
       .read = [&](const stage& now) { return read_run(f, o, now).what; },
       .predict = [&](const stage& now) { predict(f, o, read_run(f, o, now), now); },
       .write_model = [&](const stage& now) { write_model(o, read_run(f, o, now), now); }});
}

}  // namespace
}  // namespace t5_app

int main(int argc, char** argv) { return train_app::run_trainer("wsl-t5", argc, argv, t5_app::run); }
