// SPDX-License-Identifier: MIT
// A golden state is what a reference implementation computes for a model and a batch: logits, loss, the
// gradient of each parameter, the losses of some steps of AdamW, and a greedy continuation. Files of two
// forms are read: those of Hugging Face's transformers (input_ids and labels, which the model shifts, grad.*,
// losses_adamw, greedy), and those of tests/golden/make (ids and targets, gradient.*, losses).
//   pretrained p = read_hugging_face("llama");
//   golden_state g = golden_state::of_folder("llama");
//   for (const golden_difference& d : compare_with_golden(p, g, make)) print(d.name, d.error);
// See docs/guide/zoo.md.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>

#include "../io/hugging_face.hpp"
#include "../model/batch.hpp"
#include "../train/trainer_base.hpp"
#include "sample.hpp"

namespace wsl::ml {

class golden_state {
 public:
  std::vector<f32> logits;  ///< (tokens, vocabulary), as all that follows empty if the file has none
  std::optional<f64> loss = {};
  std::vector<f32> losses;  ///< before each step of AdamW: rate 1e-3, weight decay 0.01 on everything
  std::vector<i32> greedy;  ///< some tokens, then the argmax after each
  static constexpr std::size_t prompt = 6;  ///< the number of tokens with which `greedy` begins
  /// tokens that end a text, with which `greedy` does not go on; where it has one itself, all tokens count
  std::set<i32> never;

  /// Throws file_error for a file that has no batch of token ids, or numbers of another type or shape.
  explicit golden_state(const std::string& file) : in_(file) {
    const bool is_shifted = in_.find("input_ids");
    const tensor_info& tokens = get(is_shifted ? "input_ids" : "ids");
    if (tokens.shape.size() != 2 || tokens.count() == 0 || tokens.count() > 1 << 24)
      throw error("'{}' should be (sequences, tokens), not {}", tokens.name, text_of(tokens.shape));
    sequences_ = static_cast<int>(tokens.shape[0]), length_ = static_cast<int>(tokens.shape[1]);
    ids_ = whole_numbers(tokens);
    read_targets(get(is_shifted ? "labels" : "targets"), is_shifted);
    if (const tensor_info* t = in_.find("attention_mask"))
      for (const i32 is_seen : whole_numbers(*t))
        if (is_seen != 1)
          throw error(
              "'attention_mask' hides tokens, and models see all here: make the golden state of "
              "sequences without padding");
    if (const tensor_info* t = in_.find("logits")) logits = in_.numbers(*t);
    if (const tensor_info* t = in_.find("loss"); t && t->count() == 1)
      loss = static_cast<f64>(in_.numbers(*t)[0]);
    for (const char* name : {"losses_adamw", "losses"})
      if (const tensor_info* t = in_.find(name)) losses = in_.numbers(*t);
    if (const tensor_info* t = in_.find("greedy")) greedy = whole_numbers(*t);
  }

  /// That of a folder with a model: its golden.safetensors, or else expected.safetensors. Tokens that end a
  /// text (eos_token_id of config.json) are never written. Throws file_error if there is none.
  static golden_state of_folder(const std::string& folder) {
    for (const char* name : {"/golden.safetensors", "/expected.safetensors"}) {
      if (!file_exists(folder + name)) continue;
      golden_state g(folder + name);
      const auto config = nlohmann::json::parse(read_whole(folder + "/config.json"), nullptr, false);
      const auto end = config.is_object() ? config.value("eos_token_id", nlohmann::json()) : nlohmann::json();
      for (const auto& token : end.is_array() ? end : nlohmann::json::array({end}))
        if (token.is_number_integer()) g.never.insert(token.get<i32>());
      return g;
    }
    throw file_error(
        fmt::format("wsl: {} has neither golden.safetensors nor expected.safetensors, with which "
                    "its model would be compared: give a folder that has one of them",
                    folder));
  }

  batch inputs() const {
    return {.ids = ids_, .targets = targets_, .mask = mask_, .sequences = sequences_, .length = length_};
  }
  /// The gradient of a tensor of the model's file; none if the file has none. Throws file_error if it has
  /// another shape.
  std::optional<std::vector<f32>> gradient(const std::string& tensor, const std::vector<u64>& shape) {
    if (const std::size_t at = tensor.find(experts_word); at != std::string::npos)
      return gradient_of_expert(tensor, at, shape);
    return gradient_named(name_when_running(tensor), shape);
  }
  /// The gradients that were never asked for.
  std::vector<std::string> unread_gradients() const {
    std::vector<std::string> all;
    for (const tensor_info& t : in_.tensors())
      if ((t.name.starts_with("grad.") || t.name.starts_with("gradient.")) && !read_.contains(t.name))
        all.push_back(t.name);
    return all;
  }
  const std::string& name() const { return in_.name(); }

