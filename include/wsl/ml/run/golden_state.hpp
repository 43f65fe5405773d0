// SPDX-License-Identifier: MIT
// A golden state is what a reference implementation computes for a model and a batch: logits, loss, the
// gradient of each parameter, the losses of some steps of AdamW, and a greedy continuation. Files of two
// forms are read: those of Hugging Face's transformers (input_ids and labels, which causal models shift,
// grad.*, losses_adamw, greedy), and those of tests/golden/make (ids and targets, gradient.*, losses).
// Encoders, and those with decoders, take the tensors that have the names of their inputs and targets. Pairs
// of answers (chosen, rejected, prompt_length) have the log-probabilities of a policy and of a reference.
//   pretrained p = read_hugging_face("llama");
//   golden_state g = golden_state::of_folder("llama");
//   for (const golden_difference& d : compare_with_golden(p, g, make)) print(d.name, d.error);
// See docs/guide/zoo.md.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <set>

#include "../io/hugging_face.hpp"
#include "../io/hugging_face/peft.hpp"
#include "../model/batch.hpp"
#include "../model/preference.hpp"
#include "../train/trainer_base.hpp"
#include "sample.hpp"

namespace wsl::ml {

class golden_state {
 public:
  /// (tokens, classes), as all that follows empty if the file has none; of pairs the log-probabilities of
  /// their sequences by the policy
  std::vector<f32> logits;
  std::optional<f64> loss = {};
  std::vector<f32> losses;  ///< before each step of AdamW: rate 1e-3, weight decay 0.01 on everything
  std::vector<i32> greedy;  ///< some tokens, then the argmax after each
  std::size_t prompt = 6;   ///< the number of tokens with which `greedy` begins; 1 for a decoder's text
  /// tokens that end a text, with which `greedy` does not go on; where it has one itself, all tokens count
  std::set<i32> never;
  std::vector<f32> reference;  ///< of pairs: those by the reference

  /// That of a causal model. Throws file_error for a file that has no batch of token ids, or numbers of
  /// another type or shape.
  explicit golden_state(const std::string& file);
  /// That of a model whose inputs and targets have the names of transformers. A decoder's inputs are its
  /// labels after `start`, and `padding` in place of those that do not count, unless the file has them.
  golden_state(const std::string& file, const network& n, i32 start, i32 padding);

  /// That of a model that learns from preferences (model/preference.hpp): the sequences of pairs in turn, of
  /// whose tokens those behind the prompt count. Its batch has the log-probabilities of the reference.
  static golden_state of_preferences(const std::string& file) { return golden_state(file, pairs_of_file{}); }

  /// That of a folder with a model: its golden.safetensors, or else expected.safetensors. Tokens that end a
  /// text (eos_token_id of config.json) are never written. Throws file_error if there is none.
  static golden_state of_folder(const std::string& folder, const network& n) {
    return of_folder(folder, n, folder);
  }
  /// The same of a model whose config.json lies in another folder, such as the base of adapters.
  static golden_state of_folder(const std::string& folder, const network& n, const std::string& of_model);

  batch inputs() const {
    batch b{.ids = ids_, .targets = targets_, .mask = mask_, .sequences = sequences_, .length = length_};
    for (const auto& [name, numbers] : named_) b.named.emplace_back(name, std::span(numbers));
    if (!reference.empty()) b.named.emplace_back(reference_log_probs, std::span(reference));
    return b;
  }
  /// The batch whose logits tell what is written after each token of `greedy`: the same text in each place.
  /// Its numbers lie in `place`.
  batch greedy_inputs(std::vector<std::vector<i32>>& place) const;
  /// The gradient of a tensor of the model's file; none if the file has none. Throws file_error if it has
  /// another shape.
  std::optional<std::vector<f32>> gradient(const std::string& tensor, const std::vector<u64>& shape);
  /// The gradients that were never asked for.
  std::vector<std::string> unread_gradients() const;
  const std::string& name() const { return in_.name(); }

 private:
  struct pairs_of_file {};
  golden_state(const std::string& file, pairs_of_file);

