// SPDX-License-Identifier: MIT
#include "preferences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <wsl/ml/data/text/encode/preference_text.hpp>

#include "chats.hpp"
#include "pair_marks.hpp"

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
using wsl::f32;
using wsl::i32;
using wsl::i64;

constexpr const char* padding_fact = "reward.padding";

ml::preference_file file_of(const std::string& where, const char* section, const ml::preference_keys& keys) {
  if (where.empty())
    throw std::invalid_argument(fmt::format(
        "{}.data_dir is missing: name a file of preferences (.jsonl, .csv, .tsv) or a folder", section));
  return ml::preference_file(ml::files_of({where}, {".jsonl", ".csv", ".tsv"}), keys);
}

/// All characters of the texts to train with.
std::string letters_of(const ml::preference_file& in) {
  std::string all;
  for (i64 k = 0; k < in.count(); ++k) {
    const ml::preference_example x = in.at(k);
    all += x.prompt + x.chosen + x.rejected;
  }
  return all;
}

/// The examples of which both answers are the same.
i64 equal_answers(const ml::preference_file& in) {
  i64 equal = 0;
  for (i64 k = 0; k < in.count(); ++k) {
    const ml::preference_example x = in.at(k);
    equal += x.chosen == x.rejected;
  }
  return equal;
}

ml::preference_pairs encoded(const ml::preference_file& in, const preference_encoder& by, int length) {
  ml::preference_pairs all({.length = length, .begin = by.begin(), .end = by.padding()});
  ml::add_preferences(
      all, in, [&](const ml::preference_example& x) { return by.prompt(x); },
      [&](const std::string& text) { return by.answer(text); });
  return all;
}

}  // namespace

ml::preference_loss_settings preference_params::settings() const {
  using enum ml::preference_kind;
  const ml::preference_kind kind = loss_type == "sigmoid" ? sigmoid
                                   : loss_type == "hinge" ? hinge
                                   : loss_type == "ipo"   ? ipo
                                                          : dpop;
  if (label_smoothing > 0 && kind != sigmoid)
    throw std::invalid_argument(
        fmt::format("dpo.label_smoothing is of loss_type sigmoid, and this is {}: leave it out", loss_type));
  if (penalty >= 0 && kind != dpop)
    throw std::invalid_argument(
        fmt::format("dpo.dpop_penalty_weight is of loss_type dpop, and this is {}: leave it out", loss_type));
  return {.kind = kind,
          .beta = static_cast<f32>(beta),
          .label_smoothing = static_cast<f32>(label_smoothing),
          .penalty = penalty >= 0 ? std::optional(static_cast<f32>(penalty)) : std::nullopt,
          .reference_free = reference_free};
}

void declare_preferences(train_app::fields& f, preference_params& p) {
  f.section("dpo");
  f.nested("model", "dpo", "dpo"), f.nested("model", "policy_model", "model", true);
  f.add("loss_type", p.loss_type, "of the pairs of chosen_key and rejected_key")
      .one_of({"sigmoid", "hinge", "ipo", "dpop"});
  f.add("beta", p.beta, "how strongly the reference holds the model").above(0).at_most(1e6);
  f.add(
       "label_smoothing", p.label_smoothing,
       "the part of pairs that are thought to be the wrong way round, of loss_type sigmoid (of this program)")
      .at_least(0)
      .at_most(0.4999);
  f.add("dpop_penalty_weight", p.penalty,
        "of loss_type dpop, where a chosen answer gets less likely; null: 5")
      .at_least(0)
      .at_most(1e6);
  f.add("reference_free", p.reference_free, "log-probabilities are compared with none");
  f.add("disable_dropout", p.disable_dropout, "without dropout, whatever the section model says");
  f.add(
      "reference_model", p.reference_model,
      "the model with which this one is compared: a folder of Hugging Face, a checkpoint, or the folder of a "
      "run; null: that of --hf, or of --checkpoint_path with load_checkpoint_states model (of this program)");
  f.add("reference_cache", p.reference_cache,
        "a folder for the log-probabilities of the reference, which several runs may share; null: model_dir "
        "(of this program)");
}

