// SPDX-License-Identifier: MIT
// Reads golden states and compares models with them, for ../golden_state.hpp: a part of the library that can
// be compiled once, see ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "../../io/hugging_face/config.hpp"
#include "../golden_state.hpp"

namespace wsl::ml {

WSL_ML_DATA_COMPILED_PART golden_state::golden_state(const std::string& file) : in_(file) {
  const bool is_shifted = in_.find("input_ids");
  const tensor_info& tokens = get(is_shifted ? "input_ids" : "ids");
  read_shape(tokens);
  ids_ = whole_numbers(tokens);
  read_targets(get(is_shifted ? "labels" : "targets"), is_shifted);
  if (const tensor_info* t = in_.find("attention_mask"))
    for (const i32 is_seen : whole_numbers(*t))
      if (is_seen != 1)
        throw error(
            "'attention_mask' hides tokens, and causal models see all before a token here: make the golden "
            "state of sequences without padding");
  read_results();
}

WSL_ML_DATA_COMPILED_PART golden_state::golden_state(const std::string& file, const network& n, i32 start,
                                                     i32 padding)
    : in_(file) {
  constexpr const char* decoder_ids = "decoder_input_ids";
  read_shape(get("input_ids"));
  for (const value_info& v : n.values()) {
    if (v.from == origin::computed || (v.is_optional && !in_.find(v.name))) continue;
    if (v.name != decoder_ids || in_.find(v.name)) {
      named_.emplace_back(v.name, whole_numbers(get(v.name.c_str())));
      continue;
    }
    std::vector<i32> text = whole_numbers(get("labels"));
    const std::size_t length = text.size() / static_cast<std::size_t>(sequences_);
    for (std::size_t t = text.size(); t-- > 0;)
      text[t] = t % length == 0 ? start : text[t - 1] < 0 ? padding : text[t - 1];
    named_.emplace_back(v.name, std::move(text));
  }
  prompt = 1;
  read_results();
}

WSL_ML_DATA_COMPILED_PART golden_state::golden_state(const std::string& file, pairs_of_file) : in_(file) {
  const tensor_info &chosen = get("chosen"), &rejected = get("rejected"), &of_prompt = get("prompt_length");
  read_shape(chosen);
  if (rejected.shape != chosen.shape)
    throw error("'rejected' has the shape {}, and 'chosen' {}: both of a pair have as many tokens",
                text_of(rejected.shape), text_of(chosen.shape));
  const std::vector<i32> lengths = whole_numbers(of_prompt);
  if (lengths.size() != 1 || lengths[0] < 1 || lengths[0] >= length_)
    throw error("'prompt_length' should be one number of tokens, from 1 to {}, before the answers",
                length_ - 1);
  const std::size_t length = static_cast<std::size_t>(length_),
                    first = static_cast<std::size_t>(lengths[0]) - 1;
  std::vector<i32> ids = in_turn(whole_numbers(chosen), whole_numbers(rejected), length),
                   labels(ids.size(), decoder::no_label);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (const std::size_t t = i % length; t >= first && t + 1 < length) labels[i] = ids[i + 1];
  sequences_ *= 2;
  named_.emplace_back("ids", std::move(ids)), named_.emplace_back("labels", std::move(labels));
  const auto both = [&](const std::string& who) {
    const tensor_info &a = get((who + "_chosen_logps").c_str()), &b = get((who + "_rejected_logps").c_str());
    if (2 * a.count() != static_cast<u64>(sequences_) || a.count() != b.count())
      throw error("'{}' and '{}' should have a number for each of {} pairs", a.name, b.name, sequences_ / 2);
    return in_turn(in_.numbers(a), in_.numbers(b), 1);
  };
  read_results();
  logits = both("policy"), reference = both("reference");
}

template <class T>
std::vector<T> golden_state::in_turn(const std::vector<T>& chosen, const std::vector<T>& rejected,
                                     std::size_t each) {
  std::vector<T> all;
  for (std::size_t at = 0; at < chosen.size(); at += each)
    for (const std::vector<T>* of : {&chosen, &rejected})
      all.insert(all.end(), of->begin() + static_cast<std::ptrdiff_t>(at),
                 of->begin() + static_cast<std::ptrdiff_t>(at + each));
  return all;
}

WSL_ML_DATA_COMPILED_PART void golden_state::read_shape(const tensor_info& ids) {
  if (ids.shape.size() != 2 || ids.count() == 0 || ids.count() > 1 << 24)
    throw error("'{}' should be (sequences, tokens), not {}", ids.name, text_of(ids.shape));
  sequences_ = static_cast<int>(ids.shape[0]), length_ = static_cast<int>(ids.shape[1]);
}

WSL_ML_DATA_COMPILED_PART void golden_state::read_results() {
  for (const char* name : {"logits", "prediction_logits"})
    if (const tensor_info* t = in_.find(name)) logits = in_.numbers(*t);
  const tensor_info *first = in_.find("start_logits"), *last = in_.find("end_logits");
  if (first && last) read_scores_of_parts(*first, *last);
  if (const tensor_info* t = in_.find("loss"); t && t->count() == 1)
    loss = static_cast<f64>(in_.numbers(*t)[0]);
  for (const char* name : {"losses_adamw", "losses"})
    if (const tensor_info* t = in_.find(name)) losses = in_.numbers(*t);
  if (const tensor_info* t = in_.find("greedy")) greedy = whole_numbers(*t);
}

WSL_ML_DATA_COMPILED_PART void golden_state::read_scores_of_parts(const tensor_info& first,
                                                                  const tensor_info& last) {
  const std::vector<f32> a = in_.numbers(first), b = in_.numbers(last);
  if (a.size() != b.size())
    throw error("'{}' has {} numbers, and '{}' {}: each token should have one of both", first.name, a.size(),
                last.name, b.size());
  for (std::size_t t = 0; t < a.size(); ++t) logits.insert(logits.end(), {a[t], b[t]});
}

WSL_ML_DATA_COMPILED_PART batch golden_state::greedy_inputs(std::vector<std::vector<i32>>& place) const {
  const auto copies = [&](std::span<const i32> text) {
    std::vector<i32>& all = place.emplace_back();
    for (int s = 0; s < sequences_; ++s) all.insert(all.end(), text.begin(), text.end());
    return std::span<const i32>(all);
  };
  place.clear(), place.reserve(1 + named_.size());
  batch b{.sequences = sequences_, .length = length_};
  if (named_.empty()) {
    b.ids = copies(greedy), b.length = static_cast<int>(greedy.size());
    return b;
  }
  for (const auto& [name, numbers] : named_)
    if (name != "labels")
      b.named.emplace_back(
          name,
          name == "decoder_input_ids"
              ? copies(greedy)
              : copies(std::span(numbers).first(numbers.size() / static_cast<std::size_t>(sequences_))));
  return b;
}

WSL_ML_DATA_COMPILED_PART golden_state golden_state::of_folder(const std::string& folder, const network& n,
                                                               const std::string& of_model) {
  const bool is_named = std::any_of(n.values().begin(), n.values().end(),
                                    [](const value_info& v) { return v.name == "input_ids"; });
  for (const char* name : {"/golden.safetensors", "/expected.safetensors"}) {
    if (!file_exists(folder + name)) continue;
    const hugging_face::config_file config(of_model + "/config.json");
    const auto token = [&](const char* key, i32 otherwise) {
      const auto& x = config.fields().value(key, nlohmann::json());
      return x.is_number_integer() ? x.get<i32>() : otherwise;
    };
    const i32 padding = token("pad_token_id", 0);
    golden_state g = is_named
                         ? golden_state(folder + name, n, token("decoder_start_token_id", padding), padding)
                         : golden_state(folder + name);
    const auto end = config.fields().value("eos_token_id", nlohmann::json());
    for (const auto& id : end.is_array() ? end : nlohmann::json::array({end}))
      if (id.is_number_integer()) g.never.insert(id.get<i32>());
    return g;
  }
  throw file_error(
      fmt::format("wsl: {} has neither golden.safetensors nor expected.safetensors, with which "
                  "its model would be compared: give a folder that has one of them",
                  folder));
}

WSL_ML_DATA_COMPILED_PART std::optional<std::vector<f32>> golden_state::gradient(
    const std::string& tensor, const std::vector<u64>& shape) {
  if (const std::size_t at = tensor.find(experts_word); at != std::string::npos)
    return gradient_of_expert(tensor, at, shape);
  return gradient_named(name_when_running(tensor), shape);
}

WSL_ML_DATA_COMPILED_PART std::vector<std::string> golden_state::unread_gradients() const {
  std::vector<std::string> all;
  for (const tensor_info& t : in_.tensors())
    if ((t.name.starts_with("grad.") || t.name.starts_with("gradient.")) && !read_.contains(t.name))
      all.push_back(t.name);
  return all;
}

WSL_ML_DATA_COMPILED_PART std::string golden_state::name_when_running(std::string tensor) {
  if (tensor == "embed_out.weight") return "lm_head.weight";
  for (const char* half : {".lora_A", ".lora_B"})
    if (tensor.ends_with(half + std::string(".weight")))
      return tensor.substr(0, tensor.size() - 7) + ".default.weight";
  constexpr std::string_view router = ".block_sparse_moe.gate.";
  if (const std::size_t at = tensor.find(router); at != std::string::npos)
    tensor.replace(at, router.size(), ".mlp.gate.");
  return tensor;
}

WSL_ML_DATA_COMPILED_PART std::optional<std::vector<f32>> golden_state::gradient_named(
    const std::string& tensor, const std::vector<u64>& shape) {
  for (const char* prefix : {"grad.", "gradient."})
    if (in_.find(prefix + tensor)) {
      read_.insert(prefix + tensor);
      return in_.numbers(prefix + tensor, shape);
    }
  return {};
}

WSL_ML_DATA_COMPILED_PART std::optional<std::vector<f32>> golden_state::gradient_of_expert(
    const std::string& tensor, std::size_t at, const std::vector<u64>& shape) {
  std::size_t e = 0;
  const char* const number = tensor.data() + at + experts_word.size();
  const char* const after = std::from_chars(number, tensor.data() + tensor.size(), e).ptr;
  const std::string_view matrix(after, static_cast<std::size_t>(tensor.data() + tensor.size() - after));
  const bool is_down = matrix == ".w2.weight";
  const std::string stacked =
      tensor.substr(0, at) + (is_down ? ".mlp.experts.down_proj" : ".mlp.experts.gate_up_proj");
  const tensor_info* const all = in_.find("grad." + stacked);
  if (!all || all->shape.size() != 3 || e >= all->shape[0]) return {};
  read_.insert(all->name);
  const u64 parts = is_down ? 1 : 2, size = shape[0] * shape[1];
  const std::vector<f32> of_all = in_.numbers("grad." + stacked, {all->shape[0], parts * shape[0], shape[1]});
  const auto first =
      of_all.begin() + static_cast<std::ptrdiff_t>((parts * e + (matrix == ".w3.weight")) * size);
  return std::vector<f32>(first, first + static_cast<std::ptrdiff_t>(size));
}

WSL_ML_DATA_COMPILED_PART const tensor_info& golden_state::get(const char* tensor) const {
  if (const tensor_info* t = in_.find(tensor)) return *t;
  throw error("there is no tensor '{}', so this is no golden state of this model", tensor);
}

WSL_ML_DATA_COMPILED_PART std::vector<i32> golden_state::whole_numbers(const tensor_info& t) {
  if (t.type.name == "I32") return in_.read<i32>(t);
  const std::vector<i64> wide = in_.read<i64>(t);
  return {wide.begin(), wide.end()};
}

WSL_ML_DATA_COMPILED_PART void golden_state::read_targets(const tensor_info& t, bool is_shifted) {
  if (t.shape != std::vector<u64>{static_cast<u64>(sequences_), static_cast<u64>(length_)})
    throw error("'{}' has the shape {}, and there are {} sequences of {} tokens", t.name, text_of(t.shape),
                sequences_, length_);
  targets_ = whole_numbers(t), mask_.assign(targets_.size(), 1);
  if (!is_shifted) return;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const bool is_last = (i + 1) % static_cast<std::size_t>(length_) == 0;
    targets_[i] = is_last ? -1 : targets_[i + 1];
    if (targets_[i] < 0) targets_[i] = 0, mask_[i] = 0;
  }
}