 private:
  template <class... T>
  file_error error(fmt::format_string<T...> text, T&&... x) const {
    return file_error(fmt::format("wsl: {}: {}", name(), fmt::format(text, std::forward<T>(x)...)));
  }
  /// transformers have other names for some tensors when they run than in the files of GPT-NeoX and Mixtral.
  static std::string name_when_running(std::string tensor) {
    if (tensor == "embed_out.weight") return "lm_head.weight";
    constexpr std::string_view router = ".block_sparse_moe.gate.";
    if (const std::size_t at = tensor.find(router); at != std::string::npos)
      tensor.replace(at, router.size(), ".mlp.gate.");
    return tensor;
  }
  std::optional<std::vector<f32>> gradient_named(const std::string& tensor, const std::vector<u64>& shape) {
    for (const char* prefix : {"grad.", "gradient."})
      if (in_.find(prefix + tensor)) {
        read_.insert(prefix + tensor);
        return in_.numbers(prefix + tensor, shape);
      }
    return {};
  }
  /// When transformers run Mixtral, they have one array for the matrices w2 of all experts, and one for those
  /// of w1 and w3, side by side.
  std::optional<std::vector<f32>> gradient_of_expert(const std::string& tensor, std::size_t at,
                                                     const std::vector<u64>& shape) {
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
    const std::vector<f32> of_all =
        in_.numbers("grad." + stacked, {all->shape[0], parts * shape[0], shape[1]});
    const auto first =
        of_all.begin() + static_cast<std::ptrdiff_t>((parts * e + (matrix == ".w3.weight")) * size);
    return std::vector<f32>(first, first + static_cast<std::ptrdiff_t>(size));
  }
  const tensor_info& get(const char* tensor) const {
    if (const tensor_info* t = in_.find(tensor)) return *t;
    throw error("there is no tensor '{}', so this is no golden state of a causal model", tensor);
  }
  std::vector<i32> whole_numbers(const tensor_info& t) {
    if (t.type.name == "I32") return in_.read<i32>(t);
    const std::vector<i64> wide = in_.read<i64>(t);
    return {wide.begin(), wide.end()};
  }
  void read_targets(const tensor_info& t, bool is_shifted) {
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

  static constexpr std::string_view experts_word = ".block_sparse_moe.experts.";

  safetensors_file in_;
  std::set<std::string> read_;  // gradients
  int sequences_ = 0, length_ = 0;
  std::vector<i32> ids_, targets_;
  std::vector<f32> mask_;
};

/// One comparison of a trainer with a golden state.
struct golden_difference {
  enum class kind : u8 { logits, loss, gradient, losses_adamw, greedy };

  kind what;
  std::string name;  ///< of the tensor, or the step
  /// the largest difference, divided by the largest element; of `greedy` 1 for a token that differs
  f64 error = 0, tolerance = 0;

  bool holds() const { return error <= tolerance; }  // false for a NaN
};
struct golden_tolerances {
  f64 tensors = 1e-5;  ///< of logits, loss and gradients
  f64 losses = 1e-4;   ///< of the losses in training
};
struct golden_comparison {
  std::vector<golden_difference> all;
  std::vector<std::string> left_out;  ///< what is not compared, and why
};

/// The largest absolute value; NaN if there is one.
inline f64 largest_of(std::span<const f32> x) {
  f64 largest = 0;
  for (const f32 v : x)
    if (const f64 size = std::abs(static_cast<f64>(v)); !(size <= largest)) {
      if (std::isnan(size)) return size;
      largest = size;
    }
  return largest;
}
/// The largest difference, divided by `size`, the largest absolute value that is expected. Infinite if the
/// lengths differ, NaN if a number is.
inline f64 relative_error(std::span<const f32> x, std::span<const f32> right, f64 size) {
  if (x.size() != right.size()) return std::numeric_limits<f64>::infinity();
  f64 largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const f64 off = std::abs(static_cast<f64>(x[i]) - static_cast<f64>(right[i]));
    if (std::isnan(off)) return off;
    largest = std::max(largest, off);
  }
  return size > 0 ? largest / size : largest;
}
inline f64 relative_error(std::span<const f32> x, std::span<const f32> right) {
  return relative_error(x, right, largest_of(right));
}

namespace detail {

/// The gradients of a model, where the optimizer was SGD with momentum and has made one step: its velocity.
inline weights gradients_after_first_step(trainer_base& t) {
  weights all(t.model());
  for (const state_array& a : t.state())
    if (a.what == state_array::kind::kept) all[a.parameter].assign(a.numbers.begin(), a.numbers.end());
  return all;
}

class golden_comparer {
 public:
  golden_comparer(pretrained& p, golden_state& g, const golden_tolerances& within)
      : model_(p),
        golden_(g),
        within_(within),
        network_(p.config.build()),
        weights_(p.to_weights(network_)) {}

