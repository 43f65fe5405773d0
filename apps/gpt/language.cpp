// SPDX-License-Identifier: MIT
#include "language.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>
#include <wsl/ml/io/checkpoint.hpp>
#include <wsl/ml/io/hugging_face/companions.hpp>
#include <wsl/ml/model/preference.hpp>
#include <wsl/support/whole_file.hpp>
#include <yaml_text.hpp>

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;

void declare_text(fields& f, text_params& p, bool with_preferences) {
  declare_hdf5(f, p.hdf5);
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
  declare_pairs(f, p.pairs);
  f.add("messages_key", p.messages_key,
        "in files of chats (.jsonl): the field of the list of messages, such as messages or conversations; "
        "instruction: examples have the fields instruction, input and output; null: the data are no chats");
  f.add("pack_sequences", p.pack_sequences,
        "several chats, pairs or documents of a text in a sequence, which see nothing of each other")
      .once_called("use_vsl");
  if (!with_preferences) return;
  f.add("chosen_key", p.chosen_key,
        "in files of preferences (.jsonl, .csv, .tsv): the field of the answers that were chosen; null: the "
        "data are "
        "none; prompt_key is then `prompt` if it is not given");
  f.add("rejected_key", p.rejected_key, "that of the answers that were rejected");
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

/// Throws std::invalid_argument for sequences that the model does not have; those that are not given are as
/// long as it can.
void set_lengths(language_params& o) {
  for (text_params* p : {&o.train, &o.eval})
    if (!p->max_sequence_length) p->max_sequence_length = o.model.max_position_embeddings;
    else if (p->max_sequence_length > o.model.max_position_embeddings)
      throw std::invalid_argument("max_sequence_length " + std::to_string(p->max_sequence_length) + " of " +
                                  (p == &o.train ? "train_input" : "eval_input") +
                                  " is more than model.max_position_embeddings " +
                                  std::to_string(o.model.max_position_embeddings));
}

packs packs_of(const language_params& o) {
  return {.train = o.train.pack_sequences, .held_out = o.eval.pack_sequences};
}

/// The task of a program with its model, and no data.
task with_model(const std::string& program, const language_params& o, std::string data_words,
                const vocabulary& words) {
  const adapted_model m(o.model, o.lora, packs_of(o).any());
  task t{.program = program,
         .model = [m] { return m.network(); },
         .model_words = o.model.words() + (m.has_adapters() ? ", " + o.lora.words() : ""),
         .data_words = std::move(data_words),
         .architecture = o.model.architecture(),
         .groups = parameter_groups(),
         .names_in_zoo = [](const std::string& ours) { return names_in_zoo(ours, "transformer_decoder"); },
         .vocabulary = words.saved(),
         .facts = packs_of(o).facts(),
         .adapters = o.lora.architecture()};
  if (!m.has_adapters()) return t;
  t.begin = [](ml::trainer_base&) {
    throw std::invalid_argument(
        "lora: adapters change a model that has been trained, and this run would begin with random weights: "
        "give "
        "--hf or --initial_weights, a folder of transformers, or begin with the weights of a run: "
        "--checkpoint_path and --load_checkpoint_states model");
  };
  if (!o.lora.adapter.empty())
    t.set_adapters = [m, from = o.lora.adapter](ml::trainer_base& to) {
      ml::weights w = weights_of(to);
      m.read(from, w);
      set_weights(to, w);
    };
  return t;
}

/// Takes the documents of both parts, packed where that is asked for, and says how they are.
void set_data(task& t, const language_params& o, const ml::documents& train, const ml::documents& held_out,
              i32 padding) {
  const packs p = packs_of(o);
  arranged a = arrange(train, o.train.max_sequence_length, padding, p.train),
           b = arrange(held_out, o.eval.max_sequence_length, padding, p.held_out);
  t.train = std::move(a.data), t.held_out = std::move(b.data);
  if (p.train) t.data_words += "; packed: " + a.about;
  if (p.held_out) t.data_words += "; held out, packed: " + b.about;
}

/// Whether a new run begins with no more than the weights of a checkpoint.
bool begins_with_weights(const run_params& r, const std::string& checkpoint) {
  return r.load_checkpoint_states == "model" && checkpoint == r.checkpoint_path;
}

/// Compares the vocabulary of a checkpoint, and of one with which a run goes on how its data are packed; then
/// what else has a meaning, unless the run begins with the weights alone.
std::function<void(const std::string&)> same_meaning(const language_params& o, bool trains,
                                                     const vocabulary& words,
                                                     std::function<void(const std::string&)> more = {}) {
  const run_params& r = o.common.run;
  return [r, trains, p = packs_of(o), words, more](const std::string& checkpoint) {
    require_same_vocabulary(checkpoint, words.saved());
    if (trains && begins_with_weights(r, checkpoint)) return;
    if (trains) require_same_packing(checkpoint, p);
    if (more) more(checkpoint);
  };
}

task task_with(const std::string& program, language_params& o, const corpus& text, bool trains) {
  model_params& m = o.model;
  if (!m.vocab_size) m.vocab_size = text.words.size() ? text.words.size() : text.vocab_size;
  if (o.train.tokenizer_dir.empty()) o.train.tokenizer_dir = text.tokenizer_dir;
  if (!m.vocab_size)
    throw std::invalid_argument("model.vocab_size is missing: files of tokens do not say it");
  check_vocabulary(o, text);
  set_lengths(o);
  task t = with_model(program, o,
                      text.about + ": " + std::to_string(text.train.size()) + " tokens to train with, " +
                          std::to_string(text.held_out.size()) + " held out" + unused_words(o, text),
                      text.words);
  const auto windows_of = [&](const ml::tokens& part, const text_params& p, const char* what) {
    try {
      return ml::windows(part, p.max_sequence_length, p.stride);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(std::string(e.what()) + " " + what + " of " + text.about +
                                  ": it takes a longer text, or a smaller max_sequence_length");
    }
  };
  t.require_same_meaning = same_meaning(o, trains, text.words);
  const auto part_of = [&](const ml::tokens& part, const text_params& p, const char* section,
                           const char* what, const char* said) {
    if (!p.pack_sequences) return windows_of(part, p, what);
    if (p.stride)
      throw std::invalid_argument(
          fmt::format("{}.stride is of windows of a running text, and pack_sequences takes its documents: "
                      "leave one of them out",
                      section));
    const parted_text x =
        documents_of(part, text.words, o.train.pairs.end_token, p.max_sequence_length, section);
    arranged a = arrange(x.parts, p.max_sequence_length, x.between, true);
    t.data_words += said + a.about;
    return std::move(a.data);
  };
  t.train = part_of(text.train, o.train, "train_input", "in the part to train with", "; packed: ");
  t.held_out =
      part_of(text.held_out, o.eval, "eval_input", "in the part that is held out", "; held out, packed: ");
  return t;
}

/// The settings of a run about the tokens of its examples.
example_words example_words_of(const language_params& o, const std::string& saved) {
  // A run that began with a model of Hugging Face has a copy of what says how its texts end.
  const std::string& folder = o.common.run.model_dir;
  const bool has_copy = std::filesystem::exists(folder + "/generation_config.json");
  return {.kind = o.train.vocabulary,
          .tokenizer_dir = o.train.tokenizer_dir,
          .end_token = o.train.pairs.end_token,
          .saved = saved,
          .of_model = !o.hf.empty() ? o.hf
                      : has_copy    ? folder
                                    : ""};
}

/// Takes the size of the vocabulary if none is given, and requires that it has the tokens of the data.
void set_vocabulary(language_params& o, const vocabulary& words, i32 largest) {
  if (!o.model.vocab_size) o.model.vocab_size = words.size();
  if (largest >= o.model.vocab_size)
    throw std::invalid_argument("the data have token " + std::to_string(largest) +
                                ", beyond model.vocab_size " + std::to_string(o.model.vocab_size) +
                                ": take the tokenizer of the model, or a larger vocabulary");
}

/// The pairs of a run, of which the vocabulary may be that of a checkpoint, and the sizes that follow. Marks
/// that are not given are those of the checkpoint `from`, if it is not empty.
paired_text pairs_of(language_params& o, const std::string& saved, const std::string& from,
                     bool only_held_out = false) {
  for (const text_params* p : {&o.train, &o.eval})
    if (p->stride)
      throw std::invalid_argument(
          "stride is of a running text, and prompt_key says that the data are pairs: "
          "leave one of them out");
  set_lengths(o);
  // Before the tokens of a separator that the run's vocabulary may lack.
  if (!from.empty() && !o.train.pairs.separator.empty())
    require_same_separator(from, o.train.pairs.separator);
  pair_params of_eval = o.eval.pairs;
  if (of_eval.prompt_key.empty()) of_eval.prompt_key = o.train.pairs.prompt_key;
  if (of_eval.completion_key.empty()) of_eval.completion_key = o.train.pairs.completion_key;
  paired_text x = read_pairs({.train = o.common.train_input.data_dir,
                              .held_out = o.common.eval_input.data_dir,
                              .only_held_out = only_held_out,
                              .of_train = o.train.pairs,
                              .of_held_out = of_eval,
                              .length = o.train.max_sequence_length,
                              .held_out_length = o.eval.max_sequence_length,
                              .words = example_words_of(o, saved),
                              .kept = from.empty() ? std::nullopt : pair_marks::of(from)});
  set_vocabulary(o, x.words, std::max(x.train.largest(), x.held_out.largest()));
  return x;
}

/// The checkpoint from which a run goes on, or which an evaluation looks at; empty if there is none. Of those
/// that are not whole the session speaks.
std::string checkpoint_of_run(const run_params& r, bool trains) {
  std::string from;
  if (trains ? r.autoload_last_checkpoint : !r.checkpoint_asked)
    from = ml::checkpoints(r.model_dir).newest().value_or("");
  if (from.empty()) from = r.checkpoint_path;
  return trains && begins_with_weights(r, from) ? "" : from;
}

/// Lets checkpoints keep the marks of pairs, and refuses those with others.
void set_marks(task& t, const language_params& o, bool trains, const vocabulary& words,
               const pair_marks& marks) {
  t.facts.merge(marks.facts());
  t.require_same_meaning = same_meaning(o, trains, words, [marks, words](const std::string& checkpoint) {
    require_same_marks(checkpoint, marks, words);
  });
}
/// The same for those of chats.
void set_marks(task& t, const language_params& o, bool trains, const vocabulary& words,
               const chat_marks& marks) {
  t.facts.merge(marks.facts());
  t.require_same_meaning = same_meaning(
      o, trains, words, [marks](const std::string& checkpoint) { require_same_form(checkpoint, marks); });
}

task task_with_pairs(const std::string& program, language_params& o, bool trains) {
  const run_params& r = o.common.run;
  const paired_text x = pairs_of(o, vocabulary_of_weights(r), checkpoint_of_run(r, trains));
  task t = with_model(program, o, x.about, x.words);
  set_data(t, o, x.train.documents(), x.held_out.documents(), x.marks.end);
  set_marks(t, o, trains, x.words, x.marks);
  return t;
}

/// The chats of a run, as the vocabulary and the length of sequences let them be read. An end of an answer
/// that is not given is that of the checkpoint `from`, if it is not empty.
chat_words chats_of(language_params& o, const std::string& saved, const std::string& from) {
  for (const auto& [p, section] : {std::pair(&o.train, "train_input"), {&o.eval, "eval_input"}}) {
    const char* const other = p->stride                          ? "stride"
                              : !p->pairs.prompt_key.empty()     ? "prompt_key"
                              : !p->pairs.completion_key.empty() ? "completion_key"
                              : !p->pairs.separator.empty()      ? "separator"
                                                                 : nullptr;
    if (other)
      throw std::invalid_argument(
          fmt::format("{0}.{1} is of {2}, and messages_key says that the data are chats: leave --{1} out",
                      section, other, p->stride ? "a running text" : "pairs"));
  }
  set_lengths(o);
  const std::optional<chat_marks> kept = from.empty() ? std::nullopt : chat_marks::of(from);
  return {.train = o.common.train_input.data_dir,
          .held_out = o.common.eval_input.data_dir,
          .key = o.train.messages_key,
          .held_out_key = o.eval.messages_key.empty() ? o.train.messages_key : o.eval.messages_key,
          .length = o.train.max_sequence_length,
          .held_out_length = o.eval.max_sequence_length,
          .words = example_words_of(o, saved),
          .kept_end = kept ? std::optional(kept->end) : std::nullopt};
}

task task_with_chats(const std::string& program, language_params& o, bool trains) {
  const run_params& r = o.common.run;
  const chat_text x = read_chats(chats_of(o, vocabulary_of_weights(r), checkpoint_of_run(r, trains)));
  set_vocabulary(o, x.words, std::max(x.train.largest(), x.held_out.largest()));
  task t = with_model(program, o, x.about, x.words);
  set_data(t, o, x.train.documents(), x.held_out.documents(), x.marks.end);
  set_marks(t, o, trains, x.words, x.marks);
  return t;
}

/// The data of a run with preferences, whose marks may be those of a checkpoint, and the sizes that follow.
preference_words preferences_of(language_params& o, const std::string& saved, const std::string& from) {
  for (const auto& [p, section] : {std::pair(&o.train, "train_input"), {&o.eval, "eval_input"}}) {
    const char* const other = p->stride                          ? "stride"
                              : p->pack_sequences                ? "pack_sequences"
                              : !p->messages_key.empty()         ? "messages_key"
                              : !p->pairs.completion_key.empty() ? "completion_key"
                              : !p->hdf5.data_subset.empty()     ? "data_subset"
                              : !p->hdf5.mixture.empty()         ? "mixture"
                                                                 : nullptr;
    if (other)
      throw std::invalid_argument(fmt::format(
          "{0}.chosen_key says that the data are preferences, and {0} has {1}, which is of other data: leave "
          "--{1} out",
          section, other));
    if (p->chosen_key.empty() != p->rejected_key.empty())
      throw std::invalid_argument(fmt::format(
          "{}.chosen_key and rejected_key belong together: name both fields of the files of preferences",
          section));
  }
  for (const auto& [p, section] : {std::pair(&o.train, "train_input"), {&o.eval, "eval_input"}})
    if (!p->chosen_key.empty() && p->chosen_key == p->rejected_key)
      throw std::invalid_argument(fmt::format(
          "{0}.chosen_key and rejected_key are both '{1}', so that nothing is preferred: name the fields "
          "of the chosen and of the rejected answers",
          section, p->chosen_key));
  if (o.train.chosen_key.empty())
    throw std::invalid_argument(
        "eval_input.chosen_key says that the data are preferences: give train_input.chosen_key and "
        "rejected_key, too, "
        "or leave it out");
  set_lengths(o);
  const auto keys_of = [](const text_params& p, const ml::preference_keys& otherwise) {
    const auto word = [](const std::string& given, const std::string& usual) {
      return given.empty() ? usual : given;
    };
    return ml::preference_keys{.prompt = word(p.pairs.prompt_key, otherwise.prompt),
                               .chosen = word(p.chosen_key, otherwise.chosen),
                               .rejected = word(p.rejected_key, otherwise.rejected)};
  };
  const ml::preference_keys keys = keys_of(o.train, {});
  return {.train = o.common.train_input.data_dir,
          .held_out = o.common.eval_input.data_dir,
          .keys = keys,
          .held_out_keys = keys_of(o.eval, keys),
          .length = o.train.max_sequence_length,
          .held_out_length = o.eval.max_sequence_length,
          .words = example_words_of(o, saved),
          .separator = o.train.pairs.separator,
          .kept = from.empty() ? std::nullopt : preference_marks::of(from),
          .are_scored = o.model.reward_head,
          .padding = o.padding};
}

/// The checkpoint whose marks a run of preferences takes if it gives none: its own, or that with whose
/// weights it begins.
std::string checkpoint_with_marks(const run_params& r, bool trains) {
  const std::string from = checkpoint_of_run(r, trains);
  return from.empty() && r.load_checkpoint_states == "model" ? checkpoint_to_look_at(r) : from;
}

/// No dropout, unless the section dpo says otherwise.
void set_dropout(language_params& o) {
  model_params& m = o.model;
  if (o.preferences.disable_dropout) m.dropout = 0, m.attention_dropout = m.embedding_dropout = -1;
}

/// The model of preferences, and what checkpoints keep of them.
void set_preferences(task& t, const language_params& o, bool trains, const vocabulary& words,
                     const preference_marks& marks, const ml::preference_keys& keys) {
  const ml::preference_loss_settings how = o.preferences.settings();
  const adapted_model m(o.model, o.lora);
  if (o.model.reward_head) {
    t.model = [m] { return ml::reward_model{m.config()}.build(m.layers()); };
    t.preferences = preference_run{};
  } else {
    const ml::preference_model of{.of = m.config(), .how = how};
    t.model = [m, of] { return of.build(m.layers()); };
    t.preferences = preference_run{.beta = o.preferences.beta,
                                   .reference_name = o.preferences.reference_model,
                                   .cache = o.preferences.reference_cache,
                                   .is_mean = how.kind == ml::preference_kind::ipo};
    if (!how.reference_free) t.preferences->reference = [of] { return of.log_probabilities(); };
    for (const auto& [name, value] : o.model.architecture())
      t.preferences->architecture += name + ": " + value + "\n";
  }
  t.facts.merge(marks.facts());
  const ml::text_by_name objective = objective_of(o.preferences, o.model.reward_head, keys);
  t.facts.insert(objective.begin(), objective.end());
  t.require_same_meaning =
      same_meaning(o, trains, words, [trains, objective, marks](const std::string& checkpoint) {
        require_same_marks(checkpoint, marks);
        if (trains) require_same_objective(checkpoint, objective);
      });
}

task task_with_preferences(const std::string& program, language_params& o, bool trains) {
  const run_params& r = o.common.run;
  const preference_words asked =
      preferences_of(o, vocabulary_of_weights(r), checkpoint_with_marks(r, trains));
  const preference_text x = read_preferences(asked);
  set_vocabulary(o, x.words, x.largest);
  set_dropout(o);
  task t = with_model(program, o, x.about, x.words);
  set_preferences(t, o, trains, x.words, x.marks, asked.keys);
  t.train = x.train, t.held_out = x.held_out;
  return t;
}

hdf5_input input_of(const input_params& in, const text_params& p) {
  return {in.data_dir, p.hdf5, p.max_sequence_length};
}

task task_with_hdf5(const std::string& program, language_params& o) {
  for (const text_params* p : {&o.train, &o.eval})
    if (p->stride)
      throw std::invalid_argument(
          "stride is of a running text, and the data are HDF5: leave it out, or --stride null");
  hdf5_corpus x = read_hdf5_corpus({.train = input_of(o.common.train_input, o.train),
                                    .held_out = input_of(o.common.eval_input, o.eval),
                                    .kind = o.train.vocabulary,
                                    .tokenizer_dir = o.train.tokenizer_dir,
                                    .vocab_size = o.model.vocab_size});
  if (!x.vocab_size)
    throw std::invalid_argument(
        "model.vocab_size is missing: neither data_params.json nor a vocabulary beside the files says it");
  o.model.vocab_size = x.vocab_size, o.train.tokenizer_dir = x.tokenizer_dir;
  for (const auto& [d, p] : {std::pair(&x.train, &o.train), {&x.held_out, &o.eval}})
    p->max_sequence_length = d->length;
  if (!o.model.max_position_embeddings)
    o.model.max_position_embeddings = std::max(x.train.length, x.held_out.length);
  set_lengths(o);
  task t = with_model(program, o, x.about, x.words);
  t.train = std::move(x.train), t.held_out = std::move(x.held_out);
  return t;
}

bool names_data(const input_params& in, const text_params& x) {
  const std::vector<std::string> paths = words_of_list(in.data_dir);
  const bool has_path = std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
    return path.find_first_not_of(' ') != path.npos;
  });
  return has_path || !x.hdf5.mixture.empty() || x.hdf5.data_processor == synthetic_processor;
}

