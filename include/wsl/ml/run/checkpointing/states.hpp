// SPDX-License-Identifier: MIT
// Saves and loads the states of trainers, for ../checkpointing.hpp: a part of the library that can be
// compiled once, see ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "../checkpointing.hpp"

namespace wsl::ml {

namespace detail {

inline constexpr const char* fact_of_optimizer = "optimizer";
inline constexpr std::string_view velocity_of_sgd = "/first";

/// The arrays of the state of some kinds.
inline std::vector<named_array> arrays_of(std::vector<state_array> state,
                                          std::initializer_list<state_array::kind> kinds) {
  std::erase_if(state, [&](const state_array& a) {
    return std::find(kinds.begin(), kinds.end(), a.what) == kinds.end();
  });
  return named_arrays(state);
}
inline bool leaves_out_suffix(std::string_view suffix) {
  return suffix.starts_with("/") || suffix == named_mask::suffix;
}
inline std::vector<named_mask> masks_of(trainer_base& t) {
  std::vector<named_mask> all;
  for (const auto& [name, p] : t.patterns())
    all.push_back({name, {static_cast<u64>(p.rows()), static_cast<u64>(p.columns())}, p.mask()});
  return all;
}
inline std::vector<std::string> sparse_names(trainer_base& t) {
  std::vector<std::string> names;
  for (const auto& [name, group] : t.sparse_parameters()) names.push_back(name);
  return names;
}
/// Gives the trainer's sparse parameters the patterns of a checkpoint, if it has some, before its numbers.
inline void take_patterns(checkpoint& from, trainer_base& t) {
  if (sparse_names(t).empty()) return;
  if (const auto patterns = patterns_in(from, t.model()); !patterns.empty()) t.set_patterns(patterns);
}

}  // namespace detail

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
  facts[detail::fact_of_optimizer] = t.optimizer_name();
  add_facts(facts, data);
  add_facts(facts, t.loss_scale_state());
  const std::vector<named_mask> masks = detail::masks_of(t);
  return to.save(t.steps(), named_arrays(t.state()), std::move(facts), masks);
}

WSL_ML_DATA_COMPILED_PART std::map<std::string, sparse_pattern> patterns_in(checkpoint& from,
                                                                            const network& n) {
  std::map<std::string, sparse_pattern> all;
  const std::vector<std::string> masked = from.masked();
  for (const parameter& p : n.parameters())
    if (std::find(masked.begin(), masked.end(), p.name) != masked.end())
      all.emplace(p.name, sparse_pattern::of_mask(
                              p.rows, p.columns,
                              from.mask_of(p.name, {static_cast<u64>(p.rows), static_cast<u64>(p.columns)})));
  return all;
}

WSL_ML_DATA_COMPILED_PART void require_masks(const checkpoint& from, const std::vector<std::string>& sparse,
                                             without_masks dense) {
  const std::vector<std::string> masked = from.masked();
  if (sparse.empty() || (masked.empty() && dense == without_masks::made)) return;
  if (masked.empty())
    throw file_error(fmt::format(
        "wsl: {}: Did not find any sparsity masks in the model checkpoint. Take one of a run with this "
        "sparsity, "
        "or let the masks be made of its weights (init_method topk, and --sparsify_checkpoint true or "
        "without_masks::made)",
        from.name()));
  const auto require_all = [&](const std::vector<std::string>& some, const std::vector<std::string>& of,
                               const char* what) {
    for (const std::string& name : some)
      if (std::find(of.begin(), of.end(), name) == of.end())
        throw file_error(
            fmt::format("wsl: {}: {} is {}: give the param_filter of its run", from.name(), name, what));
  };
  require_all(masked, sparse, "sparse there, and dense in these settings");
  require_all(sparse, masked, "dense there, and sparse in these settings");
}

WSL_ML_DATA_COMPILED_PART data_position load_checkpoint(const std::string& file, trainer_base& t,
                                                        without_masks dense) {
  checkpoint c(file);
  const data_position data = place_in_data(c);
  const training_position at{
      .steps = c.step(), .seed = c.whole_number<u64>("seed"), .loss_scale = loss_scale_in(c)};
  const std::vector<state_array> state = t.state();
  require_same_state(c, state, t.optimizer_name());
  require_masks(c, detail::sparse_names(t), dense);
  t.require(at);
  detail::take_patterns(c, t);
  c.restore(named_arrays(t.state()), [](std::string_view suffix) {
    return suffix == detail::velocity_of_sgd || suffix == named_mask::suffix;
  });
  t.resume(at);
  return data;
}

