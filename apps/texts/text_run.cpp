// SPDX-License-Identifier: MIT
#include "text_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ranks.hpp>
#include <wsl/ml/io/hugging_face/companions.hpp>
#include <wsl/ml/train/trainer_base.hpp>

#include "../files.hpp"

namespace text_app {

namespace ml = wsl::ml;
using namespace train_app;

namespace {

/// The checkpoint of a run, or that which was asked for, known to the first process. Throws
/// std::invalid_argument if there is none, or if another program has written it.
std::string require_checkpoint(const common_params& p, const std::string& program) {
  const std::string from = ranks::root() ? checkpoint_to_look_at(p.run) : "";
  if (!ranks::any(!from.empty()))
    throw std::invalid_argument(
        fmt::format("there is no checkpoint in {}: train first, or give --checkpoint_path", p.run.model_dir));
  if (ranks::root()) require_same_program(from, program);
  return from;
}

/// The checkpoint from which a run that trains goes on, known to the first process; empty: it begins.
std::string checkpoint_to_go_on_from(const run_params& r, const std::string& program) {
  if (!ranks::root()) return "";
  std::string from = r.autoload_last_checkpoint ? checkpoint_to_look_at(r) : r.checkpoint_path;
  if (!from.empty()) require_same_program(from, program);
  return from;
}

std::string vocabulary_of(const ml::text_processor& p) {
  return std::visit([](const auto& x) { return x.vocabulary(); }, p);
}
bool names_vocabulary(const ml::text_processor& p) {
  return std::visit(
      [](const auto& x) {
        if constexpr (requires { x.vocab_file; }) return !x.vocab_file.empty();
        else return !x.src_vocab_file.empty();
      },
      p);
}
ml::tokenizer tokenizer_of(const std::string& vocabulary) {
  return ml::tokenizer::from_json(vocabulary, "the vocabulary");
}
void set_words(ml::text_processor& p, const ml::tokenizer& words) {
  std::visit([&](auto& x) { x.words = words; }, p);
}

}  // namespace

int run(int argc, char** argv, fields& f, common_params& common, const text_program& program) {
  int status = 0;
  program_words words = program.words;
  words.modes = common_modes();
  words.modes.emplace_back("predict", program.predicts), words.modes.emplace_back("export", program.exports);
  words.modes_of_checkpoints = {"eval", "predict", "export"};
  words.options = common_readers();
  for (const char* mode : {"predict", "export"}) words.options.push_back({mode, {mode}});
  const auto mode = parse(argc, argv, words, f, status);
  if (!mode) return status;
  common.run.checkpoint_asked = f.is_asked("checkpoint_path");
  const bool is_alone = *mode == "predict" || *mode == "export";
  if (is_alone && ranks::size() > 1)
    throw std::invalid_argument(fmt::format("{} is the work of one process: start it without mpirun", *mode));
  stage now{.mode = *mode};
  if (is_alone || *mode == "eval" || *mode == "eval_all") {
    if (f.is_asked("hf"))
      throw std::invalid_argument(fmt::format(
          "--hf is of a run that begins, and {} takes the model of a checkpoint: leave --hf out", *mode));
    now.checkpoint = require_checkpoint(common, words.name);
    now.kept = text_meaning::of(now.checkpoint);
  } else if (const std::string from = checkpoint_to_go_on_from(common.run, words.name);
             ranks::any(!from.empty()))
    now.begun = text_meaning::of(from);
  program.complete(now);
  if (*mode == "predict") return program.predict(now), 0;
  if (*mode == "export") return program.write_model(now), 0;
  session s(common, f.kept_text(), program.read(now));
  run_mode(*mode, s);
  return s.status();
}

ml::text_task read_task(const std::function<ml::text_task()>& read) {
  ml::text_task t;
  ranks::where_data_are_read([&] { t = read(); });
  const auto tell_int = [](int& n) {
    i64 number = n;
    ranks::tell(number);
    n = static_cast<int>(number);
  };
  ranks::tell(t.data), ranks::tell(t.about);
  tell_int(t.vocabulary), tell_int(t.token_types);
  i64 classes = t.classes.count();
  ranks::tell(classes);
  std::vector<std::string> names = t.classes.names();
  names.resize(static_cast<std::size_t>(classes));
  for (std::string& name : names) ranks::tell(name);
  t.classes = ml::label_map(std::move(names));
  return t;
}

std::unique_ptr<machine> trained(const std::string& checkpoint, const common_params& p, const task& t) {
  require_same_model(checkpoint, t.architecture, p.run.override_model);
  ml::network model = t.model();
  freeze(model, p.optimizer, t.groups);
  const ml::optimizer rule = optimizer_for(p.optimizer, model, t.groups);
  auto m = ranks::streaming(
      std::move(model), rule,
      {.workers = 1, .threads = p.run.threads, .precision = p.precision.format(), .loss_scaling = 1.});
  train_app::load(checkpoint, *m);
  return m;
}

std::string share_vocabulary(const stage& now, ml::text_processor& train, ml::text_processor& held_out) {
  const auto read = [&](const ml::text_processor& p) {
    return now.begun && !names_vocabulary(p) ? now.begun->vocabulary : vocabulary_of(p);
  };
  std::string vocabulary = read(train);
  // Data that are not read name none.
  const std::string other = names_vocabulary(held_out) ? read(held_out) : vocabulary;
  const ml::tokenizer words = tokenizer_of(vocabulary);
  if (other != vocabulary)
    if (const std::string what = ml::difference_of(words, tokenizer_of(other)); !what.empty())
      throw std::invalid_argument(
          fmt::format("train_input and eval_input have different vocabularies: {}: a model has one", what));
  set_words(train, words), set_words(held_out, words);
  return vocabulary;
}

std::string take_vocabulary(fields& f, const common_params& p, const stage& now,
                            ml::text_processor& held_out) {
  const std::string own = (std::filesystem::path(p.run.model_dir) / "params.yaml").string() + ":";
  const std::string of_checkpoint = p.run.checkpoint_path + ":";
  bool is_named = false;
  for (const char* name : {"vocab_file", "src_vocab_file", "do_lower"})
    for (const field* x : f.named(name))
      is_named |= !x->given.empty() && !x->given.starts_with(own) &&
                  (of_checkpoint.size() == 1 || !x->given.starts_with(of_checkpoint));
  const std::string vocabulary = is_named ? vocabulary_of(held_out) : now.kept->vocabulary;
  set_words(held_out, tokenizer_of(vocabulary));
  return vocabulary;
}

void require_vocabulary_of_folder(const ml::tokenizer& words, const std::string& folder, int of_model,
                                  const char* option, bool may_have_spare) {
  const int size = words.size();
  const bool has_own = ml::tokenizer::is_in(folder);
  const std::string what =
      has_own ? ml::difference_of(words, tokenizer_of(ml::tokenizer::json_of(folder))) : "";
  // A model may have rows for more tokens than its own tokenizer has.
  if (what.empty() && (has_own || may_have_spare ? size <= of_model : size == of_model)) return;
  throw std::invalid_argument(fmt::format(
      "{} is not the vocabulary of --hf {}, whose model knows {} tokens: {}: {}", option, folder, of_model,
      what.empty() ? fmt::format("it has {}", size) : what,
      what.empty()
          ? fmt::format("name the vocabulary that belongs to {}, with as many tokens as its model, or "
                        "put its tokenizer there",
                        folder)
          : fmt::format("leave {} out, and the tokenizer in {} is taken", option, folder)));
}

void require_token_types(int of_model, const ml::text_task& data) {
  if (of_model && of_model < data.token_types)
    throw std::invalid_argument(fmt::format(
        "model.num_segments is {}, but the texts of the data have {} types of tokens, such as those "
        "of a first and a second text: take {} or more, or 0 for a model without types",
        of_model, data.token_types, data.token_types));
}
std::string data_words(const ml::text_task& train, const ml::text_task& held_out) {
  return fmt::format("{} to train with{}{}", train.about,
                     held_out.about.empty() ? "" : "; held out: ", held_out.about);
}

void keep_meaning(task& t, const text_meaning& m, const run_params& r) {
  t.facts = m.facts();
  t.require_same_meaning = [m, override_it = r.override_model](const std::string& checkpoint) {
    require_same_meaning(checkpoint, m, override_it);
  };
}
void begin_with_folder(task& t, const std::string& folder, const std::string& model_dir,
                       std::function<void(ml::trainer_base&)> set) {
  t.begins_with = fmt::format("--hf {}", folder);
  t.begin = [folder, model_dir, set = std::move(set)](ml::trainer_base& to) {
    set(to);
    app::make_folder(model_dir);
    ml::hugging_face::copy_companions(folder, model_dir);
  };
}

ml::weights weights_of(ml::trainer_base& t) {
  ml::weights w(t.model());
  for (std::size_t k = 0; k < w.size(); ++k) w[k].assign(t.parameters()[k].begin(), t.parameters()[k].end());
  return w;
}
void set_weights(ml::trainer_base& t, const ml::weights& w) {
  for (std::size_t k = 0; k < w.size(); ++k) std::copy(w[k].begin(), w[k].end(), t.parameters()[k].begin());
}

void take_model(fields& f, const std::string& folder, const std::function<void()>& set) {
  std::vector<std::pair<field*, std::string>> given;
  for (field& x : f.all())
    if (x.section == "model" && x.given.starts_with("--")) given.emplace_back(&x, x.text());
  set();
  for (const auto& [field, text] : given)
    if (field->text() != text)
      throw std::invalid_argument(
          fmt::format("{} {} is not that of {}, {}: leave it out, or take another folder", field->given, text,
                      folder, field->text()));
}

std::string as_field(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace text_app