bool has_random_tokens(const language_params& o) {
  return is_synthetic(o.train.hdf5.data_processor, o.eval.hdf5.data_processor, o.common, o.train.hdf5.random,
                      o.eval.hdf5.random);
}

/// Throws std::invalid_argument for settings of texts, which random tokens do not have.
void refuse_settings_of_texts(const language_params& o) {
  for (const auto& [section, p] : {std::pair("train_input", &o.train), {"eval_input", &o.eval}}) {
    const char* const given = p->stride                      ? "stride"
                              : !p->vocabulary.empty()       ? "vocabulary"
                              : !p->tokenizer_dir.empty()    ? "tokenizer_dir"
                              : !p->messages_key.empty()     ? "messages_key"
                              : p->pairs.are_given()         ? "prompt_key"
                              : !p->pairs.separator.empty()  ? "separator"
                              : !p->pairs.end_token.empty()  ? "end_token"
                              : p->pack_sequences            ? "pack_sequences"
                              : !p->hdf5.data_subset.empty() ? "data_subset"
                              : !p->hdf5.mixture.empty()     ? "mixture"
                                                             : nullptr;
    if (given)
      throw std::invalid_argument(fmt::format(
          "{0}.{1} is of texts, and {0}.data_processor is {2}, random tokens: leave it out, or --{1} null",
          section, given, synthetic_processor));
  }
}