ml::text_by_name preference_marks::facts() const {
  ml::text_by_name all = form.empty() ? pair_marks{.separator = separator, .end = end}.facts()
                                      : chat_marks{.form = form, .end = end}.facts();
  if (padding) all[padding_fact] = std::to_string(*padding);
  return all;
}

preference_marks preference_marks::from(const ml::text_by_name& facts) {
  preference_marks m;
  if (facts.contains(padding_fact)) m.padding = std::stoi(facts.at(padding_fact));
  if (const auto chats = chat_marks::from(facts)) m.form = chats->form, m.end = chats->end;
  else if (const auto pairs = pair_marks::from(facts)) m.separator = pairs->separator, m.end = pairs->end;
  return m;
}

std::optional<preference_marks> preference_marks::of(const std::string& checkpoint) {
  const ml::checkpoint c(checkpoint);
  preference_marks m;
  if (c.facts().contains(padding_fact)) m.padding = c.whole_number<i32>(padding_fact);
  if (const auto chats = chat_marks::of(checkpoint)) {
    m.form = chats->form, m.end = chats->end;
    return m;
  }
  if (const auto pairs = pair_marks::of(checkpoint)) {
    m.separator = pairs->separator, m.end = pairs->end;
    return m;
  }
  return m.padding ? std::optional(m) : std::nullopt;
}

ml::text_by_name objective_of(const preference_params& p, bool are_scored, const ml::preference_keys& keys) {
  ml::text_by_name all{{"train_input.prompt_key", keys.prompt},
                       {"train_input.chosen_key", keys.chosen},
                       {"train_input.rejected_key", keys.rejected}};
  if (are_scored) return all;
  all["dpo.loss_type"] = p.loss_type, all["dpo.beta"] = fmt::format("{}", p.beta);
  all["dpo.label_smoothing"] = fmt::format("{}", p.label_smoothing);
  all["dpo.dpop_penalty_weight"] = p.penalty >= 0 ? fmt::format("{}", p.penalty) : "null";
  all["dpo.reference_free"] = p.reference_free ? "true" : "false";
  return all;
}

void require_same_objective(const std::string& checkpoint, const ml::text_by_name& ours) {
  const ml::text_by_name facts = ml::checkpoint(checkpoint).facts();
  std::string there, here;
  for (const auto& [name, value] : ours) {
    const auto found = facts.find(name);  // those of earlier versions do not say it
    if (found == facts.end() || found->second == value) continue;
    const char* const between = there.empty() ? "" : ", ";
    there += fmt::format("{}{} {}", between, name, found->second),
        here += fmt::format("{}{}", between, value);
  }
  if (there.empty()) return;
  throw std::invalid_argument(fmt::format(
      "{0} has learnt with {1}, and these params have {2}: go on with what the run has, or begin one "
      "with its weights: --checkpoint_path {0} --load_checkpoint_states model and another --model_dir",
      checkpoint, there, here));
}

void require_same_marks(const std::string& checkpoint, const preference_marks& ours) {
  const std::optional<preference_marks> theirs = preference_marks::of(checkpoint);
  if (!theirs || (theirs->separator == ours.separator && theirs->form == ours.form &&
                  theirs->end == ours.end && theirs->padding == ours.padding))
    return;
  const auto words = [](const preference_marks& m) {
    return (m.form.empty() ? fmt::format("texts with '{}' between prompt and answer", m.separator)
                           : fmt::format("chats in the form {}", m.form)) +
           fmt::format(" and the token {} behind an answer", m.end) +
           (m.padding ? fmt::format(", padded with {}", *m.padding) : "");
  };
  throw std::invalid_argument(
      fmt::format("{} was trained on {}, and these params have {}: go on with those of the run", checkpoint,
                  words(*theirs), words(ours)));
}