  template <class Make>
  golden_comparison operator()(Make make) {
    const batch b = golden_.inputs();
    const auto once = begun(make, optimizer::sgd(0.9f));
    if (!is_lacking(golden_.logits.empty(), "logits"))
      add(kind::logits, "logits", relative_error(once->predict(b), golden_.logits), within_.tensors);
    if (!is_lacking(golden_.greedy.size() <= golden_state::prompt, "greedy")) compare_greedy(*once);
    const f64 loss = once->step(b, 1);
    if (!is_lacking(!golden_.loss, "loss"))
      add(kind::loss, "loss", std::abs(loss / *golden_.loss - 1), within_.tensors);
    compare_gradients(gradients_after_first_step(once->run()));
    if (is_lacking(golden_.losses.empty(), "losses_adamw")) return std::move(result_);
    const auto several = begun(make, optimizer::adamw());
    for (std::size_t s = 0; s < golden_.losses.size(); ++s)
      add(kind::losses_adamw, fmt::format("step {}", s),
          std::abs(several->step(b, 1e-3) / static_cast<f64>(golden_.losses[s]) - 1), within_.losses);
    return std::move(result_);
  }

 private:
  using kind = golden_difference::kind;

  void add(kind what, std::string name, f64 error, f64 tolerance) {
    result_.all.push_back({what, std::move(name), error, tolerance});
  }
  bool is_lacking(bool lacks, const char* what) {
    if (lacks) result_.left_out.push_back(fmt::format("{}: {} does not have it", what, golden_.name()));
    return lacks;
  }
  template <class Make>
  auto begun(Make& make, const optimizer& rule) {
    auto machine = make(model_.config.build(), rule);
    parameter_store& to = machine->run().parameters();
    for (std::size_t k = 0; k < weights_.size(); ++k)
      std::copy(weights_[k].begin(), weights_[k].end(), to[k].begin());
    return machine;
  }
  /// If each token is the argmax after the tokens of the reference before it, the continuations are
  /// equal. So one forward pass tells, with the same sequence in each place of the batch.
  template <class Machine>
  void compare_greedy(Machine& machine) {
    const std::size_t length = golden_.greedy.size(),
                      vocabulary = static_cast<std::size_t>(model_.config.vocabulary);
    const int copies = golden_.inputs().sequences;
    std::vector<i32> ids;
    for (int s = 0; s < copies; ++s) ids.insert(ids.end(), golden_.greedy.begin(), golden_.greedy.end());
    const std::vector<f32> out =
        machine.predict({.ids = ids, .sequences = copies, .length = static_cast<int>(length)});
    const bool fits = out.size() == ids.size() * vocabulary;
    for (std::size_t t = golden_state::prompt; t < length; ++t) {
      bool same = fits;
      for (std::size_t first = 0; same && first < ids.size(); first += length)
        same = argmax_as_written(std::span(out).subspan((first + t - 1) * vocabulary, vocabulary),
                                 golden_.greedy[t]) == golden_.greedy[t];
      add(kind::greedy, fmt::format("token {}", t), same ? 0 : 1, 0);
    }
  }
  /// The argmax of the logits as the reference takes it: without the tokens that it never writes, unless it
  /// has written one of them here.
  i32 argmax_as_written(std::span<const f32> logits, i32 expected) const {
    if (golden_.never.contains(expected)) return argmax(logits);
    std::vector<f32> allowed(logits.begin(), logits.end());
    for (const i32 token : golden_.never)
      if (token >= 0 && static_cast<std::size_t>(token) < allowed.size())
        allowed[static_cast<std::size_t>(token)] = -std::numeric_limits<f32>::infinity();
    return argmax(allowed);
  }
  void compare_gradients(const weights& ours) {
    const hugging_face::family& f = *hugging_face::find_family(model_.model_type());
    const auto tensors = hugging_face::to_tensors(f, model_.config, network_, ours);
    for (const hugging_face::tensor& t : tensors) {
      const auto right = golden_.gradient(t.name, t.shape);
      if (is_lacking(!right, ("gradient of " + t.name).c_str())) continue;
      // A key's bias adds the same to all scores of a query, so its gradient is rounding alone. It is small
      // beside that of the queries' bias.
      std::string beside = t.name;
      if (t.name.ends_with("k_proj.bias")) beside.replace(beside.rfind('k'), 1, "q");
      const auto other =
          std::find_if(tensors.begin(), tensors.end(), [&](const auto& x) { return x.name == beside; });
      const auto of_size = other == tensors.end() ? right : golden_.gradient(beside, other->shape);
      add(kind::gradient, t.name, relative_error(t.numbers, *right, largest_of(of_size ? *of_size : *right)),
          within_.tensors);
    }
    for (const std::string& name : golden_.unread_gradients())
      result_.left_out.push_back(name + ": the model has no such tensor");
  }

  pretrained& model_;
  golden_state& golden_;
  golden_tolerances within_;
  network network_;
  weights weights_;
  golden_comparison result_;
};

}  // namespace detail

/// Compares a model in training with a golden state. `make(network, optimizer)` returns a pointer to what
/// trains, which has predict(batch), step(batch, rate) and run(), its trainer_base; it is called twice.
/// Throws file_error if the files do not have the shapes of the model.
template <class Make>
golden_comparison compare_with_golden(pretrained& p, golden_state& g, Make make,
                                      const golden_tolerances& within = {}) {
  return detail::golden_comparer(p, g, within)(make);
}

}  // namespace wsl::ml