task task_with_random_tokens(const std::string& program, language_params& o) {
  refuse_settings_of_texts(o);
  const int vocabulary_size = o.model.vocab_size;
  set_lengths(o);
  task t = with_model(program, o,
                      fmt::format("random tokens, sequences of {}, of a vocabulary of {}",
                                  o.train.max_sequence_length, vocabulary_size),
                      vocabulary());
  const auto tokens_of = [&](const input_params& in, const text_params& p, bool trains) {
    return ml::synthetic_text(synthetic_settings_of(in, p.hdf5.random.num_examples, trains),
                              p.max_sequence_length, vocabulary_size);
  };
  t.train = tokens_of(o.common.train_input, o.train, true);
  t.held_out = tokens_of(o.common.eval_input, o.eval, false);
  return t;
}

}  // namespace

void declare_inputs(fields& f, language_params& p, bool with_preferences) {
  f.section("train_input");
  declare_input(f, p.common.train_input, true), declare_text(f, p.train, with_preferences);
  f.section("eval_input");
  declare_input(f, p.common.eval_input, false), declare_text(f, p.eval, with_preferences);
  f.remark([&f, &p] {
    const hdf5_input in = input_of(p.common.train_input, p.train);
    if (!f.is_of_user() || !names_data(p.common.train_input, p.train) ||
        names_data(p.common.eval_input, p.eval) || p.train.hdf5.data_processor == synthetic_processor ||
        f.file_names_section("eval_input"))
      return std::string();
    return std::string("eval_input.data_dir is not given: ") +
           (is_hdf5(in) ? "evaluations read what training reads, so their loss says nothing of other data"
                        : "of a text the last tenth is held out, of a folder of tokens val.bin");
  });
}

