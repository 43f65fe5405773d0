// SPDX-License-Identifier: MIT
#include "pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <wsl/ml/data/characters.hpp>
#include <wsl/ml/data/text/records.hpp>
#include <wsl/ml/run/metrics/rouge.hpp>
#include <wsl/ml/write/writer.hpp>
#include <wsl/support/progress.hpp>

#include "../files.hpp"

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
using wsl::f64;
using wsl::i32;
using wsl::i64;

constexpr const char* usual_separator = " TL;DR: ";

/// The pairs of some files, which are kept for their lines.
struct read_texts {
  ml::records from;
  std::vector<text_pair> pairs = {};
};

/// Of characters an end of a line is the end of a text, so texts have none.
read_texts texts_of(const std::string& where, const char* section, const pair_params& p, bool of_characters) {
  if (where.empty())
    throw std::invalid_argument(fmt::format(
        "{}.data_dir is missing: name a file of pairs (.csv, .tsv, .jsonl) or a folder", section));
  if (p.prompt_key.empty() || p.completion_key.empty())
    throw std::invalid_argument(fmt::format(
        "{}.prompt_key and completion_key belong together: name both, or neither for a running text",
        section));
  read_texts all{.from = ml::records(ml::files_of({where}, {".jsonl", ".csv", ".tsv"}))};
  for (i64 i = 0; i < all.from.count(); ++i) {
    text_pair& x =
        all.pairs.emplace_back(all.from.text(i, p.prompt_key), all.from.text(i, p.completion_key), i);
    if (!of_characters) continue;
    for (std::string* text : {&x.prompt, &x.completion}) std::ranges::replace(*text, '\n', ' ');
  }
  return all;
}

ml::completions encoded(const read_texts& texts, const vocabulary& words, ml::completion_settings how,
                        const std::string& where, const pair_params& keys, const example_words& asked,
                        std::vector<text_pair>* kept) {
  ml::completions all(std::move(how));
  const auto tokens_of = [&](const text_pair& x, const std::string& text, const std::string& key) {
    try {
      return words.encode(text);
    } catch (const ml::unknown_character& e) {
      throw texts.from.error(x.index, key, lacks(e, words, asked, "pairs"));
    }
  };
  for (const text_pair& x : texts.pairs)
    if (all.add(tokens_of(x, x.prompt, keys.prompt_key), tokens_of(x, x.completion, keys.completion_key)) &&
        kept)
      kept->push_back(x);
  if (all.count() == 0)
    throw ml::file_error(fmt::format("wsl: {}: no pair has room: take a larger max_sequence_length", where));
  return all;
}

std::vector<i32> encoded_separator(const std::string& separator, const vocabulary& words,
                                   const example_words& asked) {
  try {
    return words.encode(separator);
  } catch (const ml::unknown_character& e) {
    throw std::invalid_argument(fmt::format("train_input.separator: {}", lacks(e, words, asked, "pairs")));
  }
}

}  // namespace

void declare_pairs(train_app::fields& f, pair_params& p) {
  f.add(
      "prompt_key", p.prompt_key,
      "in files of pairs (.csv, .tsv, .jsonl): the column of the prompts; null: the data are a running text");
  f.add("completion_key", p.completion_key, "that of the completions, which alone are learnt");
  f.add("separator", p.separator, "the text between a prompt and its completion; null: ' TL;DR: '");
  f.add("end_token", p.end_token,
        "the token behind a completion; null: that which ends a text of the model or of the tokenizer, of "
        "characters the end of a line");
}

paired_text read_pairs(const pair_words& asked) {
  const bool of_characters = are_characters(asked.words);
  const auto train = texts_of(asked.train, "train_input", asked.of_train, of_characters),
             held_out = texts_of(asked.held_out, "eval_input", asked.of_held_out, of_characters);
  const std::string& given = asked.of_train.separator;
  const std::string separator = !given.empty() ? given : asked.kept ? asked.kept->separator : usual_separator;
  std::string letters = separator + "\n";
  for (const text_pair& x : train.pairs) letters += x.prompt + x.completion;
  const vocabulary words = words_for(asked.words, of_characters, letters);
  const ml::completion_settings how{
      .length = asked.length,
      .begin = words.begin_tokens(),
      .separator = encoded_separator(separator, words, asked.words),
      .end = end_of(asked.words, of_characters, words,
                    asked.kept ? std::optional(asked.kept->end) : std::nullopt)};
  ml::completion_settings of_held_out = how;
  of_held_out.length = asked.held_out_length;
  std::vector<text_pair> kept;
  ml::completions a = encoded(train, words, how, asked.train, asked.of_train, asked.words, nullptr),
                  b = encoded(held_out, words, of_held_out, asked.held_out, asked.of_held_out, asked.words,
                              &kept);
  std::string about = fmt::format("{}: {}; held out: {}", asked.train, a.about(), b.about());
  return {.train = std::move(a),
          .held_out = std::move(b),
          .held_out_texts = std::move(kept),
          .words = words,
          .marks = {.separator = separator, .end = how.end},
          .length = asked.held_out_length,
          .about = std::move(about)};
}

