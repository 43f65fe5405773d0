// SPDX-License-Identifier: MIT
// The params of wsl-t5.
#pragma once
#include <trainer_params.hpp>

#include "model.hpp"
#include "text_input.hpp"

namespace t5_app {

using train_app::common_params;

struct search_params {
  int num_beams = 4, max_new_tokens = 0, limit = 0, columns = 0;
  f64 length_penalty = 1;
};

struct options {
  common_params common;
  model_params model;
  text_app::text_input train, eval;
  search_params search;
  std::string hf;                ///< a folder of transformers, with whose model a run begins; empty: none
  std::string out, predictions;  ///< the folder that `export` writes, and the file that `predict` writes
};

void declare(train_app::fields& f, options& o);
/// Throws std::invalid_argument if no files are named for a part of the data that is read. The other settings
/// of what is held out may be those of train_input, its files may not.
void require_texts(train_app::fields& f, const options& o, bool trains);

/// For wsl-zoo.
std::unique_ptr<train_app::trainer_params> new_params();

}  // namespace t5_app
