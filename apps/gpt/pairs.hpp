// SPDX-License-Identifier: MIT
// Prompts and their completions, such as texts and their summaries, in files of examples: what a language
// model is fine-tuned on, and what it writes then.
#pragma once
#include <fields.hpp>
#include <wsl/ml/data/text/encode/completions.hpp>

#include "example_words.hpp"
#include "pair_marks.hpp"
#include "text.hpp"
#include "writing.hpp"

namespace gpt_app {

/// The names of both texts in the examples, as in the Cerebras Model Zoo; without them the data are a running
/// text.
struct pair_params {
  std::string prompt_key, completion_key;
  std::string separator, end_token;  ///< empty: what `read_pairs` says

  bool are_given() const { return !prompt_key.empty() || !completion_key.empty(); }
};
void declare_pairs(train_app::fields& f, pair_params& p);

struct pair_words {
  std::string train, held_out;  ///< files (.csv, .tsv, .jsonl) or folders of them
  pair_params of_train, of_held_out;
  int length = 0, held_out_length = 0;  ///< tokens of a sequence
  example_words words;
  std::optional<pair_marks> kept = {};  ///< those of the run that goes on, which are taken if none are given
};
struct text_pair {
  std::string prompt, completion;
  wsl::i64 index = 0;  ///< of its record in the files, which counts from 0
};
struct paired_text {
  wsl::ml::completions train, held_out;
  std::vector<text_pair> held_out_texts;  ///< those of `held_out`, which may leave some out
  vocabulary words;
  pair_marks marks;
  int length = 0;     ///< tokens of a sequence that is held out
  std::string about;  ///< a description for people
};

/// Reads pairs, and encodes them with a separator between and the token that ends a text. Marks that are not
/// given are those of `kept`; or else the separator is " TL;DR: ", and the token that of the model with which
/// a run begins, or of the tokenizer. Of characters it is the end of a line, and those in the texts become
/// blanks. Throws wsl::ml::file_error, with the line of a character that the vocabulary lacks, and
/// std::invalid_argument for settings that do not fit.
paired_text read_pairs(const pair_words& asked);

/// The options of `predict`.
struct completing_params {
  int max_new_tokens = 0, limit = 0, columns = 4;
  wsl::f64 temperature = 0;
  wsl::i64 seed = 1;
};
void declare_completing(train_app::fields& f, completing_params& p);

/// Completes the prompts of the held-out pairs, with the best token or with tokens that are drawn, writes the
/// indices of their records, prompts, completions and what is right to a file, an object in JSON in each
/// line, and prints how many records are left out, ROUGE-1, 2 and L, and the mean lengths. Throws
/// std::invalid_argument, and wsl::ml::file_error for a model whose logits are NaN or infinite.
void write_completions(stored_model m, const paired_text& pairs, const completing_params& p,
                       wsl::ml::precision format, int threads, const std::string& file);

}  // namespace gpt_app
