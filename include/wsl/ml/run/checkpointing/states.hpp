// SPDX-License-Identifier: MIT
// Saves and loads the states of trainers, for ../checkpointing.hpp: a part of the library that can be
// compiled once, see ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "../checkpointing.hpp"

namespace wsl::ml {

WSL_ML_DATA_COMPILED_PART std::vector<named_array> named_arrays(const std::vector<state_array>& state) {
  std::vector<named_array> all;
  for (const state_array& a : state)
    all.push_back({a.name, {static_cast<u64>(a.rows), static_cast<u64>(a.columns)}, a.numbers});
  return all;
}

WSL_ML_DATA_COMPILED_PART std::optional<grad_scaler_state> loss_scale_in(const checkpoint& from) {
  if (!from.facts().contains("loss_scale")) return {};
  grad_scaler_state s;
  grad_scaler_state::each(s, [&]<class T>(const char* name, T& x) { x = from.number<T>(name); });
  return s;
}

WSL_ML_DATA_COMPILED_PART std::string save_checkpoint(const checkpoints& to, trainer_base& t,
                                                      const data_position& data, text_by_name facts) {
  facts["seed"] = std::to_string(t.position().seed);
  add_facts(facts, data);
  add_facts(facts, t.loss_scale_state());
  return to.save(t.steps(), named_arrays(t.state()), std::move(facts));
}

WSL_ML_DATA_COMPILED_PART data_position load_checkpoint(const std::string& file, trainer_base& t) {
  checkpoint c(file);
  const data_position data = place_in_data(c);
  const training_position at{
      .steps = c.step(), .seed = c.whole_number<u64>("seed"), .loss_scale = loss_scale_in(c)};
  const std::vector<state_array> state = t.state();
  const bool keeps_nothing = std::none_of(
      state.begin(), state.end(), [](const state_array& a) { return a.what == state_array::kind::kept; });
  c.restore(named_arrays(state),
            [&](std::string_view suffix) { return keeps_nothing && suffix == "/first"; });
  t.resume(at);
  return data;
}

WSL_ML_DATA_COMPILED_PART void load_weights(const std::string& file, trainer_base& t) {
  std::vector<state_array> weights = t.state();
  std::erase_if(weights, [](const state_array& a) { return a.what != state_array::kind::parameter; });
  checkpoint(file).restore(named_arrays(weights),
                           [](std::string_view suffix) { return suffix.starts_with("/"); });
}

}  // namespace wsl::ml