namespace detail {

WSL_ML_DATA_COMPILED_PART weights gradients_after_first_step(trainer_base& t) {
  weights all(t.model());
  for (const state_array& a : t.state())
    if (a.what == state_array::kind::kept) all[a.parameter].assign(a.numbers.begin(), a.numbers.end());
  return all;
}

WSL_ML_DATA_COMPILED_PART i32 golden_comparer::argmax_as_written(std::span<const f32> logits,
                                                                 i32 expected) const {
  if (golden_.never.contains(expected)) return argmax(logits);
  std::vector<f32> allowed(logits.begin(), logits.end());
  for (const i32 token : golden_.never)
    if (token >= 0 && static_cast<std::size_t>(token) < allowed.size())
      allowed[static_cast<std::size_t>(token)] = -std::numeric_limits<f32>::infinity();
  return argmax(allowed);
}

WSL_ML_DATA_COMPILED_PART f64 golden_comparer::size_of(const hugging_face::tensor& t,
                                                       const std::vector<f32>& right,
                                                       const std::vector<hugging_face::tensor>& all) {
  // A key's bias adds the same to all scores of a query, and what shifts the scores of all tokens of a text
  // leaves their softmax as it is: such gradients are rounding alone. They are small beside that of the
  // queries' bias, or of the weights.
  f64 size = largest_of(right);
  for (const auto& [zero, sibling] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"k_proj.bias", "q_proj.bias"}, {"key.bias", "query.bias"}, {".bias", ".weight"}}) {
    if (!t.name.ends_with(zero)) continue;
    std::string beside = t.name.substr(0, t.name.size() - zero.size()).append(sibling);
    const auto other = std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.name == beside; });
    if (other == all.end()) continue;
    if (const auto of_other = golden_.gradient(beside, other->shape))
      if (const f64 larger = largest_of(*of_other); size < 1e-5 * larger) size = larger;
    break;
  }
  return size;
}

WSL_ML_DATA_COMPILED_PART void golden_comparer::compare_gradients(const weights& ours) {
  const auto tensors = model_.to_tensors(model_.of, ours);
  for (const hugging_face::tensor& t : tensors) {
    const auto right = golden_.gradient(t.name, t.shape);
    if (is_lacking(!right, ("gradient of " + t.name).c_str())) continue;
    add(kind::gradient, t.name, relative_error(t.numbers, *right, size_of(t, *right, tensors)),
        within_.tensors);
  }
  for (const std::string& name : golden_.unread_gradients())
    result_.left_out.push_back(name + ": the model has no such tensor");
}

}  // namespace detail

}  // namespace wsl::ml