void require_fields(const language_params& p) {
  if (has_random_tokens(p)) {
    if (!p.model.vocab_size)
      throw std::invalid_argument("model.vocab_size is missing: random tokens do not say it");
  } else if (const hdf5_input in = input_of(p.common.train_input, p.train); is_hdf5(in))
    return p.no_data_to_train.empty() ? require_files(in) : void();  // of which require_data speaks
  if (!p.model.max_position_embeddings)
    throw std::invalid_argument("model.max_position_embeddings is missing");
}

void check_loss(const language_params& p) {
  const model_params& m = p.model;
  if (m.loss_scaling == "num_tokens" && m.loss_weight != 1)
    throw std::invalid_argument(
        fmt::format("model.loss_weight {} would change the result: with loss_scaling num_tokens it is 1: "
                    "leave it out, or "
                    "give loss_scaling batch_size",
                    m.loss_weight));
  if (m.loss_scaling == "batch_size" && !p.train.chosen_key.empty())
    throw std::invalid_argument(
        "model.loss_scaling batch_size divides the losses of tokens, and with train_input.chosen_key the "
        "loss "
        "is of pairs: take loss_scaling num_tokens and loss_weight 1");
}

void require_data(const language_params& p, bool trains) {
  mistakes found;
  if (trains && !p.no_data_to_train.empty()) found.add(p.no_data_to_train);
  if (p.evaluates && !p.no_data_to_evaluate.empty()) found.add(p.no_data_to_evaluate);
  found.report();
}

