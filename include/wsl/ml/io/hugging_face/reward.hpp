// SPDX-License-Identifier: MIT
// Reward models (model/preference.hpp) in the files of Hugging Face's transformers: what
// AutoModelForSequenceClassification reads, with one label. In place of a head they have `score.weight`, and
// the score of a text is that of its last token which is not pad_token_id, by which its end is found.
//   pretrained_reward_model p = read_reward_model("reward");
//   const weights w = p.to_weights(reward_model{p.config}.build());
//   write_reward_model("export", p.config, n, w, p.padding.value());
// Source: transformers, modeling_llama.py and others, *ForSequenceClassification.
#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../hugging_face.hpp"
#include "match.hpp"

namespace wsl::ml {

namespace hugging_face {

inline constexpr std::string_view of_classification = "ForSequenceClassification";

/// The class of a family's reward models, such as LlamaForSequenceClassification; empty if transformers have
/// none.
inline std::string class_of_scores(const family& f) {
  const std::string_view name = f.architecture, type = f.model_type;
  for (const std::string_view without : {"codegen", "btlm", "jais"})
    if (type == without) return "";
  for (const std::string_view end : {"ForCausalLM", "LMHeadModel"})
    if (name.ends_with(end))
      return std::string(name.substr(0, name.size() - end.size())) + std::string(of_classification);
  return "";
}
/// Where the parameters of a reward model lie: those of the decoder without its head, and the score.
inline std::vector<tensor_rule> rules_of_scores(const family& f, const decoder& d) {
  std::vector<tensor_rule> all = f.tensors(d);
  std::erase_if(all, [](const tensor_rule& r) { return r.ours.starts_with("head."); });
  all.push_back({"score.weight", "score.weight"});
  return all;
}

}  // namespace hugging_face

/// Whether a folder has a decoder that gives classes or scores, by the class that config.json names. Throws
/// file_error.
inline bool is_reward_model(const std::string& folder) {
  const hugging_face::config_file c(folder + "/config.json");
  const hugging_face::json& names =
      c.fields().contains("architectures") ? c.fields()["architectures"] : hugging_face::json::array();
  return hugging_face::find_family(c.text("model_type", "")) && names.is_array() && !names.empty() &&
         names[0].is_string() && names[0].get<std::string>().ends_with(hugging_face::of_classification);
}

/// A reward model that has been read from a folder.
struct pretrained_reward_model {
  decoder config;  ///< `rotary_pairs` may be set to the other kind before to_weights
  std::string model_type;
  std::optional<i32> padding;  ///< pad_token_id
  std::string folder;

  /// The weights of the network that `reward_model{config}` builds. Throws file_error for a tensor that is
  /// missing, has another shape, or is unknown.
  weights to_weights(const network& n) const {
    const hugging_face::family& f = hugging_face::family_called<decoder>(model_type);
    const std::vector<hugging_face::tensor_rule> rules = hugging_face::rules_of_scores(f, config);
    hugging_face::model_files files(model_type, f.prefix, rules, tensor_shards(folder));
    files.check_layers(config.layers);
    return files.to_weights(n, rules, nullptr);
  }
};

/// Reads config.json. Throws file_error if the model is no decoder, or has several classes.
inline pretrained_reward_model read_reward_model(const std::string& folder) {
  const std::string name = folder + "/config.json";
  const hugging_face::config_file c(name);
  const auto [f, d] = read_hugging_face_config(name);
  const auto labels = c.object("id2label").fields().size();
  const int classes = labels ? static_cast<int>(labels) : c.whole("num_labels", 2);
  if (classes != 1)
    throw c.error(
        "the model has {} classes ('id2label'), and a reward model one, its score: give one of those",
        classes);
  std::optional<i32> padding;
  if (c.has("pad_token_id")) padding = c.token("pad_token_id", 0);
  return {d, f->model_type, padding, folder};
}

/// Writes a reward model for from_pretrained of AutoModelForSequenceClassification. Throws
/// std::invalid_argument if the family, `how.model_type` or else the first that has the decoder, has no such
/// model, and file_error if the files cannot be written.
inline void write_reward_model(const std::string& folder, const decoder& d, const network& n,
                               const weights& w, i32 padding, const hugging_face_settings& how = {}) {
  using namespace hugging_face;
  const family* f = how.model_type.empty() ? family_of(d) : &family_called<decoder>(how.model_type);
  if (!f) throw std::invalid_argument("wsl: " + why_no_hugging_face(d));
  if (const std::string lacking = lacks(*f, d); !lacking.empty())
    throw std::invalid_argument(fmt::format("wsl: {} does not have this model: {}", f->model_type, lacking));
  const std::string name = class_of_scores(*f);
  if (name.empty())
    throw std::invalid_argument(
        fmt::format("wsl: transformers have no reward model of {}: take another family", f->model_type));
  json config = f->write(d);
  config["model_type"] = f->model_type, config["torch_dtype"] = "float32", config["architectures"] = {name};
  config["id2label"] = {{"0", "LABEL_0"}}, config["label2id"] = {{"LABEL_0", 0}};
  decoder read_back = as_in_family(*f, d);  // with all biases that config.json will promise
  keep_what_is_free(read_back, d);
  hugging_face_settings with_padding = how;
  with_padding.tokens.emplace_back("pad_token_id", padding);
  write_model_files(folder, to_tensors(f->model_type, rules_of_scores(*f, read_back), n, w),
                    std::move(config), with_padding);
}

}  // namespace wsl::ml
