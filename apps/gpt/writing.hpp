// SPDX-License-Identifier: MIT
// Texts that a model writes: the options of `wsl-gpt sample`, the models that can write, and the output. A
// model is read where it lies, in a checkpoint or in a folder of transformers; of a checkpoint only the
// weights are read.
#pragma once
#include <fields.hpp>
#include <optional>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/stored_weights.hpp>
#include <wsl/ml/op/precision.hpp>

#include "adapters.hpp"
#include "text.hpp"

namespace gpt_app {

struct writing_params {
  std::string prompt, prompt_file, pretrained, system;
  bool chat = false;
  int tokens = 300, min_tokens = 0, top_k = 0, samples = 1, columns = 4;
  wsl::f64 temperature = 0.8, top_p = 1, min_p = 0, repetition_penalty = 1;
  std::vector<std::string> stop = {};
  std::vector<wsl::i64> stop_tokens = {};
  wsl::i64 seed = 1;
};

/// Declares the options of `sample`, but for the folder of transformers.
void declare_writing(train_app::fields& f, writing_params& p);

/// A model that can write.
struct stored_model {
  wsl::ml::decoder config;
  wsl::ml::stored_weights weights;
  std::string name;  ///< the checkpoint, or the folder of transformers
  vocabulary words = {};
  std::string tokenizer = {};       ///< the folder of these words
  wsl::i32 begin = 0;               ///< the token with which a text without a prompt begins
  std::vector<wsl::i32> ends = {};  ///< tokens that end a text
  /// the token that ends an answer of a model that has learnt on chats in the plain form (chat_form.hpp)
  std::optional<wsl::i32> plain_chat_end = {};
};

/// The tokens that generation_config.json of a folder, or else config.json, has in a field such as
/// `eos_token_id`, a number or a list; none if neither has it. Throws wsl::ml::file_error.
std::vector<wsl::i32> tokens_in(const std::string& folder, const char* field);

/// The weights of a checkpoint, or the averages of them that it keeps; `trained` is the network of its run,
/// whose adapters are folded into their layers. Throws wsl::ml::file_error if they are of another model.
stored_model model_of_checkpoint(const std::string& checkpoint, const adapted_model& m,
                                 const wsl::ml::network& trained, vocabulary words, bool average);
/// A folder of transformers, with the adapters of a folder of peft if one is given; its tokenizer is in the
/// other folder if one is given, and need not exist otherwise. Throws wsl::ml::file_error.
stored_model pretrained_model(const std::string& folder, const std::string& tokenizer_dir,
                              const std::string& adapter = "");

/// Gives a model the tokenizer of its folder, if there is one, or of the other folder if one is given, and
/// the tokens that begin and end a text by the model's folder. Throws wsl::ml::file_error.
void take_words(stored_model& m, const std::string& folder, const std::string& tokenizer_dir);

/// Prints a text as it is written, or several, each when all are done; notes on stderr that a prompt is
/// longer than the model's sequences. Throws std::invalid_argument for options that the model cannot have,
/// before anything is printed, and wsl::ml::file_error for a model whose logits are NaN or infinite.
void write_texts(stored_model m, const writing_params& p, wsl::ml::precision format, int threads);

}  // namespace gpt_app
