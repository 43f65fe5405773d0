// SPDX-License-Identifier: MIT
// The training state and the place in the data, to a checkpoint and back. A run that is loaded goes on as if
// it had never stopped, bit for bit.
//   const checkpoints saved("model_dir", 3);
//   save_checkpoint(saved, t, data.position());
//   if (const auto last = saved.newest()) data.resume(load_checkpoint(*last, t));
// See examples/92_resume.cpp and examples/94_own_training.cpp.
#pragma once
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../data/data_position.hpp"
#include "../io/checkpoint.hpp"
#include "../train/trainer_base.hpp"

namespace wsl::ml {

/// The arrays of a training state, as checkpoints have them.
std::vector<named_array> named_arrays(const std::vector<state_array>& state);

/// Writes a place in the data among the facts of a checkpoint.
inline void add_facts(text_by_name& to, const data_position& p) {
  to["data.seed"] = std::to_string(p.seed), to["data.epoch"] = std::to_string(p.epoch),
  to["data.example"] = std::to_string(p.example);
}
/// Reads it again. Throws file_error if the checkpoint has none.
inline data_position place_in_data(const checkpoint& from) {
  return {from.whole_number<u64>("data.seed"), from.whole_number<i64>("data.epoch"),
          from.whole_number<i64>("data.example")};
}

/// Writes the state of a dynamic loss scale among the facts, if there is one.
inline void add_facts(text_by_name& to, const std::optional<grad_scaler_state>& s) {
  if (s) grad_scaler_state::each(*s, [&](const char* name, auto x) { to[name] = fmt::format("{}", x); });
}
/// Reads it again; none for a checkpoint without one. Throws file_error if it is damaged.
std::optional<grad_scaler_state> loss_scale_in(const checkpoint& from);

/// What a sparse trainer does with a checkpoint that has no masks, whose weights are dense: refuses it, or
/// makes the first patterns of the weights, as the init_method of its settings says (topk: one-shot pruning).
enum class without_masks : u8 { refused, made };

/// The patterns of the sparse parameters of a checkpoint, by their names; none if it is of a dense run.
std::map<std::string, sparse_pattern> patterns_in(checkpoint& from, const network& n);
/// Requires that a checkpoint has masks of exactly these parameters, or of none if that is allowed. Throws
/// file_error.
void require_masks(const checkpoint& from, const std::vector<std::string>& sparse, without_masks dense);

/// Writes a checkpoint with `facts` beside those of the run, and returns the name of its file. Throws
/// file_error if it cannot be written; earlier checkpoints stay.
std::string save_checkpoint(const checkpoints& to, trainer_base& t, const data_position& data = {},
                            text_by_name facts = {});

/// The name of the update rule by which a checkpoint was trained; empty for one of earlier versions, which
/// does not say it.
std::string optimizer_in(const checkpoint& from);

/// Requires that a trainer can go on from a checkpoint: one with this state, of which only names and shapes
/// are read, and with the update rule of this name. Throws what load_checkpoint throws.
void require_same_state(checkpoint& from, const std::vector<state_array>& state, const std::string& rule);
/// Whether going on leaves out the velocities of a checkpoint: sgd without momentum keeps none.
bool leaves_out_velocities(const checkpoint& from, const std::vector<state_array>& state,
                           const std::string& rule);

/// Sets the trainer to the state of a checkpoint and returns the place in the data. Throws file_error if the
/// checkpoint is damaged, or of another model or optimizer; then nothing has changed. sgd without momentum
/// takes the checkpoints of sgd with it, and leaves out the velocities. A checkpoint of earlier versions does
/// not name its update rule, and is taken for this trainer's if the arrays fit. Throws std::invalid_argument
/// for a dynamic loss scale beyond the limits of the trainer's; then nothing has changed, either. A dense
/// trainer takes the checkpoints of sparse ones, and all weights are trained from there on.
data_position load_checkpoint(const std::string& file, trainer_base& t,
                              without_masks dense = without_masks::refused);

/// The arrays of the parameters among those of a state, which load_weights takes from a checkpoint. A
/// checkpoint of the model without adapters has none of these.
std::vector<state_array> weights_in(const checkpoint& from, const network& n, std::vector<state_array> state);

/// Sets the parameters of the trainer to those of a checkpoint, with which a new run begins: what the
/// optimizer keeps, steps, seed and data stay as they are, and so do adapters if the checkpoint is of the
/// model without them. Throws file_error if the checkpoint is damaged or
/// of another model; then nothing has changed. Sparse parameters get their patterns as load_checkpoint gives
/// them.
void load_weights(const std::string& file, trainer_base& t, without_masks dense = without_masks::refused);

/// Sets the trainer to evaluate, predict or export a checkpoint of any optimizer: the parameters, the
/// averages of the weights if this trainer keeps them, and the number of steps. Throws file_error if the
/// checkpoint is damaged, of another model, or has no averages, or no masks for sparse parameters; then
/// nothing has changed.
void load_model(const std::string& file, trainer_base& t);

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "checkpointing/states.hpp"
#endif
