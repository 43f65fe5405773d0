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

/// For wsl-zoo.
std::unique_ptr<train_app::trainer_params> new_params();

}  // namespace bert_app