namespace {

/// Finds out which part of the data is missing, for `require_data`.
void look_for_data(const fields& f, language_params& p) {
  const bool trains = names_data(p.common.train_input, p.train);
  // The other part of random numbers is random numbers, too.
  const bool evaluates =
      names_data(p.common.eval_input, p.eval) ||
      (p.eval.hdf5.data_processor.empty() && p.train.hdf5.data_processor == synthetic_processor);
  const words_of_file as = f.words();
  const auto missing = [&](const char* name, const std::string& remedy) {
    const std::string place = f.is_of_user() ? f.place_in_file(name) + ": " : "";
    return place + as.in_its_names(fmt::format("{} is missing: {}", name, remedy));
  };
  p.no_data_to_train = p.no_data_to_evaluate = "";
  if (!trains && (f.is_of_user() || evaluates))
    p.no_data_to_train =
        missing("train_input.data_dir",
                is_hdf5(input_of(p.common.train_input, p.train))
                    ? "name a folder with files of HDF5, there or by --train_input.data_dir"
                    : "name a text, a folder of tokens or files of HDF5, there or by --train_input.data_dir; "
                      "this project's own "
                      "pages are the data only where neither a params file nor an option names any");
  // Of a text without another the last tenth is held out, and val.bin beside train.bin: where a file has the
  // section it means other data.
  if (!evaluates && f.is_of_user() && (!trains || f.file_names_section("eval_input")))
    p.no_data_to_evaluate = missing("eval_input.data_dir",
                                    "name what is held out, there or by --eval_input.data_dir; where it is "
                                    "that of train_input, the last tenth "
                                    "of a text is held out, or val.bin of a folder of tokens");
}

}  // namespace

void complete(fields& f, language_params& p) {
  check_processor("train_input", p.train.hdf5.data_processor);
  check_processor("eval_input", p.eval.hdf5.data_processor);
  look_for_data(f, p);
  p.common.run.checkpoint_asked = f.is_asked("checkpoint_path");
  // The stride of a configuration is that of its running text, which options may replace with
  // documents.
  const auto is_asked = [&](const char* name) {
    const std::vector<field*> found = f.named(name);
    return !found.empty() && found.front()->given.starts_with("--");
  };
  for (const auto& [section, of] : {std::pair("train_input", &p.train), {"eval_input", &p.eval}})
    if ((is_asked("train_input.prompt_key") || is_asked("train_input.messages_key") ||
         is_asked("train_input.chosen_key") ||
         (of->pack_sequences &&
          f.named(section + std::string(".pack_sequences")).front()->given.starts_with("--")) ||
         (f.named("train_input.data_dir").front()->given.starts_with("--") &&
          is_hdf5({p.common.train_input.data_dir, p.train.hdf5}))) &&
        !f.named(section + std::string(".stride")).front()->given.starts_with("--"))
      of->stride = 0;
  // So are those of its text which random tokens replace.
  if (const field* asked = f.named("train_input.data_processor").front();
      asked->given.starts_with("--") && p.train.hdf5.data_processor == synthetic_processor)
    for (const char* name : {"stride", "vocabulary", "tokenizer_dir"})
      for (field* x : f.named(name))
        if (!x->given.starts_with("--")) x->reset();
  complete_lora(f, p.lora);
  complete_mup(f, p.model, p.common.optimizer);
  train_app::complete(p.common, ranks::cores(), ranks::memory());
  for (const auto& [name, of_train, of_eval] :
       {std::tuple("vocabulary", &p.train.vocabulary, &p.eval.vocabulary),
        {"tokenizer_dir", &p.train.tokenizer_dir, &p.eval.tokenizer_dir},
        {"separator", &p.train.pairs.separator, &p.eval.pairs.separator},
        {"end_token", &p.train.pairs.end_token, &p.eval.pairs.end_token}})
    if (!of_eval->empty() && *of_eval != *of_train)
      throw std::invalid_argument("eval_input." + std::string(name) + " is " + *of_eval +
                                  ", that of train_input " + (of_train->empty() ? "null" : *of_train) +
                                  ": a model has one vocabulary");
}