WSL_ML_DATA_COMPILED_PART std::string optimizer_in(const checkpoint& from) {
  const auto fact = from.facts().find(detail::fact_of_optimizer);
  return fact == from.facts().end() ? "" : fact->second;
}

WSL_ML_DATA_COMPILED_PART bool leaves_out_velocities(const checkpoint& from,
                                                     const std::vector<state_array>& state,
                                                     const std::string& rule) {
  return rule == rules::sgd::name &&
         std::none_of(state.begin(), state.end(),
                      [](const state_array& a) { return a.what == state_array::kind::kept; }) &&
         std::any_of(state.begin(), state.end(), [&](const state_array& a) {
           return from.has(a.name + std::string(detail::velocity_of_sgd));
         });
}

WSL_ML_DATA_COMPILED_PART void require_same_state(checkpoint& from, const std::vector<state_array>& state,
                                                  const std::string& rule) {
  constexpr const char* remedy =
      "go on with the optimizer of its run, or let load_weights take its weights, with which another begins";
  if (const std::string was = optimizer_in(from); !was.empty() && was != rule)
    throw file_error(
        fmt::format("wsl: {} was trained by {}, and this is {}: {}", from.name(), was, rule, remedy));
  const bool is_without_velocities = leaves_out_velocities(from, state, rule);
  for (const state_array& a : state)
    if (a.what != state_array::kind::parameter && !from.has(a.name))
      throw file_error(fmt::format("wsl: {} has no '{}', which this optimizer ({}) keeps: {}", from.name(),
                                   a.name, rule,
                                   from.has(state[a.parameter].name) ? remedy : "it is of another model"));
  from.require(named_arrays(state), [&](std::string_view suffix) {
    return (is_without_velocities && suffix == detail::velocity_of_sgd) || suffix == named_mask::suffix;
  });
}

WSL_ML_DATA_COMPILED_PART std::vector<state_array> weights_in(const checkpoint& from, const network& n,
                                                              std::vector<state_array> state) {
  std::erase_if(state, [](const state_array& a) { return a.what != state_array::kind::parameter; });
  std::vector<bool> is_added(n.parameters().size());
  bool has_some = false;
  for (const adapter& a : n.adapters())
    for (const int k : {a.a, a.b}) {
      is_added[static_cast<std::size_t>(k)] = true;
      has_some = has_some || from.has(n.parameters()[static_cast<std::size_t>(k)].name);
    }
  if (!has_some) std::erase_if(state, [&](const state_array& a) { return is_added[a.parameter]; });
  return state;
}

WSL_ML_DATA_COMPILED_PART void load_weights(const std::string& file, trainer_base& t, without_masks dense) {
  checkpoint c(file);
  const auto arrays = [&] { return named_arrays(weights_in(c, t.model(), t.state())); };
  c.require(arrays(), detail::leaves_out_suffix);
  require_masks(c, detail::sparse_names(t), dense);
  detail::take_patterns(c, t);
  c.restore(arrays(), detail::leaves_out_suffix);
}

WSL_ML_DATA_COMPILED_PART void load_model(const std::string& file, trainer_base& t) {
  checkpoint c(file);
  const auto arrays = [&] {
    return detail::arrays_of(t.state(), {state_array::kind::parameter, state_array::kind::average});
  };
  for (const named_array& a : arrays())
    if (a.name.ends_with("/ema") && !c.has(a.name))
      throw file_error(fmt::format(
          "wsl: {} has no '{}': its run kept no average of the weights; take an optimizer without one", file,
          a.name));
  c.require(arrays(), detail::leaves_out_suffix);
  require_masks(c, detail::sparse_names(t), without_masks::refused);
  detail::take_patterns(c, t);
  c.restore(arrays(), detail::leaves_out_suffix);
  t.resume({.steps = c.step(), .seed = t.position().seed});
}

}  // namespace wsl::ml
