// SPDX-License-Identifier: MIT
// The parts that trainers of language models share, wsl-gpt and wsl-zoo: the settings of a run, its data and
// its model as a task of a session, and a trained model that is loaded again.
#pragma once
#include <command.hpp>
#include <ranks.hpp>
#include <session.hpp>

#include "adapters.hpp"
#include "chats.hpp"
#include "completing.hpp"
#include "hdf5_input.hpp"
#include "model.hpp"
#include "packing.hpp"
#include "pairs.hpp"
#include "preferences.hpp"
#include "text.hpp"
#include "writing.hpp"

namespace gpt_app {

using wsl::i32;

struct text_params {
  int max_sequence_length = 0;
  i64 stride = 0;
  std::string vocabulary, tokenizer_dir;
  pair_params pairs = {};
  hdf5_params hdf5 = {};
  std::string messages_key = {};  ///< the field of the messages of chats; empty: the data are none
  bool pack_sequences = false;
  std::string chosen_key = {}, rejected_key = {};  ///< fields of preferences; empty: the data are none
};

/// The settings of a run that trains a language model.
struct language_params {
  train_app::common_params common;
  model_params model;
  lora_params lora = {};
  preference_params preferences = {};
  std::optional<i32> padding = {};  ///< pad_token_id of the reward model with which a run begins
  text_params train, eval;
  std::string hf = {};    ///< a folder of transformers, with whose model and tokens a run begins; empty: none
  bool evaluates = true;  ///< the command looks at what is held out
  /// Why data of a part cannot be those of this program, with the place of data_dir; empty: they can.
  std::string no_data_to_train = {}, no_data_to_evaluate = {};
};

/// Declares the sections train_input and eval_input, perhaps with the fields of preferences.
void declare_inputs(train_app::fields& f, language_params& p, bool with_preferences = false);
/// Sets what depends on other fields, and on this computer. Throws std::invalid_argument for sections that
/// contradict each other.
void complete(train_app::fields& f, language_params& p);
/// Throws std::invalid_argument for a field that is missing, which data of the form that is given do not say.
void require_fields(const language_params& p);

/// Throws std::invalid_argument for a part of the data that a command needs and nothing names, after
/// `complete`: of a user's params file, or where the other part is named. Without both, and without such a
/// file, the data are the text of this project's pages.
void require_data(const language_params& p, bool trains);

/// Throws std::invalid_argument for loss_scaling and loss_weight that contradict each other, or the data.
void check_loss(const language_params& p);

/// Reads the data of a run, and makes it a task of the program of that name, for a mode that trains or one
/// that evaluates. Throws std::invalid_argument if the data do not fit the model, and for other marks of
/// pairs than those of the checkpoint.
train_app::task task_of(const std::string& program, language_params& p, bool trains);
/// The modes that read the options which wsl-gpt and wsl-zoo have.
std::vector<train_app::readers> options_of_modes();
/// Throws std::invalid_argument, with the reason, if the command line gives one of these options.
void refuse_options(train_app::fields& f, std::initializer_list<const char*> names, const std::string& why);
/// Begins a run with the weights of a model without adapters, which `read` gives; the option that names it is
/// for messages.
void begin_with(train_app::task& t, const language_params& p, std::function<wsl::ml::weights()> read,
                const std::string& option);
/// A trainer with the weights of a run's last checkpoint, or of the one that was asked for, and their
/// vocabulary. Throws std::invalid_argument if there is none, or if it is of another model.
std::unique_ptr<train_app::machine> trained(language_params& p, vocabulary& words);

/// Completes the held-out pairs of a run (`write_completions`), the prompts of its held-out preferences, or
/// answers the last questions of its held-out chats, into its folder; or those of a model of `hf`. `f` has
/// what is read, over which nothing is written. Throws std::invalid_argument if there is no checkpoint, if
/// the data are a running text, or if the run had other marks of its pairs or chats.
void predict(const train_app::fields& f, language_params& p, completing_params how);

/// The same model, whose weights are read where they lie: the averages of them if the run keeps those.
stored_model trained_model(language_params& p);

}  // namespace gpt_app
