// SPDX-License-Identifier: MIT
#include "scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <wsl/ml/data/text/encode/preference_pairs.hpp>
#include <wsl/ml/data/text/records.hpp>

#include "stored.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
using wsl::f32;
using wsl::f64;
using wsl::i32;
using wsl::i64;

/// A text of a file, whole or as a prompt and an answer.
struct text_to_score {
  ml::preference_example of = {};
  std::string whole = {};
};
text_to_score read_text(const ml::records& in, i64 which, const scoring& s, const std::string& prompt_key) {
  text_to_score x;
  if (in.has(s.text_key) && in.find(which, s.text_key)) {
    x.whole = in.string(which, s.text_key);
    return x;
  }
  const auto is_there = [&](const std::string& key) { return in.fields(which).contains(key); };
  if (!in.has(s.answer_key) || !in.find(which, s.answer_key)) {
    for (const std::string& key : {s.text_key, s.answer_key})
      if (is_there(key)) throw in.error(which, key, "it is empty: write a text, or leave the line out");
    throw in.error(
        which, s.text_key,
        "there is none, and no '" + s.answer_key + "' either: give a text, or a prompt and an answer");
  }
  x.of.prompt = in.string(which, prompt_key), x.of.chosen = in.string(which, s.answer_key);
  return x;
}

/// Adds the tokens of a text as those of a chosen answer, as a reward model was trained on them; the rejected
/// one is not read.
void add(ml::preference_pairs& to, const gpt_app::preference_encoder& by, const text_to_score& x) {
  if (x.whole.empty()) {
    const std::vector<i32> answer = by.answer(x.of.chosen);
    return to.add(by.prompt(x.of), answer, answer);
  }
  // The score is that of the last token, whatever is thought to be its prompt.
  const std::vector<i32> ids = by.text(x.whole);
  const std::size_t first = by.begin().empty() && !ids.empty() ? 1 : 0;
  const std::vector<i32> rest(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end());
  to.add({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(first)}, rest, rest);
}

/// The scores of some texts.
std::vector<f32> scores_of(train_app::machine& by, const ml::preference_pairs& texts, int length) {
  const ml::dataset all = texts.scored_data();
  const auto each = static_cast<std::size_t>(length);
  constexpr i64 at_once = 16;
  std::vector<f32> scores;
  std::vector<i32> ids(2 * each), seen(2 * each), number(1);
  const std::vector<std::span<i32>> rooms{ids, seen, number};
  for (i64 first = 0; first < all.count; first += at_once) {
    const i64 count = std::min(at_once, all.count - first);
    std::vector<i32> batch_ids, batch_seen;
    for (i64 k = first; k < first + count; ++k) {
      all.get(k, {.ids = {}, .features = {}, .targets = {}, .named = rooms});
      batch_ids.insert(batch_ids.end(), ids.begin(), ids.begin() + length);
      batch_seen.insert(batch_seen.end(), seen.begin(), seen.begin() + length);
    }
    ml::batch b{.sequences = static_cast<int>(count), .length = length};
    b.named.emplace_back("ids", std::span<const i32>(batch_ids));
    b.named.emplace_back("attention_mask", std::span<const i32>(batch_seen));
    const std::vector<f32> found = by.predict(b);
    scores.insert(scores.end(), found.begin(), found.end());
  }
  return scores;
}