  template <class... T>
  file_error error(fmt::format_string<T...> text, T&&... x) const {
    return file_error(fmt::format("wsl: {}: {}", name(), fmt::format(text, std::forward<T>(x)...)));
  }
  /// transformers have other names for some tensors when they run than in the files of GPT-NeoX and Mixtral,
  /// and peft for adapters.
  static std::string name_when_running(std::string tensor);
  std::optional<std::vector<f32>> gradient_named(const std::string& tensor, const std::vector<u64>& shape);
  /// When transformers run Mixtral, they have one array for the matrices w2 of all experts, and one for those
  /// of w1 and w3, side by side.
  std::optional<std::vector<f32>> gradient_of_expert(const std::string& tensor, std::size_t at,
                                                     const std::vector<u64>& shape);
  const tensor_info& get(const char* tensor) const;
  std::vector<i32> whole_numbers(const tensor_info& t);
  void read_shape(const tensor_info& ids);
  void read_targets(const tensor_info& t, bool is_shifted);
  /// A tensor of the chosen answers and one of the rejected ones, `each` numbers of one and of the other in
  /// turn.
  template <class T>
  static std::vector<T> in_turn(const std::vector<T>& chosen, const std::vector<T>& rejected,
                                std::size_t each);
  void read_results();
  /// The scores of the first and of the last token of a part, side by side.
  void read_scores_of_parts(const tensor_info& first, const tensor_info& last);

  static constexpr std::string_view experts_word = ".block_sparse_moe.experts.";

  safetensors_file in_;
  std::set<std::string> read_;  // gradients
  int sequences_ = 0, length_ = 0;
  std::vector<i32> ids_, targets_;
  std::vector<f32> mask_;
  std::vector<std::pair<std::string, std::vector<i32>>> named_;
};

/// One comparison of a trainer with a golden state.
struct golden_difference {
  enum class kind : u8 { logits, log_probs, loss, gradient, losses_adamw, greedy };

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
weights gradients_after_first_step(trainer_base& t);

/// A model, as a comparison needs it.
struct golden_model {
  std::function<network()> build;
  std::function<std::vector<hugging_face::tensor>(const network&, const weights&)> to_tensors;
  network of;
  weights numbers;
  golden_difference::kind predicts = golden_difference::kind::logits;
  const char* predicted = "logits";  ///< the name of what it predicts
};

class golden_comparer {
 public:
  golden_comparer(golden_model m, golden_state& g, const golden_tolerances& within)
      : model_(std::move(m)), golden_(g), within_(within) {}

  template <class Make>
  golden_comparison operator()(Make make) {
    const batch b = golden_.inputs();
    const auto once = begun(make, optimizer::sgd({.momentum = 0.9f}));
    if (!is_lacking(golden_.logits.empty(), model_.predicted))
      add(model_.predicts, model_.predicted, relative_error(once->predict(b), golden_.logits),
          within_.tensors);
    if (!is_lacking(golden_.greedy.size() <= golden_.prompt, "greedy")) compare_greedy(*once);
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
    auto machine = make(model_.build(), rule);
    parameter_store& to = machine->run().parameters();
    for (std::size_t k = 0; k < model_.numbers.size(); ++k)
      std::copy(model_.numbers[k].begin(), model_.numbers[k].end(), to[k].begin());
    return machine;
  }
  /// If each token is the argmax after the tokens of the reference before it, the continuations are
  /// equal. So one forward pass tells, with the same sequence in each place of the batch.
  template <class Machine>
  void compare_greedy(Machine& machine) {
    const std::size_t length = golden_.greedy.size(),
                      vocabulary = static_cast<std::size_t>(model_.of.width(model_.of.logits())),
                      copies = static_cast<std::size_t>(golden_.inputs().sequences);
    std::vector<std::vector<i32>> place;
    const std::vector<f32> out = machine.predict(golden_.greedy_inputs(place));
    const bool fits = out.size() == copies * length * vocabulary;
    for (std::size_t t = golden_.prompt; t < length; ++t) {
      bool same = fits;
      for (std::size_t first = 0; same && first < copies * length; first += length)
        same = argmax_as_written(std::span(out).subspan((first + t - 1) * vocabulary, vocabulary),
                                 golden_.greedy[t]) == golden_.greedy[t];
      add(kind::greedy, fmt::format("token {}", t), same ? 0 : 1, 0);
    }
  }
  /// The argmax of the logits as the reference takes it: without the tokens that it never writes, unless it
  /// has written one of them here.
  i32 argmax_as_written(std::span<const f32> logits, i32 expected) const;
  void compare_gradients(const weights& ours);
  /// By what the error of a gradient is measured: its largest element, unless that is zero but for rounding.
  f64 size_of(const hugging_face::tensor& t, const std::vector<f32>& right,
              const std::vector<hugging_face::tensor>& all);

