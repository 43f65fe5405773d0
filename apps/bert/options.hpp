// SPDX-License-Identifier: MIT
// The params of wsl-bert.
#pragma once
#include <trainer_params.hpp>

#include "model.hpp"
#include "text_input.hpp"

namespace bert_app {

using train_app::common_params;

struct options {
  common_params common;
  model_params model;
  text_app::text_input train, eval;
  std::string hf;                ///< a folder of transformers, with whose encoder a run begins; empty: none
  std::string out, predictions;  ///< the folder that `export` writes, and the file that `predict` writes
};

void declare(train_app::fields& f, options& o);
/// The task that an encoder is trained for with the examples of a processor.
wsl::ml::encoder_task goal_of(const wsl::ml::text_processor& p);
/// The longest sequences of a part of the data; 0: the data say it.
int length_of(const wsl::ml::text_processor& p);
/// Sequences of tables whose words are hidden already, BertCSVDataProcessor, are as long as the model can read,
/// unless the length is given: the Zoo has no such field for them.
void complete_length(wsl::ml::text_processor& p, const model_params& m);
/// Throws std::invalid_argument if the data to train with, or those that are held out, have no files, unless
/// they are random numbers.
void require_data(const options& o, bool trains);
/// Throws std::invalid_argument for sequences that are longer than the model can read; 0: any.
void require_positions(const model_params& m, int longest);

/// For wsl-zoo.
std::unique_ptr<train_app::trainer_params> new_params();

}  // namespace bert_app