void declare_completing(train_app::fields& f, completing_params& p) {
  f.options_of("predict");
  f.add("max_new_tokens", p.max_new_tokens, "of a completion; null: those of the longest that is right")
      .at_least(1);
  f.add("limit", p.limit, "only the first prompts; null: all").at_least(1);
  f.add("predict_temperature", p.temperature, "0 takes the best token; above, tokens are drawn").at_least(0);
  f.add("predict_seed", p.seed, "of what is drawn").at_least(0);
  f.add("predict_columns", p.columns, "PEs that share out the model; texts of equal numbers are equal")
      .at_least(1)
      .at_most(64);
}

namespace {

void complete_all(stored_model& m, const paired_text& pairs, const completing_params& p, ml::precision format,
                  int threads, const std::string& file) {
  i64 longest = 1;
  for (i64 k = 0; k < pairs.held_out.count(); ++k)
    longest = std::max<i64>(longest, std::ssize(pairs.held_out.completion(k)) + 1);
  // The weights of a computation in float16 or cbfloat16 are those of f32, rounded.
  if (format != ml::precision::bfloat16) format = ml::precision::f32;
  ml::writer by(m.config, std::move(m.weights),
                {.columns = p.columns, .precision = format, .threads = threads});
  ml::text_settings how{.max_tokens = p.max_new_tokens ? p.max_new_tokens : static_cast<int>(longest),
                        .temperature = p.temperature,
                        .stop_tokens = {pairs.marks.end},
                        .known_tokens = std::min(pairs.words.size(), m.config.vocabulary)};
  const i64 all = pairs.held_out.count(), count = p.limit ? std::min<i64>(p.limit, all) : all;
  if (const i64 left_out = pairs.held_out.left_out())
    std::printf(
        "%lld of %lld records are left out, whose completions are too long for sequences of %d tokens: "
        "a larger max_sequence_length takes them\n",
        static_cast<long long>(left_out), static_cast<long long>(all + left_out), pairs.length);
  if (const i64 cut = pairs.held_out.cut())
    std::printf("the prompts of %lld records are too long and are cut\n", static_cast<long long>(cut));
  wsl::support::progress bar("completions", static_cast<wsl::u64>(count));
  std::string lines;
  f64 one = 0, two = 0, longest_common = 0;
  i64 tokens_written = 0, tokens_right = 0;
  for (i64 k = 0; k < count; ++k) {
    how.seed = ml::seed_of(static_cast<wsl::u64>(p.seed), static_cast<wsl::u64>(k));
    std::vector<i32> written = by.write(pairs.held_out.prompt(k), how).front().tokens;
    if (!written.empty() && written.back() == pairs.marks.end) written.pop_back();
    tokens_written += std::ssize(written), tokens_right += std::ssize(pairs.held_out.completion(k));
    const text_pair& x = pairs.held_out_texts[static_cast<std::size_t>(k)];
    const std::string said = pairs.words.decode(written);
    const ml::rouge_scores scores = ml::rouge(said, x.completion);
    one += scores.rouge1.f1, two += scores.rouge2.f1, longest_common += scores.rouge_l.f1;
    const nlohmann::json line{
        {"index", x.index}, {"prompt", x.prompt}, {"prediction", said}, {"completion", x.completion}};
    lines += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    bar.tick();
  }
  const f64 n = static_cast<f64>(count);
  std::printf("ROUGE-1 %.4f, ROUGE-2 %.4f, ROUGE-L %.4f (mean F1) of %lld completions\n", one / n, two / n,
              longest_common / n, static_cast<long long>(count));
  std::printf("The completions have a mean length of %.2f tokens, those that are right %.2f\n",
              static_cast<f64>(tokens_written) / n, static_cast<f64>(tokens_right) / n);
  app::write_file(file, lines);
  std::printf("%s\n", file.c_str());
}

}  // namespace

void write_completions(stored_model m, const paired_text& pairs, const completing_params& p,
                       ml::precision format, int threads, const std::string& file) {
  try {
    complete_all(m, pairs, p, format, threads, file);
  } catch (const ml::not_finite& e) { throw ml::file_error(m.name + ": " + std::string(e.what()).substr(5)); }
}

}  // namespace gpt_app