  golden_model model_;
  golden_state& golden_;
  golden_tolerances within_;
  golden_comparison result_;
};

}  // namespace detail

/// Compares a model in training with a golden state. `make(network, optimizer)` returns a pointer to what
/// trains, which has predict(batch), step(batch, rate) and run(), its trainer_base; it is called twice.
/// Throws file_error if the files do not have the shapes of the model.
template <class Model, class Make>
golden_comparison compare_with_golden(basic_pretrained<Model>& p, golden_state& g, Make make,
                                      const golden_tolerances& within = {}) {
  network n = p.config.build();
  weights w = p.to_weights(n);
  const auto to_tensors = [&p](const network& of, const weights& numbers) {
    return hugging_face_tensors(p.model_type(), p.config, of, numbers);
  };
  return detail::golden_comparer({[&p] { return p.config.build(); }, to_tensors, std::move(n), std::move(w)},
                                 g, within)(make);
}

/// The same for a model with the adapters in a folder of peft, which alone have gradients.
template <class Model, class Make>
golden_comparison compare_with_golden(basic_pretrained<Model>& p, const std::string& adapters,
                                      golden_state& g, Make make, const golden_tolerances& within = {}) {
  const lora_settings lora = read_lora_settings(adapters);
  const auto build = [&] { return p.config.build(adapters_of(lora, p.model_type(), p.config)); };
  network n = build();
  weights w = p.to_weights(n, weights(n));
  read_adapters(adapters, lora, p.model_type(), p.config, n, w);
  const auto to_tensors = [&](const network& of, const weights& numbers) {
    return adapter_tensors_of(lora, p.model_type(), p.config, of, numbers);
  };
  return detail::golden_comparer({build, to_tensors, std::move(n), std::move(w)}, g, within)(make);
}

/// The same for a decoder that learns from preferences, compared with a reference, whose log-probabilities
/// are computed and compared first. `how` is what the golden state has been made with.
template <class Make>
golden_comparison compare_with_golden(pretrained& policy, pretrained& reference, golden_state& g,
                                      const preference_loss_settings& how, Make make,
                                      const golden_tolerances& within = {}) {
  using kind = golden_difference::kind;
  golden_comparison all;
  const preference_model before{reference.config, how}, learns{policy.config, how};
  {
    const network n = before.log_probabilities();
    const weights w = reference.to_weights(n);
    const auto machine = make(before.log_probabilities(), optimizer::sgd());
    machine->run().parameters() = w;
    std::vector<f32> found = machine->predict(without_reference(n, g.inputs()));
    all.all.push_back({kind::log_probs, "reference", relative_error(found, g.reference), within.tensors});
    g.reference = std::move(found);
  }
  network n = learns.build();
  weights w = policy.to_weights(n);
  const auto to_tensors = [&policy](const network& of, const weights& numbers) {
    return hugging_face_tensors(policy.model_type(), policy.config, of, numbers);
  };
  golden_comparison rest = detail::golden_comparer({[&learns] { return learns.build(); }, to_tensors,
                                                    std::move(n), std::move(w), kind::log_probs, "policy"},
                                                   g, within)(make);
  all.all.insert(all.all.end(), rest.all.begin(), rest.all.end());
  all.left_out = std::move(rest.left_out);
  return all;
}

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "golden_state/compare.hpp"
#endif
