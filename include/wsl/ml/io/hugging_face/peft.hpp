// SPDX-License-Identifier: MIT
// Low-rank adapters in the files of Hugging Face's peft: a folder with adapter_config.json and
// adapter_model.safetensors, beside that of the model they belong to.
//   pretrained p = read_hugging_face("llama");
//   const lora_settings lora = read_lora_settings("adapter");  // or {.rank = 8, .targets = {"q_proj"}}
//   const network n = p.config.build(adapters_of(lora, p.model_type(), p.config));
//   weights w = p.to_weights(n, weights(n, seed));
//   read_adapters("adapter", lora, p.model_type(), p.config, n, w);
//   write_adapters("tuned", lora, p.model_type(), p.config, n, w);
// Layers have the names of the family's own tensors, such as model.layers.0.self_attn.q_proj.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "../../../support/whole_file.hpp"
#include "../hugging_face.hpp"
#include "../safetensors.hpp"
#include "match.hpp"

namespace wsl::ml {

/// The settings of adapters as peft has them (LoraConfig).
struct lora_settings {
  int rank = 8;                        ///< r
  f32 alpha = 8;                       ///< lora_alpha
  f32 dropout = 0;                     ///< lora_dropout
  bool rank_stabilized = false;        ///< use_rslora: alpha / sqrt(rank) instead of alpha / rank
  std::vector<std::string> targets{};  ///< target_modules: with what layers' names end, or "all-linear"
  std::string base = {};  ///< base_model_name_or_path: where the model comes from, if it is known
};

namespace hugging_face {

inline constexpr const char *adapter_config = "adapter_config.json",
                            *adapter_tensors = "adapter_model.safetensors", *all_linear = "all-linear";

/// A layer of a family that has an adapter: the rows of our parameter that are its outputs.
struct adapted_module {
  std::string name;   ///< the path in the model: "model.layers.0.self_attn.q_proj"
  std::string layer;  ///< ours: "layer 0 qkv"
  std::vector<i32> rows;
  bool transposed;

