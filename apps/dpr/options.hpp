// SPDX-License-Identifier: MIT
// The params of wsl-dpr.
#pragma once
#include <trainer_params.hpp>
#include <wsl/ml/io/hugging_face/dpr.hpp>

#include "model.hpp"
#include "text_input.hpp"

namespace dpr_app {

using train_app::common_params;

struct options {
  common_params common;
  model_params model;
  text_app::text_input train, eval;
  std::string hf, hf_ctx;  ///< folders of transformers, with whose encoders a run begins; empty: none
  std::string out;         ///< the folder to which `export` writes
  std::string vectors;     ///< the folder to which `predict` writes; empty: that of the run
  std::string passages;    ///< what `predict` encodes alone; empty: what is held out
  int best = 20;

  wsl::ml::dpr_folders folders() const {
    return hf_ctx.empty() ? wsl::ml::dpr_folders::in(hf) : wsl::ml::dpr_folders{hf, hf_ctx};
  }
};

void declare(train_app::fields& f, options& o);

/// For wsl-zoo.
/// Throws std::invalid_argument if the data to train with, or those that are held out, have no files.
void require_data(const options& o, bool trains);
/// The longest sequences of a part of the data; 0: the data say it.
int length_of(const wsl::ml::dpr_processor& p);
/// Throws std::invalid_argument for sequences that are longer than the model can read; 0: any.
void require_positions(const model_params& m, int longest);

std::unique_ptr<train_app::trainer_params> new_params();

}  // namespace dpr_app
