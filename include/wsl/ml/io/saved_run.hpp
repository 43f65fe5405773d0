// SPDX-License-Identifier: MIT
// A training run in its checkpoints: all arrays of the trainer, its position and its place in the data. What
// is loaded goes on as if it had never stopped, bit for bit.
//   const checkpoints saved("model_dir", 3);
//   save_run(saved, t, data.position());
//   if (const auto last = saved.newest()) data.resume(load_run(*last, t));
// See examples/94_own_training.cpp.
#pragma once
#include "../train/run.hpp"
#include "checkpoint.hpp"

namespace wsl::ml {

/// Writes a checkpoint with these facts beside the run's own, and returns its file's name. Throws
/// std::runtime_error if it cannot be written; what was there before stays.
inline std::string save_run(const checkpoints& to, training_run& t, const data_position& data = {},
                            text_by_name facts = {}) {
  facts["seed"] = std::to_string(t.position().seed);
  add_facts(facts, data);
  return to.save(t.steps(), named_arrays(t.state()), std::move(facts));
}

/// Sets the trainer to what a checkpoint holds and returns its place in the data. Throws file_error if it is
/// of another model or optimizer, or damaged; then nothing has changed.
inline data_position load_run(const std::string& from, training_run& t) {
  checkpoint c(from);
  const data_position data = c.place_in_data();
  const position at{.steps = c.step(), .seed = c.whole_number<u64>("seed")};
  c.restore(named_arrays(t.state()));
  t.resume(at);
  return data;
}

}  // namespace wsl::ml