/// The model, and how its texts become tokens: of a run as its checkpoint keeps it, of a folder by its files.
stored_model model_for(options& o, gpt_app::preference_words& how) {
  const std::string path = o.hf.empty() ? train_app::checkpoint_to_look_at(o.common.run) : o.hf;
  if (path.empty())
    throw std::invalid_argument("there is no checkpoint in " + o.common.run.model_dir +
                                ": train first, or give --checkpoint_path or --hf");
  stored_model m = read_model(path);
  if (!m.is_reward)
    throw std::invalid_argument("--score: " + path +
                                " is no reward model: train one with --reward_head true");
  if (o.hf.empty()) {
    how.kept = gpt_app::preference_marks::of(path);
    const std::string saved = train_app::fact_of(path, "vocabulary");
    if (saved.starts_with("characters")) how.words.saved = saved, how.words.kind = "characters";
    else if (const std::string folder = std::filesystem::absolute(path).parent_path();
             !std::filesystem::is_directory(o.train.tokenizer_dir) && ml::tokenizer::is_in(folder))
      how.words.tokenizer_dir = folder;
  }
  return m;
}

}  // namespace

void print_scores(train_app::fields& f, options& o) {
  const scoring& s = o.scores;
  for (const train_app::field& x : f.all())
    if (x.section == "predict" && x.given.starts_with("--") && x.name != "score" && x.name != "text_key" &&
        x.name != "answer_key")
      throw std::invalid_argument(x.given + " is of completions, and --score prints scores: leave it out");
  gpt_app::preference_words how;
  how.words = {.kind = o.train.vocabulary,
               .tokenizer_dir = o.train.tokenizer_dir,
               .end_token = o.train.pairs.end_token,
               .of_model = o.hf};
  how.separator = o.train.pairs.separator, how.are_scored = true, how.padding = o.padding;
  stored_model m = model_for(o, how);
  const bool are_chats = how.kept && !how.kept->form.empty();
  const gpt_app::preference_encoder by(how, are_chats, "");
  const int length = o.eval.max_sequence_length ? o.eval.max_sequence_length : m.config.positions;
  const ml::records in(ml::files_of({s.file}, {".jsonl", ".csv", ".tsv"}));
  const std::string prompt_key = o.train.pairs.prompt_key.empty() ? "prompt" : o.train.pairs.prompt_key;
  ml::preference_pairs texts({.length = length, .begin = by.begin(), .end = by.padding()});
  for (i64 k = 0; k < in.count(); ++k) {
    text_to_score x = read_text(in, k, s, prompt_key);
    if (are_chats) x.of.messages = {{"user", x.of.prompt}};
    try {
      add(texts, by, x);
    } catch (const std::invalid_argument& e) {
      const std::string why = e.what();
      throw in.error(k, x.whole.empty() ? s.answer_key : s.text_key,
                     why.substr(why.starts_with("wsl: ") ? 5 : 0));
    }
  }
  if (texts.largest() >= m.config.vocabulary)
    throw std::invalid_argument("--score " + s.file + " has token " + std::to_string(texts.largest()) +
                                " of a vocabulary of " + std::to_string(m.config.vocabulary) +
                                ": its tokenizer is another model's");
  const auto on = train_app::ranks::streaming(std::move(m.network), ml::optimizer::sgd(),
                                              {.workers = 1,
                                               .columns = 1,
                                               .threads = o.common.run.threads,
                                               .precision = o.common.precision.format(),
                                               .loss_scaling = 1.});
  gpt_app::set_weights(on->run(), m.numbers);
  const std::vector<f32> scores = scores_of(*on, texts, length);
  if (const auto bad = std::find_if(scores.begin(), scores.end(), [](f32 x) { return !std::isfinite(x); });
      bad != scores.end())
    throw ml::file_error(
        "the score of text " + std::to_string(bad - scores.begin()) +
        " is no number: a weight of the model is damaged, or its configuration is another model's");
  f64 sum = 0;
  for (std::size_t k = 0; k < scores.size(); ++k) {
    std::printf("%s\n", nlohmann::json{{"index", k}, {"score", scores[k]}}.dump().c_str());
    sum += static_cast<f64>(scores[k]);
  }
  std::fprintf(stderr, "%zu texts, mean score %.5f%s\n", scores.size(), sum / static_cast<f64>(scores.size()),
               texts.cut_answers() + texts.cut_prompts() ? "; some are too long and are cut" : "");
}

}  // namespace zoo_app
