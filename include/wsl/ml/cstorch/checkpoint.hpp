// SPDX-License-Identifier: MIT
// Checkpoints of a compiled model and its place in the data.
//   auto save = cstorch::checkpoint_closure([&] { cstorch::save(saved, model, loader); });
//   if (const auto last = saved.newest()) cstorch::load(*last, model, loader);
#pragma once
#include <string>

#include "../data/batches.hpp"
#include "../run/checkpointing.hpp"
#include "closures.hpp"

namespace wsl::ml::cstorch {

/// Writes checkpoint_<step>.safetensors and returns its name. Throws file_error if it cannot be written, and
/// std::logic_error if the model has not run, or outside of a closure.
inline std::string save(const checkpoints& to, const model& m, const batches& loader) {
  if (!in_closure::now())
    throw std::logic_error(
        "wsl: a model is saved in a checkpoint closure: cstorch::checkpoint_closure([&] { ... })");
  text_by_name facts{{"schedule.steps", std::to_string(m.shared()->schedule_steps)}};
  return save_checkpoint(to, m.trainer(), loader.position(), std::move(facts));
}

/// Lets the model begin with a checkpoint, at its place in the data. Throws file_error if the file is damaged
/// or no checkpoint; whether it is one of this model is seen when the model first runs, before its first
/// step. Throws std::logic_error for a model that has run.
inline void load(const std::string& file, const model& m, batches& loader) {
  if (m.shared()->is_running())
    throw std::logic_error(
        "wsl: the model has run, and would lose its state: load a checkpoint before the first step");
  const checkpoint c(file);
  const i64 schedule_steps = c.whole_number<i64>("schedule.steps");
  loader.resume(place_in_data(c));
  m.shared()->begin = [file, schedule_steps, p = m.shared().get()](trainer& t) {
    if (t.sparse_parameters().empty() && !checkpoint(file).masked().empty())
      throw file_error("wsl: " + file +
                       " is of sparse weights, and this model is dense: call model.apply() with its sparsity "
                       "before the first "
                       "step; to train them densely, read them into model.trainer() with ml::load_weights");
    load_checkpoint(file, t);
    p->schedule_steps = schedule_steps;
  };
}

}  // namespace wsl::ml::cstorch
