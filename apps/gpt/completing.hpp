// SPDX-License-Identifier: MIT
// The mode `predict`: what a model writes behind prompts, those of pairs or the questions of chats, beside
// what is right.
#pragma once
#include <fields.hpp>
#include <file_of_predictions.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "text.hpp"
#include "writing.hpp"

namespace gpt_app {

/// The options of `predict`.
struct completing_params {
  int max_new_tokens = 0, limit = 0, columns = 4;
  wsl::f64 temperature = 0;  ///< 0: always the best token
  wsl::i64 seed = 1;         ///< of tokens that are drawn
  std::string file = {};     ///< to write; empty: predictions.jsonl in the run's folder
  std::string pattern = {};  ///< a regular expression; empty: none
};
void declare_completing(train_app::fields& f, completing_params& p);
/// Throws std::invalid_argument for a pattern that is no regular expression.
void check(const completing_params& p);

struct asked_prompt {
  std::vector<wsl::i32> tokens;
  std::optional<std::string> right;  ///< the completion that is right, if it is known
  wsl::i64 right_tokens = 0;         ///< of it
  nlohmann::ordered_json line = {};  ///< what the file of predictions says of it, but for completions
};
struct prompts {
  std::vector<asked_prompt> all = {};
  wsl::i32 end = 0;  ///< the token that ends a completion
  vocabulary words = {};
  std::string before = {};         ///< what the form puts before a completion, which is no part of it
  int length = 0;                  ///< tokens of a sequence
  wsl::i64 longest = 1;            ///< tokens of the longest completion that is right, with its end
  wsl::i64 left_out = 0, cut = 0;  ///< records without room, and with a prompt that has lost its beginning
};

/// Completes prompts, with the best token or with tokens that are drawn, and writes them to a file, an object
/// in JSON in each line, with `prediction`, and `completion`, what is right. Prints how many records are left
/// out, ROUGE-1, 2 and L of those whose completion is known, how many are equal to it, how many fit the
/// pattern, and the mean lengths. Throws std::invalid_argument, and wsl::ml::file_error for a model whose
/// logits are NaN or infinite.
void write_completions(stored_model m, const prompts& asked, const completing_params& p,
                       wsl::ml::precision format, int threads, train_app::file_of_predictions& to);

}  // namespace gpt_app