preference_encoder::preference_encoder(const preference_words& asked, bool are_chats,
                                       std::string_view letters)
    : asked_(asked.words), of_characters_(are_characters(asked.words)) {
  if (are_chats && of_characters_)
    throw std::invalid_argument(
        "the pairs are lists of messages, which a chat template beside a tokenizer writes: give "
        "--tokenizer_dir, or "
        "write texts");
  marks_.separator = !asked.separator.empty() ? asked.separator : asked.kept ? asked.kept->separator : "";
  words_ = words_for(asked_, of_characters_, std::string(letters) + marks_.separator + "\n");
  if (are_chats) {
    const std::string& folder = asked_.tokenizer_dir;
    if (!ml::chat_template::is_in(folder))
      throw std::invalid_argument(fmt::format(
          "the pairs are lists of messages, and {} has no chat template to write them: write texts", folder));
    if (!asked.separator.empty() || !asked_.end_token.empty())
      throw std::invalid_argument(
          "the pairs are lists of messages, whose chat template says what is between them and what ends an "
          "answer: "
          "leave separator and end_token out");
    chat_ = ml::chat_template::of_folder(folder, *words_.tokens());
    marks_.separator.clear(), marks_.form = name_of(chat_->format());
  }
  const bool is_kept = asked.kept && asked.kept->form.empty();
  marks_.end = are_chats ? words_.id(std::string(chat_->end_of_turn())).value_or(0)
                         : end_of(asked_, of_characters_, words_,
                                  is_kept ? std::optional(asked.kept->end) : std::nullopt);
  if (!asked.are_scored) return;
  marks_.padding = asked.kept && asked.kept->padding ? asked.kept->padding : asked.padding;
  if (!marks_.padding) marks_.padding = marks_.end;
}

std::vector<i32> preference_encoder::begin() const {
  return chat_ ? std::vector<i32>() : words_.begin_tokens();  // the template writes its own
}

std::vector<i32> preference_encoder::encoded(std::string text) const {
  if (of_characters_) std::ranges::replace(text, '\n', ' ');
  if (words_.tokens()) return words_.tokens()->encode(text, {.add_special_tokens = false});
  try {
    return words_.encode(text);
  } catch (const ml::unknown_character& e) { throw std::invalid_argument(lacks(e, words_, asked_, "pairs")); }
}

std::vector<i32> preference_encoder::prompt(const ml::preference_example& x) const {
  if (chat_) return encoded(chat_->prompt(x.messages));
  std::vector<i32> ids = encoded(x.prompt);
  if (marks_.separator.empty()) return ids;
  const std::vector<i32> between = encoded(marks_.separator);
  ids.insert(ids.end(), between.begin(), between.end());
  return ids;
}

std::vector<i32> preference_encoder::answer(const std::string& text) const {
  std::vector<i32> ids = encoded(chat_ ? chat_->answer(text) : text);
  if (!chat_ && !ids.empty()) ids.push_back(marks_.end);
  return without_padding(std::move(ids));
}

std::vector<i32> preference_encoder::without_padding(std::vector<i32> ids) const {
  while (marks_.padding && !ids.empty() && ids.back() == *marks_.padding) ids.pop_back();
  return ids;
}

preference_text read_preferences(const preference_words& asked) {
  const ml::preference_file train = file_of(asked.train, "train_input", asked.keys),
                            held_out = file_of(asked.held_out, "eval_input", asked.held_out_keys);
  const bool are_chats = train.are_chats();
  const preference_encoder by(asked, are_chats, are_chats ? "" : letters_of(train));
  if (held_out.are_chats() != are_chats)
    throw std::invalid_argument(
        "the pairs of one of train_input and eval_input are lists of messages, and those of the other texts: "
        "write both in one way");
  const ml::preference_pairs a = encoded(train, by, asked.length),
                             b = encoded(held_out, by, asked.held_out_length);
  const auto about = [](const ml::preference_pairs& p, const ml::preference_file& in) {
    const i64 equal = equal_answers(in);
    return p.about() +
           (equal ? fmt::format(", the two answers of {} are equal, from which nothing is learnt", equal)
                  : "");
  };
  return {.train = asked.are_scored ? a.scored_data() : a.data(),
          .held_out = asked.are_scored ? b.scored_data() : b.data(),
          .words = by.words(),
          .marks = by.marks(),
          .largest = std::max({a.largest(), b.largest(), by.padding()}),
          .about = fmt::format("{}{}: {}; held out: {}", asked.train,
                               are_chats ? ", in the form " + by.marks().form : "", about(a, train),
                               about(b, held_out))};
}

}  // namespace gpt_app
