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
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../../support/whole_file.hpp"
#include "../hugging_face.hpp"
#include "../safetensors.hpp"
#include "match.hpp"
#include "name_pattern.hpp"

namespace wsl::ml {

/// The settings of adapters as peft has them (LoraConfig).
struct lora_settings {
  /// Values by ends of layers' names, or by regular expressions for these (name_pattern.hpp). The first that
  /// fits a layer is taken.
  template <class T>
  using by_pattern = std::vector<std::pair<std::string, T>>;

  int rank = 8;                  ///< r
  f32 alpha = 8;                 ///< lora_alpha
  f32 dropout = 0;               ///< lora_dropout
  bool rank_stabilized = false;  ///< use_rslora: alpha / sqrt(rank) instead of alpha / rank
  /// target_modules: with what layers' names end, or regular expressions for these, or "all-linear".
  std::vector<std::string> targets{};
  std::string base = {};              ///< base_model_name_or_path: where the model comes from, if it is known
  by_pattern<int> rank_pattern = {};  ///< ranks of layers that have another than the others
  by_pattern<f32> alpha_pattern = {};  ///< alphas of such layers
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
      if (name_pattern::is_expression(t)) return name_pattern(t).fits(name);
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

/// The rank and the alpha of a layer; of adapters that are rank-stabilized, the alpha by which alpha / rank
/// is their factor.
struct adapter_size {
  int rank = 0;
  f32 alpha = 0;
};
/// Those of some layers. Throws std::invalid_argument for a pattern that fits none of them.
inline std::vector<adapter_size> sizes_of(const lora_settings& how,
                                          const std::vector<adapted_module>& modules) {
  std::vector<adapter_size> all(modules.size(), {how.rank, how.alpha});
  const auto set = [&](const char* field, const auto& patterns, auto member) {
    std::vector<bool> is_set(modules.size());
    for (const auto& [text, value] : patterns) {
      const name_pattern pattern(text);
      bool fits_one = false;
      for (std::size_t k = 0; k < modules.size(); ++k) {
        if (!pattern.fits(modules[k].name)) continue;
        fits_one = true;
        if (!is_set[k]) all[k].*member = value, is_set[k] = true;
      }
      if (!fits_one)
        throw std::invalid_argument(
            fmt::format("wsl: {} has {}, and no layer with an adapter is called so: they are {}{}; leave it "
                        "out",
                        field, text, modules.front().name, modules.size() > 1 ? " and others" : ""));
    }
  };
  set("rank_pattern", how.rank_pattern, &adapter_size::rank);
  set("alpha_pattern", how.alpha_pattern, &adapter_size::alpha);
  if (how.rank_stabilized)
    for (adapter_size& s : all) s.alpha *= std::sqrt(static_cast<f32>(s.rank));
  return all;
}

}  // namespace hugging_face

/// The adapters for decoder::build. Throws std::invalid_argument for settings that do not fit the model.
template <class Model>
adapter_settings adapters_of(const lora_settings& how, const std::string& model_type, const Model& m) {
  using namespace hugging_face;
  if (how.targets.empty())
    throw std::invalid_argument(
        "wsl: adapters are for no layer: name some, as q_proj and v_proj, or all-linear");
  const std::vector<adapted_module> modules = adapted_modules(how, model_type, m);
  const std::vector<adapter_size> sizes = sizes_of(how, modules);
  adapter_settings all{.rank = how.rank, .alpha = how.alpha, .dropout = how.dropout};
  for (std::size_t k = 0; k < modules.size(); ++k) {
    auto to = std::find_if(all.layers.begin(), all.layers.end(), [&](const adapted_layers& l) {
      return l.pattern == modules[k].layer && l.rank == sizes[k].rank && l.alpha == sizes[k].alpha;
    });
    if (to == all.layers.end())
      to = all.layers.insert(
          to, {.pattern = modules[k].layer, .parts = {}, .rank = sizes[k].rank, .alpha = sizes[k].alpha});
    if (modules[k].is_part()) to->parts.push_back(modules[k].outputs());
  }
  return all;
}

namespace hugging_face {

/// An object of numbers by patterns, in the order of the file. Throws file_error for what is none.
template <class T>
lora_settings::by_pattern<T> patterns_in(const config_file& c, const std::string& text, const char* field) {
  lora_settings::by_pattern<T> all;
  if (!c.has(field)) return all;
  const config_file values = c.object(field);  // whose order is that of the names
  const nlohmann::ordered_json in_order = nlohmann::ordered_json::parse(text)[field];
  for (const auto& [pattern, value] : in_order.items()) {
    try {
      name_pattern{pattern};
    } catch (const std::invalid_argument& e) {
      throw values.error("{}", std::string_view(e.what()).substr(std::string_view("wsl: ").size()));
    }
    if constexpr (std::is_same_v<T, int>) all.emplace_back(pattern, values.whole(pattern.c_str()));
    else all.emplace_back(pattern, values.positive(pattern.c_str(), T{}));
  }
  return all;
}

/// The words of a field that has one or a list of them.
inline std::vector<std::string> one_or_more(const config_file& c, const char* field) {
  const json all = c.fields().value(field, json());
  if (all.is_null()) return {};
  if (all.is_string()) return {all.get<std::string>()};
  const auto is_word = [](const json& x) { return x.is_string(); };
  if (!all.is_array() || !std::all_of(all.begin(), all.end(), is_word))
    throw c.error("'{}' is {}, and should be a name or a list of names", field, printable(all));
  return all.get<std::vector<std::string>>();
}

/// target_modules, with layers_to_transform and layers_pattern in expressions. The number of a layer is the
/// last one in a module's path, as in peft, or the one behind a name of layers_pattern.
inline std::vector<std::string> targets_in(const config_file& c) {
  const json targets = c.fields().value("target_modules", json()),
             numbers = c.fields().value("layers_to_transform", json());
  std::vector<std::string> all = one_or_more(c, "target_modules");
  const bool is_word = targets.is_string(), is_all = is_word && targets == all_linear;
  if (all.empty() || (is_word && !is_all && !name_pattern::is_expression(all.front())))
    throw c.error("'target_modules' is {}; known are a list of names, a regular expression, and \"{}\"",
                  printable(targets), all_linear);
  const std::vector<std::string> names = one_or_more(c, "layers_pattern");
  if (numbers.is_null() || numbers == json::array()) {
    if (!names.empty())
      throw c.error("'layers_pattern' is {} without layers_to_transform, which says which of these",
                    printable(c.fields()["layers_pattern"]));
    return all;
  }
  if (is_word && !is_all)
    throw c.error(
        "'layers_to_transform' goes with a list of names in target_modules, not with an expression");
  const json list = numbers.is_array() ? numbers : json::array({numbers});
  std::string of_layer;
  for (const json& x : list) {
    if (!x.is_number_unsigned())
      throw c.error("'layers_to_transform' is {}, and should be the numbers of layers", printable(numbers));
    of_layer += fmt::format("{}{}", of_layer.empty() ? "" : "|", x.get<u64>());
  }
  for (std::string& t : all) {
    std::string end;
    for (char x : is_all ? std::string() : t) end += x == '.' ? "\\." : std::string{x};
    const std::string before = names.empty() ? "[^.]+" : fmt::format("({})", fmt::join(names, "|")),
                      between = names.empty() ? "([^.0-9][^.]*\\.)*" : "([^.]+\\.)*";
    t = fmt::format("{}\\.({})\\.{}{}", before, of_layer, between, is_all ? "[^.]+" : end);
  }
  return all;
}

/// Throws file_error for what peft has trained beside the adapters.
inline void refuse_other_parameters(const config_file& c) {
  constexpr const char* remedy =
      "merge them into the model with peft, model.merge_and_unload().save_pretrained(folder), and take that "
      "folder as the model";
  if (c.has("bias") && c.fields()["bias"] != "none")
    throw c.error("'bias' is {}, so biases have been trained beside the adapters, which are none: {}",
                  printable(c.fields()["bias"]), remedy);
  if (c.has("modules_to_save") && c.fields()["modules_to_save"] != json::array())
    throw c.error(
        "'modules_to_save' is {}, so these layers have been trained as a whole, and are no adapters: "
        "{}",
        printable(c.fields()["modules_to_save"]), remedy);
}

}  // namespace hugging_face

/// The settings in a folder's adapter_config.json. Throws file_error, also for what these adapters are not,
/// such as DoRA, trained biases, or layers that have been trained as a whole.
inline lora_settings read_lora_settings(const std::string& folder) {
  using hugging_face::json;
  const std::string file = folder + "/" + hugging_face::adapter_config;
  const hugging_face::config_file c(file);
  c.is("peft_type", "LORA"), hugging_face::refuse_other_parameters(c);
  for (const char* flag : {"use_dora", "lora_bias", "use_qalora", "use_bdlora"}) c.is(flag, false);
  c.is("loftq_config", json::object());
  for (const char* list :
       {"exclude_modules", "layer_replication", "trainable_token_indices", "target_parameters"})
    c.is(list, json::array());
  lora_settings s{.rank = c.whole("r", 8),
                  .alpha = c.number("lora_alpha", 8.f),
                  .dropout = c.number("lora_dropout", 0.f),
                  .rank_stabilized = c.flag("use_rslora", false),
                  .base = c.text("base_model_name_or_path", "")};
  const std::string text = read_whole(file);
  s.rank_pattern = hugging_face::patterns_in<int>(c, text, "rank_pattern");
  s.alpha_pattern = hugging_face::patterns_in<f32>(c, text, "alpha_pattern");
  if (s.dropout >= 1) throw c.error("'lora_dropout' should be below 1, not {}", s.dropout);
  s.targets = hugging_face::targets_in(c);
  std::sort(s.targets.begin(), s.targets.end());
  return s;
}

namespace hugging_face {

/// Calls f(name, rows, columns, parameter, row) for each tensor of the adapters: row(i) is the row of our
/// parameter that is row i of theirs.
template <class Model, class F>
void each_adapter_tensor(const lora_settings& how, const std::string& model_type, const Model& m,
                         const network& n, F f) {
  for (const adapted_module& x : adapted_modules(how, model_type, m)) {
    std::size_t part = 0;
    const auto found = std::find_if(n.adapters().begin(), n.adapters().end(), [&](const adapter& a) {
      if (a.layer != x.layer) return false;
      if (!x.is_part()) return true;
      part =
          static_cast<std::size_t>(std::find(a.parts.begin(), a.parts.end(), x.outputs()) - a.parts.begin());
      return part < a.parts.size();
    });
    if (found == n.adapters().end())
      throw std::invalid_argument(fmt::format(
          "wsl: {} of this network has no adapter, though the settings are for {}", x.layer, x.name));
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
  nlohmann::ordered_json ranks = nlohmann::ordered_json::object(), alphas = ranks;
  for (const auto& [pattern, rank] : how.rank_pattern) ranks[pattern] = rank;
  for (const auto& [pattern, alpha] : how.alpha_pattern) alphas[pattern] = shortest(alpha);
  nlohmann::ordered_json config{{"peft_type", "LORA"},
                                {"task_type", "CAUSAL_LM"},
                                {"base_model_name_or_path", nullptr},
                                {"r", how.rank},
                                {"lora_alpha", shortest(how.alpha)},
                                {"rank_pattern", ranks},
                                {"alpha_pattern", alphas},
                                {"lora_dropout", shortest(how.dropout)},
                                {"use_rslora", how.rank_stabilized},
                                {"target_modules", how.targets},
                                {"fan_in_fan_out", !modules.empty() && modules.front().transposed},
                                {"bias", "none"},
                                {"inference_mode", true}};
  if (!how.base.empty()) config["base_model_name_or_path"] = how.base;
  if (how.targets == std::vector<std::string>{all_linear}) config["target_modules"] = all_linear;
  if (std::any_of(how.targets.begin(), how.targets.end(), name_pattern::is_expression)) {
    std::vector<std::string> paths;  // in a list, peft takes every word for a name
    for (const adapted_module& x : modules) paths.push_back(x.name);
    config["target_modules"] = paths;
  }
  // No configuration is there while there may be adapters of another one.
  std::filesystem::remove(folder + "/" + adapter_config, why);
  write_safetensors(folder + "/" + hugging_face::adapter_tensors, views, {{"format", "pt"}});
  support::write_whole_file(folder + "/" + adapter_config, config.dump(2) + "\n");
}

}  // namespace wsl::ml