namespace {

/// Throws std::invalid_argument for a path of the data where nothing is.
void require_paths(const language_params& p, bool trains) {
  for (const auto& [in, section, is_read] : {std::tuple(&p.common.train_input, "train_input", trains),
                                             {&p.common.eval_input, "eval_input", p.evaluates}})
    for (const std::string& path : words_of_list(in->data_dir))
      if (is_read && !path.empty() && path.find_first_of("*?[") == path.npos &&  // a pattern
          !std::filesystem::exists(path))
        throw std::invalid_argument(
            fmt::format("{0}.data_dir {1}: there is no such file or folder: name the data, "
                        "or give --{0}.data_dir",
                        section, path));
}

task task_with_data(const std::string& program, language_params& p, bool trains) {
  // An evaluation needs no data to train with.
  const bool only_held_out =
      !trains && !names_data(p.common.train_input, p.train) && names_data(p.common.eval_input, p.eval);
  if (only_held_out && is_hdf5(input_of(p.common.eval_input, p.eval)))
    p.common.train_input.data_dir = p.common.eval_input.data_dir, p.train.hdf5 = p.eval.hdf5;
  require_fields(p);
  require_paths(p, trains);
  const auto are_preferences = [](const text_params& x) {
    return !x.chosen_key.empty() || !x.rejected_key.empty();
  };
  if (are_preferences(p.train) || are_preferences(p.eval)) {
    if (is_hdf5(input_of(p.common.train_input, p.train)) || is_hdf5(input_of(p.common.eval_input, p.eval)))
      throw std::invalid_argument(
          "chosen_key and rejected_key are of files of preferences (.jsonl, .csv, .tsv), and the data are "
          "HDF5: give the files from which they were made");
    return task_with_preferences(program, p, trains);
  }
  if (p.model.reward_head)
    throw std::invalid_argument(
        "model.reward_head: a reward model learns from preferences: give chosen_key and rejected_key");
  if (has_random_tokens(p)) return task_with_random_tokens(program, p);
  for (const auto& [in, x, section] : {std::tuple(&p.common.train_input, &p.train, "train_input"),
                                       {&p.common.eval_input, &p.eval, "eval_input"}})
    if (!in->data_dir.empty() && !x->hdf5.mixture.empty())
      throw std::invalid_argument(fmt::format(
          "{0}.data_dir and {0}.mixture both name the data: leave one of them out, or --{0}.data_dir null",
          section));
  const bool trains_hdf5 = is_hdf5(input_of(p.common.train_input, p.train)),
             holds_out_hdf5 = is_hdf5(input_of(p.common.eval_input, p.eval));
  if (trains_hdf5 != holds_out_hdf5 && (trains_hdf5 ? !p.common.eval_input.data_dir.empty() : true))
    throw std::invalid_argument(fmt::format("{} is HDF5, and {} is not: both parts have one form",
                                            trains_hdf5 ? "train_input" : "eval_input",
                                            trains_hdf5 ? "eval_input" : "train_input"));
  if (trains_hdf5) {
    if (p.train.pairs.are_given() || !p.train.messages_key.empty())
      throw std::invalid_argument(
          "prompt_key and messages_key are of files of pairs and chats, and the data are HDF5, which say "
          "themselves what counts: leave them out");
    for (text_params* x : {&p.train, &p.eval}) x->hdf5.use_vsl = x->pack_sequences;
    return task_with_hdf5(program, p);
  }
  for (const text_params* x : {&p.train, &p.eval})
    if (!x->hdf5.data_subset.empty())
      throw std::invalid_argument(
          "data_subset is of HDF5, and the data are none: leave it out, or make some with `wsl-data "
          "convert`");
  if (!p.train.messages_key.empty()) return task_with_chats(program, p, trains);
  if (!p.eval.messages_key.empty())
    throw std::invalid_argument(
        "eval_input.messages_key says that the data are chats: give train_input.messages_key, too, or leave "
        "it out");
  if (p.train.pairs.are_given()) return task_with_pairs(program, p, trains);
  const bool packs = packs_of(p).any();
  if (p.eval.pairs.are_given() || !p.train.pairs.separator.empty() ||
      (!p.train.pairs.end_token.empty() && !packs))
    throw std::invalid_argument(
        "completion_key, separator and end_token are of pairs: give train_input.prompt_key and "
        "completion_key, or leave them out");
  for (const auto& [where, section] : {std::pair(p.common.train_input.data_dir, "train_input"),
                                       {p.common.eval_input.data_dir, "eval_input"}})
    if (where.ends_with(".jsonl"))
      throw std::invalid_argument(fmt::format(
          "{0}.data_dir {1} has records, and a running text would have their braces in it, too: give "
          "messages_key for chats, or prompt_key and completion_key for pairs; a text of it is a .txt",
          section, where));
  return task_with(program, p,
                   read_corpus({.train = p.common.train_input.data_dir,
                                .held_out = p.common.eval_input.data_dir,
                                .only_held_out = only_held_out,
                                .kind = p.train.vocabulary,
                                .tokenizer_dir = p.train.tokenizer_dir,
                                .of_weights = vocabulary_of_weights(p.common.run),
                                .of_model = p.hf}),
                   trains);
}

/// The task where other processes read the data: `read` has what they have found out.
task told_task(const std::string& program, language_params& p, bool trains, bool has_meaning,
               const task& read) {
  const vocabulary words = vocabulary::from_saved(read.vocabulary, "");
  const bool are_preferences = !p.train.chosen_key.empty();
  if (are_preferences) set_dropout(p);
  task t = with_model(program, p, read.data_words, words);
  if (are_preferences)
    set_preferences(t, p, trains, words, preference_marks::from(read.facts), preferences_of(p, "", "").keys);
  else if (const auto chats = chat_marks::from(read.facts)) set_marks(t, p, trains, words, *chats);
  else if (const auto pairs = pair_marks::from(read.facts)) set_marks(t, p, trains, words, *pairs);
  else if (has_meaning) t.require_same_meaning = same_meaning(p, trains, words);
  t.train = read.train, t.held_out = read.held_out;
  return t;
}

/// Reads the data where data are read, and tells the other processes what follows from them.
task task_of_data(const std::string& program, language_params& p, bool trains) {
  task t;
  ranks::where_data_are_read([&] {
    t = task_with_data(program, p, trains);
    const bool has_examples =
        p.train.pairs.are_given() || !p.train.messages_key.empty() || !p.train.chosen_key.empty();
    std::error_code none;
    if (has_examples &&
        std::filesystem::equivalent(p.common.train_input.data_dir, p.common.eval_input.data_dir, none))
      t.data_words += "; these are the examples to train with, so that their loss says nothing of others";
  });
  const auto told = [](i64 number) {
    ranks::tell(number);
    return number;
  };
  for (int* n : {&p.model.vocab_size, &p.model.max_position_embeddings, &p.train.max_sequence_length,
                 &p.eval.max_sequence_length})
    *n = static_cast<int>(told(*n));
  p.model.loss_by_sequences = told(p.model.loss_by_sequences) != 0;
  const bool has_meaning = told(t.require_same_meaning != nullptr) != 0;
  ranks::tell(p.train.tokenizer_dir), ranks::tell(t.data_words), ranks::tell(t.vocabulary);
  ml::text_by_name facts;
  auto x = t.facts.begin();
  for (i64 count = told(std::ssize(t.facts)); count > 0; --count) {
    std::string name, value;
    if (ranks::reads_data()) name = x->first, value = x->second, ++x;
    ranks::tell(name), ranks::tell(value);
    facts.emplace(name, value);
  }
  ranks::tell(t.train), ranks::tell(t.held_out);
  if (ranks::reads_data()) return t;
  t.facts = std::move(facts);
  return told_task(program, p, trains, has_meaning, t);
}

/// Copies the tokenizer of a run to its folder, and what says which tokens end a text of the model with which
/// it begins.
void keep_words(const std::string& hf, const std::string& tokenizer_dir, const std::string& folder) {
  if (tokenizer_dir.empty() && hf.empty()) return;
  ml::hugging_face::copy_companions(tokenizer_dir.empty() ? hf : tokenizer_dir, folder);
  if (hf.empty() || tokenizer_dir.empty() || hf == tokenizer_dir) return;
  const std::string to = folder + "/" + ml::hugging_face::generation_file;
  if (const auto settings = ml::hugging_face::generation_of(hf); !settings.empty())
    wsl::support::write_whole_file(to, settings.dump(2) + "\n");
}

/// Takes the copy of a tokenizer beside a checkpoint, since the folder that the run began with may have gone.
void take_tokenizer_beside(language_params& o, const std::string& checkpoint) {
  const std::string folder = std::filesystem::absolute(checkpoint).parent_path();
  if (!fact_of(checkpoint, "vocabulary").starts_with("characters") &&
      !std::filesystem::is_directory(o.train.tokenizer_dir) && ml::tokenizer::is_in(folder))
    o.train.tokenizer_dir = folder;
}

/// Chooses by what the loss is divided. Where all tokens of a batch count, as in windows of a text, dividing
/// by sequences and multiplying by 1 / max_sequence_length is the mean over tokens. Throws
/// std::invalid_argument for a scale that contradicts itself.
void set_loss(language_params& p) {
  check_loss(p);
  model_params& m = p.model;
  const int length = p.train.max_sequence_length ? p.train.max_sequence_length : m.max_position_embeddings;
  const bool all_count = !p.train.pairs.are_given() && p.train.messages_key.empty() &&
                         !p.train.pack_sequences && !is_hdf5(input_of(p.common.train_input, p.train));
  m.loss_by_sequences =
      m.loss_scaling == "batch_size" && !(all_count && std::abs(m.loss_weight * length - 1) < 1e-6);
}

}  // namespace