  bool is_part() const { return !rows.empty(); }
  feature_run outputs() const {
    const auto [least, most] = std::minmax_element(rows.begin(), rows.end());
    return {*least, *most - *least + 1};
  }
};

/// The layers that the settings are for, those of one layer of ours from its first output to its last. Throws
/// std::invalid_argument for a target that the model has not.
template <class Model>
std::vector<adapted_module> adapted_modules(const lora_settings& how, const std::string& model_type,
                                            const Model& m) {
  const basic_family<Model>& f = family_called<Model>(model_type);
  constexpr std::string_view end = ".weight";
  std::vector<adapted_module> all;
  std::set<std::string> found, known;
  for (const tensor_rule& r : f.tensors(m)) {
    if (r.is_copy || !r.ours.ends_with(end) || !r.theirs.ends_with(end)) continue;
    const std::string name = r.theirs.substr(0, r.theirs.size() - end.size());
    known.insert(name.substr(name.rfind('.') + 1));
    const auto is_target = [&](const std::string& t) {
      return t == all_linear ? r.theirs != (f.head ? f.head : "") : name == t || name.ends_with("." + t);
    };
    bool is_wanted = false;
    for (const std::string& t : how.targets)
      if (is_target(t)) is_wanted = true, found.insert(t);
    if (is_wanted) all.push_back({name, r.ours.substr(0, r.ours.size() - end.size()), r.rows, r.transposed});
  }
  for (const std::string& t : how.targets)
    if (!found.contains(t))
      throw std::invalid_argument(
          fmt::format("wsl: adapters are for {}, which {} has not: its linear layers are {}, or take {}", t,
                      model_type, fmt::join(known, ", "), all_linear));
  std::sort(all.begin(), all.end(), [](const adapted_module& x, const adapted_module& y) {
    const auto place = [](const adapted_module& a) { return a.is_part() ? a.outputs().first : 0; };
    return x.layer != y.layer ? x.layer < y.layer : place(x) < place(y);
  });
  return all;
}

}  // namespace hugging_face

/// The adapters for decoder::build. Throws std::invalid_argument for settings that do not fit the model.
template <class Model>
adapter_settings adapters_of(const lora_settings& how, const std::string& model_type, const Model& m) {
  if (how.targets.empty())
    throw std::invalid_argument(
        "wsl: adapters are for no layer: name some, as q_proj and v_proj, or all-linear");
  const f32 rank = static_cast<f32>(how.rank);
  adapter_settings all{.rank = how.rank,
                       .alpha = how.rank_stabilized ? how.alpha * std::sqrt(rank) : how.alpha,
                       .dropout = how.dropout};
  for (const hugging_face::adapted_module& x : hugging_face::adapted_modules(how, model_type, m)) {
    if (all.layers.empty() || all.layers.back().pattern != x.layer) all.layers.push_back({x.layer, {}});
    if (x.is_part()) all.layers.back().parts.push_back(x.outputs());
  }
  return all;
}

/// The settings in a folder's adapter_config.json. Throws file_error, also for what these adapters are not,
/// such as DoRA, trained biases, or ranks that differ from layer to layer.
inline lora_settings read_lora_settings(const std::string& folder) {
  using hugging_face::json;
  const hugging_face::config_file c(folder + "/" + hugging_face::adapter_config);
  c.is("peft_type", "LORA"), c.is("bias", "none"), c.is("modules_to_save", json::array());
  for (const char* flag : {"use_dora", "lora_bias", "use_qalora", "use_bdlora"}) c.is(flag, false);
  for (const char* object : {"rank_pattern", "alpha_pattern", "loftq_config"}) c.is(object, json::object());
  for (const char* list : {"layers_to_transform", "layers_pattern", "exclude_modules", "layer_replication",
                           "trainable_token_indices", "target_parameters"})
    c.is(list, json::array());
  lora_settings s{.rank = c.whole("r", 8),
                  .alpha = c.number("lora_alpha", 8.f),
                  .dropout = c.number("lora_dropout", 0.f),
                  .rank_stabilized = c.flag("use_rslora", false),
                  .base = c.text("base_model_name_or_path", "")};
  if (s.dropout >= 1) throw c.error("'lora_dropout' should be below 1, not {}", s.dropout);
  const json targets = c.fields().value("target_modules", json());
  if (targets == hugging_face::all_linear) s.targets = {hugging_face::all_linear};
  else if (targets.is_array() && !targets.empty() &&
           std::all_of(targets.begin(), targets.end(), [](const json& x) { return x.is_string(); }))
    s.targets = targets.get<std::vector<std::string>>();
  else
    throw c.error("'target_modules' is {}; known are a list of names, and \"{}\"",
                  hugging_face::printable(targets), hugging_face::all_linear);
  std::sort(s.targets.begin(), s.targets.end());
  return s;
}

namespace hugging_face {

/// Calls f(name, rows, columns, parameter, row) for each tensor of the adapters: row(i) is the row of our
/// parameter that is row i of theirs.
template <class Model, class F>
void each_adapter_tensor(const lora_settings& how, const std::string& model_type, const Model& m,
                         const network& n, F f) {
  std::size_t part = 0;
  const adapter* before = nullptr;
  for (const adapted_module& x : adapted_modules(how, model_type, m)) {
    const auto found = std::find_if(n.adapters().begin(), n.adapters().end(),
                                    [&](const adapter& a) { return a.layer == x.layer; });
    if (found == n.adapters().end())
      throw std::invalid_argument(fmt::format(
          "wsl: {} of this network has no adapter, though the settings are for {}", x.layer, x.name));
    part = before == &*found ? part + 1 : 0, before = &*found;
    const parameter &a = n.parameters()[static_cast<std::size_t>(found->a)],
                    &b = n.parameters()[static_cast<std::size_t>(found->b)];
    const std::string name = "base_model.model." + x.name;
    const int rank = b.columns, first = static_cast<int>(part) * rank,
              outputs = x.is_part() ? static_cast<int>(x.rows.size()) : b.rows;
    f(name + ".lora_A.weight", rank, a.columns, found->a, [=](int i) { return first + i; });
    f(name + ".lora_B.weight", outputs, rank, found->b,
      [&](int i) { return x.is_part() ? x.rows[static_cast<std::size_t>(i)] : i; });
  }
}

}  // namespace hugging_face

/// Sets the adapters among the weights of a network that was built with adapters_of these settings. Throws
/// file_error for a tensor that is missing, has another shape, or is unknown.
template <class Model>
void read_adapters(const std::string& folder, const lora_settings& how, const std::string& model_type,
                   const Model& m, const network& n, weights& w) {
  safetensors_file in(folder + "/" + hugging_face::adapter_tensors);
  std::set<std::string> known;
  hugging_face::each_adapter_tensor(
      how, model_type, m, n, [&](const std::string& name, int rows, int columns, int parameter, auto row) {
        const std::vector<f32> x = in.numbers(name, {static_cast<u64>(rows), static_cast<u64>(columns)});
        const matrix<f32> to = w.of(static_cast<std::size_t>(parameter));
        for (int i = 0; i < rows; ++i) std::copy_n(x.data() + i64{i} * columns, columns, to.row(row(i)));
        known.insert(name);
      });
  for (const tensor_info& t : in.tensors())
    if (!known.contains(t.name))
      throw file_error(
          fmt::format("wsl: {} has a tensor '{}' for which there is no place: it is of another model, or "
                      "target_modules of {} "
                      "leaves it out",
                      in.name(), t.name, hugging_face::adapter_config));
}

/// Adapters, or their gradients, as peft names them.
template <class Model>
std::vector<hugging_face::tensor> adapter_tensors_of(const lora_settings& how, const std::string& model_type,
                                                     const Model& m, const network& n, const weights& w) {
  std::vector<hugging_face::tensor> all;
  hugging_face::each_adapter_tensor(
      how, model_type, m, n, [&](const std::string& name, int rows, int columns, int parameter, auto row) {
        hugging_face::tensor t{name, {static_cast<u64>(rows), static_cast<u64>(columns)}, {}};
        const std::vector<f32>& x = w[static_cast<std::size_t>(parameter)];
        for (int i = 0; i < rows; ++i) {
          const f32* const from = x.data() + i64{row(i)} * columns;
          t.numbers.insert(t.numbers.end(), from, from + columns);
        }
        all.push_back(std::move(t));
      });
  return all;
}

/// Writes the adapters of a network for PeftModel.from_pretrained. Throws file_error if the files cannot be
/// written.
template <class Model>
void write_adapters(const std::string& folder, const lora_settings& how, const std::string& model_type,
                    const Model& m, const network& n, const weights& w) {
  using namespace hugging_face;
  const std::vector<tensor> tensors = adapter_tensors_of(how, model_type, m, n, w);
  const std::vector<adapted_module> modules = adapted_modules(how, model_type, m);
  std::vector<tensor_view> views;
  for (const tensor& t : tensors) views.emplace_back(t.name, t.shape, t.numbers);
  std::error_code why;
  std::filesystem::create_directories(folder, why);
  if (why) throw file_error(fmt::format("wsl: cannot make the folder {}: {}", folder, why.message()));
  json config{{"peft_type", "LORA"},
              {"task_type", "CAUSAL_LM"},
              {"base_model_name_or_path", how.base.empty() ? json() : json(how.base)},
              {"r", how.rank},
              {"lora_alpha", shortest(how.alpha)},
              {"lora_dropout", shortest(how.dropout)},
              {"use_rslora", how.rank_stabilized},
              {"target_modules", how.targets},
              {"fan_in_fan_out", !modules.empty() && modules.front().transposed},
              {"bias", "none"},
              {"inference_mode", true}};
  if (how.targets == std::vector<std::string>{all_linear}) config["target_modules"] = all_linear;
  // No configuration is there while there may be adapters of another one.
  std::filesystem::remove(folder + "/" + adapter_config, why);
  write_safetensors(folder + "/" + hugging_face::adapter_tensors, views, {{"format", "pt"}});
  support::write_whole_file(folder + "/" + adapter_config, config.dump(2) + "\n");
}

}  // namespace wsl::ml
