// SPDX-License-Identifier: MIT
#include "pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <wsl/ml/data/characters.hpp>
#include <wsl/ml/data/text/records.hpp>

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
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
        all.pairs.emplace_back(all.from.string(i, p.prompt_key), all.from.string(i, p.completion_key), i);
    if (x.completion.empty())
      throw all.from.error(i, p.completion_key,
                           "the completion is empty: fill it in, or leave the example out");
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
  const auto train = asked.only_held_out
                         ? std::optional<read_texts>()
                         : texts_of(asked.train, "train_input", asked.of_train, of_characters);
  const auto held_out = texts_of(asked.held_out, "eval_input", asked.of_held_out, of_characters);
  const std::string& given = asked.of_train.separator;
  const std::string separator = !given.empty() ? given : asked.kept ? asked.kept->separator : usual_separator;
  std::string letters = separator + "\n";
  for (const text_pair& x : train ? train->pairs : held_out.pairs) letters += x.prompt + x.completion;
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
  ml::completions a = train ? encoded(*train, words, how, asked.train, asked.of_train, asked.words, nullptr)
                            : ml::completions(how),
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

prompts prompts_of(const paired_text& pairs) {
  prompts all{.end = pairs.marks.end, .words = pairs.words, .length = pairs.length};
  all.left_out = pairs.held_out.left_out(), all.cut = pairs.held_out.cut();
  for (i64 k = 0; k < pairs.held_out.count(); ++k) {
    const text_pair& x = pairs.held_out_texts[static_cast<std::size_t>(k)];
    const auto prompt = pairs.held_out.prompt(k);
    const i64 tokens = std::ssize(pairs.held_out.completion(k));
    all.longest = std::max(all.longest, tokens + 1);
    all.all.push_back({.tokens = {prompt.begin(), prompt.end()},
                       .right = x.completion,
                       .right_tokens = tokens,
                       .line = {{"index", x.index}, {"prompt", x.prompt}}});
  }
  return all;
}

}  // namespace gpt_app