task task_of(const std::string& program, language_params& p, bool trains) {
  // A run that goes on needs nothing of the folder that it began with.
  const std::string& words = p.train.tokenizer_dir;
  if (const std::string from = checkpoint_of_run(p.common.run, trains);
      !from.empty() && !words.empty() && !std::filesystem::exists(words)) {
    take_tokenizer_beside(p, from);
    if (!p.eval.tokenizer_dir.empty()) p.eval.tokenizer_dir = words;
  }
  require_data(p, trains);
  const bool is_demonstration =
      !names_data(p.common.train_input, p.train) && !names_data(p.common.eval_input, p.eval);
  if (is_demonstration && ranks::root())
    std::fprintf(stderr,
                 "%s: no data_dir is given, so this is a demonstration, on the text of this project's pages; "
                 "--data_dir names other data\n",
                 program.c_str());
  set_loss(p);
  task t = task_of_data(program, p, trains);
  t.add_to_folder = [hf = p.hf, words = p.train.tokenizer_dir](const std::string& folder) {
    keep_words(hf, words, folder);
  };
  return t;
}

std::vector<readers> options_of_modes() {
  const kinds_of_modes m;
  const mode_names computes = together({m.trains, m.evaluates}), of_pairs{"predict"};
  std::vector<readers> all = common_readers();
  for (const char* section : {"train_input", "eval_input"}) {
    all.push_back({section, together({computes, of_pairs})});
    for (const char* name : {"batch_size", "micro_batch_size"})
      all.push_back({fmt::format("{}.{}", section, name), computes});
    for (const char* name : {"tokenizer_dir", "vocabulary"})
      all.push_back({fmt::format("{}.{}", section, name), together({computes, m.uses_weights})});
  }
  for (const char* name : {"dropout_rate", "attention_dropout_rate", "embedding_dropout_rate",
                           "initializer_range", "initializer", "embedding_initializer",
                           "output_layer_initializer", "ffn_initializer", "ffn_output_layer_initializer"})
    all.push_back({fmt::format("model.{}", name), m.trains});
  for (const char* name : {"loss_scaling", "loss_weight"})
    all.push_back({fmt::format("model.{}", name), computes});
  for (const char* name : {"mixed_precision", "fp16_type", "use_bfloat16"})
    all.push_back({fmt::format("model.{}", name), together({computes, m.uses_weights})});
  all.push_back({"lora", together({computes, m.uses_weights})});
  for (const char* mode : {"sample", "predict"}) all.push_back({mode, {mode}});
  return all;
}

void begin_with(task& t, const language_params& p, std::function<ml::weights()> read,
                const std::string& option) {
  t.begin = [m = adapted_model(p.model, p.lora), read = std::move(read),
             set_adapters = t.set_adapters](ml::trainer_base& to) {
    set_weights(to, m.with_adapters(read(), to.position().seed));
    if (set_adapters) set_adapters(to);
  };
  t.begins_with = option + (p.lora.adapter.empty() ? "" : " and --adapter " + p.lora.adapter);
}

void refuse_options(fields& f, std::initializer_list<const char*> names, const std::string& why) {
  for (const char* name : names)
    if (f.is_asked(name)) throw std::invalid_argument("--" + std::string(name) + ": " + why);
}

