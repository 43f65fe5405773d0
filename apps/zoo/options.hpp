// SPDX-License-Identifier: MIT
// The fields of wsl-zoo: those of wsl-gpt, and what distinguishes the families of Hugging Face.
#pragma once
#include <language.hpp>
#include <trainer_params.hpp>

#include "grid_options.hpp"

namespace zoo_app {

struct evaluation {
  std::string text, choices;
  int window = 0, limit = 0;  ///< 0: as many as the model can; all
};

/// Of texts that a reward model gives scores.
struct scoring {
  std::string file, text_key = "text", answer_key = "answer";
};

struct options : gpt_app::language_params {
  gpt_app::writing_params sample;
  gpt_app::completing_params completing;
  evaluation eval_of;
  scoring scores;
  grid_options grid;
};

void declare(train_app::fields& f, options& o);
std::unique_ptr<train_app::trainer_params> new_params();
/// Sets what was not given: from --hf the model, or else what models of that name have; and what depends on
/// other fields and on this computer. Throws std::invalid_argument if a given field contradicts --hf, or if
/// that has no decoder, unless it may have a model of `any_kind`, of which no field tells anything.
void complete(train_app::fields& f, options& o, bool any_kind = false);

}  // namespace zoo_app