namespace {

/// A run's last checkpoint, or the one that was asked for, and its vocabulary. Throws std::invalid_argument
/// if there is none, or if it is of another model.
std::string trained_checkpoint(language_params& o, vocabulary& words) {
  if (o.model.reward_head)
    throw std::invalid_argument(
        "the model of this run is a reward model, which gives texts scores and writes none: wsl-zoo predict "
        "--score "
        "FILE");
  const run_params& r = o.common.run;
  const std::string from = checkpoint_to_look_at(r);
  if (from.empty())
    throw std::invalid_argument("there is no checkpoint in " + r.model_dir +
                                ": train first, or give --checkpoint_path");
  const std::string kept = fact_of(from, "vocabulary");
  take_tokenizer_beside(o, from);
  try {
    words = vocabulary::from_saved(kept, o.train.tokenizer_dir);
  } catch (const ml::file_error&) {
    throw;  // of a file that the vocabulary is read with
  } catch (const std::invalid_argument& e) {
    throw ml::file_error(from + ": its vocabulary is damaged: " + e.what());
  }
  if (!o.model.vocab_size) o.model.vocab_size = words.size();
  train_app::named_words all = o.model.architecture();
  for (const auto& word : o.lora.architecture()) all.push_back(word);
  require_same_model(from, all, r.override_model);
  return from;
}

}  // namespace

std::unique_ptr<machine> trained(language_params& o, vocabulary& words) {
  const std::string from = trained_checkpoint(o, words);
  ml::network model = adapted_model(o.model, o.lora).network();
  freeze(model, o.common.optimizer, parameter_groups());
  const ml::optimizer rule = optimizer_for(o.common.optimizer, model, parameter_groups());
  auto t = ranks::streaming(std::move(model), rule,
                            {.workers = 1,
                             .threads = o.common.run.threads,
                             .precision = o.common.precision.format(),
                             .loss_scaling = 1.});
  load(from, *t);
  return t;
}

namespace {

/// The prompts of preferences are completed as those of pairs, and the chosen answers are right; but they do
/// not bound what the model may write.
void take_preferences_for_pairs(language_params& o, completing_params& how) {
  if (o.train.chosen_key.empty()) return;
  if (!how.max_new_tokens) how.max_new_tokens = o.model.max_position_embeddings;
  const std::string of_run = o.hf.empty() ? checkpoint_to_look_at(o.common.run) : "";
  const auto marks = of_run.empty() ? std::nullopt : preference_marks::of(of_run);
  if (marks && !marks->form.empty())
    throw std::invalid_argument(
        "predict completes prompts that are texts, and the run's are lists of messages: a question is "
        "answered by the mode sample with --chat true");
  for (text_params* p : {&o.train, &o.eval}) {
    if (p->pairs.prompt_key.empty())
      p->pairs.prompt_key = p == &o.train ? "prompt" : o.train.pairs.prompt_key;
    p->pairs.completion_key = !p->chosen_key.empty() ? p->chosen_key : o.train.chosen_key;
  }
}

/// The prompts of the held-out part that a model completes: the one of --hf, if it is given, or of the
/// checkpoint `from`.
prompts held_out_prompts(language_params& o, const completing_params& how, const std::string& from) {
  const std::string saved = from.empty() ? "" : fact_of(from, "vocabulary");
  if (!o.train.messages_key.empty() || !o.eval.messages_key.empty()) {
    if (o.train.messages_key.empty()) o.train.messages_key = o.eval.messages_key;
    auto [asked, marks] = questions_of(chats_of(o, saved, from), how.max_new_tokens);
    if (!from.empty()) require_same_form(from, marks);
    return std::move(asked);
  }
  const paired_text x = pairs_of(o, saved, from, true);
  if (!from.empty()) require_same_marks(from, x.marks, x.words);
  return prompts_of(x);
}

}  // namespace

void predict(const fields& f, language_params& o, completing_params how) {
  check(how);
  take_preferences_for_pairs(o, how);
  if (!o.train.pairs.are_given()) o.train.pairs = o.eval.pairs;
  if (!o.train.pairs.are_given() && o.train.messages_key.empty() && o.eval.messages_key.empty())
    throw std::invalid_argument(
        "predict completes the prompts of pairs and answers the questions of chats: give prompt_key and "
        "completion_key, or messages_key; a running text goes on with the mode sample");
  if (!o.hf.empty() && how.file.empty())
    throw std::invalid_argument(
        "predict --hf needs --predictions, the file to write: a run has its own, and this model is of none");
  const std::string from = o.hf.empty() ? checkpoint_to_look_at(o.common.run) : "";
  if (o.hf.empty() && from.empty())
    throw std::invalid_argument("there is no checkpoint in " + o.common.run.model_dir +
                                ": train first, or give --checkpoint_path");
  // A run that began with a model of Hugging Face has a copy of its tokenizer.
  if (!from.empty()) take_tokenizer_beside(o, from);
  const prompts asked = held_out_prompts(o, how, from);
  file_of_predictions to(f, how.file.empty() ? o.common.run.model_dir + "/predictions.jsonl" : how.file,
                         "predictions");
  write_completions(
      o.hf.empty() ? trained_model(o) : pretrained_model(o.hf, o.train.tokenizer_dir, o.lora.adapter), asked,
      how, o.common.precision.format(), o.common.run.threads, to);
}

stored_model trained_model(language_params& o) {
  vocabulary words;
  const std::string from = trained_checkpoint(o, words);
  const bool has_letters = words.saved().starts_with("characters");
  const adapted_model adapted(o.model, o.lora);
  ml::network model = adapted.network();
  freeze(model, o.common.optimizer, parameter_groups());
  stored_model m =
      model_of_checkpoint(from, adapted, model, std::move(words), o.common.optimizer.ema_decay > 0);
  m.tokenizer = o.train.tokenizer_dir;
  // A run that began with a model of Hugging Face has its tokenizer beside the checkpoints.
  if (const std::string folder = std::filesystem::absolute(from).parent_path();
      !has_letters && ml::tokenizer::is_in(folder))
    take_words(m, folder, o.train.tokenizer_dir);
  if (const auto marks = chat_marks::of(from); marks && marks->is_plain()) m.plain_chat_end = marks->end;
  return m;
}

}  // namespace gpt_app
