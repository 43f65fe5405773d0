// SPDX-License-Identifier: MIT
// A model as it runs: values, parameters and the stages between them, in the order in which they run. The
// functions add a stage and return the number of its value; what does not fit is refused by a sentence that
// names the stages and the shapes. Models are written with sequence.hpp and decoder.hpp, which build this.
#pragma once
#include <fnmatch.h>

#include <memory>
#include <stdexcept>

#include "../layer/attention.hpp"
#include "../layer/dropout.hpp"
#include "../layer/embedding.hpp"
#include "../layer/linear.hpp"
#include "../layer/position.hpp"
#include "../layer/simple.hpp"

namespace wsl::ml {

namespace detail {

[[noreturn]] inline void shapes_do_not_fit(const std::string& what) {
  throw std::invalid_argument("wsl: " + what);
}

}  // namespace detail

class network {
 public:
  /// A value that the host gives with every step: `width` features of each token, or row.
  int input(const std::string& name, int width) { return input_ = new_value(name, width); }

  /// Row ids[t] of a table of tokens, plus, if there are positions, the row of the token's place in its
  /// sequence.
  int embedding(const std::string& name, int vocabulary, int positions, int width,
                initial start = initial::normal(0.02f)) {
    vocabulary_ = vocabulary, positions_ = positions;
    const int y = new_value(name, width);
    stage& s = add(name, std::make_unique<embedding_stage>(y), {}, y);
    s.parameters.push_back(new_parameter({name + ".tokens", vocabulary, width, start}));
    if (positions) s.parameters.push_back(new_parameter({name + ".positions", positions, width, start}));
    return y;
  }
  int linear(const std::string& name, int x, int outputs, bool bias, initial start) {
    const int y = new_value(name, outputs);
    stage& s = add(name, std::make_unique<linear_stage>(x, y, bias, x == input_), {x}, y);
    if (bias) s.parameters.push_back(new_parameter({name + ".bias", 1, outputs, initial::constant(0)}));
    s.parameters.push_back(new_parameter({name + ".weight", outputs, width(x), start}));
    return y;
  }
  /// y = x table^T with a parameter that another stage has, too.
  int tied_linear(const std::string& name, int x, int table) {
    const parameter& p = parameters_.at(static_cast<std::size_t>(table));
    if (p.columns != width(x))
      detail::shapes_do_not_fit(
          "these two layers do not fit: the second takes another number of features than the first gives: " +
          of(x) + ", and " + name + " takes the " + std::to_string(p.columns) + " of " + p.name);
    const int y = new_value(name, p.rows);
    add(name, std::make_unique<linear_stage>(x, y, false, x == input_), {x}, y).parameters.push_back(table);
    return y;
  }
  /// Layernorm with or without a bias, or rmsnorm.
  int norm(const std::string& name, int x, f32 epsilon, bool centred = true, bool bias = true) {
    const int y = new_value(name, width(x));
    stage& s = add(name, std::make_unique<norm_stage>(x, y, centred, epsilon), {x}, y);
    s.parameters.push_back(new_parameter({name + ".gain", 1, width(x), initial::constant(1)}));
    if (bias && centred)
      s.parameters.push_back(new_parameter({name + ".bias", 1, width(x), initial::constant(0)}));
    return y;
  }
  /// Causal attention; qkv has queries, keys and values side by side.
  int attention(const std::string& name, int qkv, const attention_heads& heads) {
    const int head = head_width(name, qkv, heads), y = new_value(name, heads.queries * head);
    check_probability(name, heads.dropout);
    add(name, std::make_unique<attention_stage>(qkv, y, heads), {qkv}, y);
    return y;
  }
  /// Queries and keys turn with their position, the first `features` of each head, or with 0 all of them.
  int rotary(const std::string& name, int qkv, const attention_heads& heads, int positions, int features = 0,
             f64 base = 10000, pairs which = pairs::neighbours) {
    const int head = head_width(name, qkv, heads), turned = features ? features : head;
    if (turned < 2 || turned > head || turned % 2)
      detail::shapes_do_not_fit(name + " turns " + std::to_string(turned) + " of the " +
                                std::to_string(head) + " features of a head: an even number of at least 2");
    positions_ = positions;
    const int y = new_value(name, width(qkv));
    add(name,
        std::make_unique<rotary_stage>(qkv, y, heads.queries + heads.groups(), head,
                                       rotation(positions, turned, base, which)),
        {qkv}, y);
    return y;
  }
  /// x plus a fixed wave for each position.
  int fixed_positions(const std::string& name, int x, int positions) {
    positions_ = positions;
    const int y = new_value(name, width(x));
    add(name, std::make_unique<waves_stage>(x, y, positions, width(x)), {x}, y);
    return y;
  }
  /// x, in training without some of its numbers; with probability 0 no stage at all.
  int dropout(const std::string& name, int x, f32 probability) {
    check_probability(name, probability);
    if (probability == 0) return x;
    const int y = new_value(name, width(x));
    add(name, std::make_unique<dropout_stage>(x, y, probability), {x}, y);
    return y;
  }
  template <class F>
  int activation(const std::string& name, int x) {
    const int y = new_value(name, width(x));
    add(name, std::make_unique<activation_stage<F>>(x, y), {x}, y);
    return y;
  }
  template <class F>
  int gate(const std::string& name, int x, int by) {
    same_width(name, x, by);
    const int y = new_value(name, width(x));
    add(name, std::make_unique<gate_stage<F>>(x, by, y), {x, by}, y);
    return y;
  }
  int sum(const std::string& name, int a, int b) {
    same_width(name, a, b);
    const int y = new_value(name, width(a));
    add(name, std::make_unique<sum_stage>(a, b, y), {a, b}, y);
    return y;
  }
  void cross_entropy(const std::string& name, int logits) {
    logits_ = logits;
    add(name, std::make_unique<cross_entropy_stage>(logits), {logits}, logits);
  }

  /// The learning rate of all parameters whose names match one of the patterns (as of files: "layer *
  /// qkv.weight") is that of the step times a factor, and so is their decay: ScalePerParamLR of the Cerebras
  /// Model Zoo (1.9.1, optim/lr_scheduler.py), with which muP lets layers of any width learn equally fast.
  /// Returns how many there are. Throws std::invalid_argument if there is none, if one has a factor already,
  /// and for a factor that is negative or no number.
  int scale_rates(const std::vector<std::string>& patterns, f32 factor) {
    if (!(factor >= 0) || std::isinf(factor))
      throw std::invalid_argument("wsl: a factor of a learning rate is a number of at least 0, not " +
                                  std::to_string(factor));
    int found = 0;
    for (parameter& p : parameters_) {
      if (std::none_of(patterns.begin(), patterns.end(),
                       [&](const std::string& x) { return ::fnmatch(x.c_str(), p.name.c_str(), 0) == 0; }))
        continue;
      if (p.rate_factor != 1)
        throw std::invalid_argument("wsl: the learning rate of " + p.name + " has two factors, " +
                                    std::to_string(p.rate_factor) + " and " + std::to_string(factor));
      p.rate_factor = factor, ++found;
    }
    if (!found)
      throw std::invalid_argument("wsl: a factor of the learning rate is for no parameter: none is called " +
                                  (patterns.empty() ? "nothing" : patterns.front()) + "; the first is " +
                                  (parameters_.empty() ? "missing, too" : parameters_.front().name));
    return found;
  }

  int width(int value) const { return widths_.at(static_cast<std::size_t>(value)); }
  const std::vector<int>& widths() const { return widths_; }
  const std::vector<parameter>& parameters() const { return parameters_; }
  const std::vector<std::unique_ptr<stage>>& stages() const { return stages_; }
  int logits() const { return logits_; }
  /// The value that the host gives; -1 of a model that begins with an embedding.
  int input() const { return input_; }
  /// Of the embedding: its tokens, and how long a sequence may be, 0 for any; 0 tokens without an embedding.
  int vocabulary() const { return vocabulary_; }
  int positions() const { return positions_; }
  i64 parameter_count() const {
    i64 n = 0;
    for (const parameter& p : parameters_) n += p.size();
    return n;
  }

 private:
  int new_value(const std::string& name, int width) {
    if (width < 1) detail::shapes_do_not_fit(name + " has " + std::to_string(width) + " features");
    widths_.push_back(width), names_.push_back(name);
    return static_cast<int>(widths_.size()) - 1;
  }
  int new_parameter(parameter p) {
    if (p.rows < 1) detail::shapes_do_not_fit(p.name + " has " + std::to_string(p.rows) + " rows");
    parameters_.push_back(std::move(p));
    return static_cast<int>(parameters_.size()) - 1;
  }
  stage& add(const std::string& name, std::unique_ptr<stage> s, std::vector<int> inputs, int output) {
    s->name = name, s->number = static_cast<int>(stages_.size()), s->inputs = std::move(inputs),
    s->output = output;
    return *stages_.emplace_back(std::move(s));
  }
  /// Features of one head of queries, keys and values.
  int head_width(const std::string& name, int qkv, const attention_heads& h) const {
    const int parts = h.queries + 2 * h.groups();
    if (h.queries >= 1 && h.keys >= 0 && h.queries % h.groups() == 0 && width(qkv) % parts == 0)
      return width(qkv) / parts;
    detail::shapes_do_not_fit("heads must divide the features, and heads of keys those of queries: " + name +
                              " shares out the " + of(qkv) + " to " + std::to_string(h.queries) +
                              " heads of queries, " + std::to_string(h.groups()) + " of keys and " +
                              std::to_string(h.groups()) + " of values");
  }
  static void check_probability(const std::string& name, f32 p) {
    if (!(p >= 0 && p < 1))
      detail::shapes_do_not_fit(name + " drops with a probability of at least 0 and below 1, not " +
                                std::to_string(p));
  }
  std::string of(int value) const {
    return std::to_string(width(value)) + " features of " + names_.at(static_cast<std::size_t>(value));
  }
  void same_width(const std::string& name, int a, int b) const {
    if (width(a) != width(b))
      detail::shapes_do_not_fit("what is joined must have equally many features on both sides: " + name +
                                " joins " + of(a) + " with " + of(b));
  }

  std::vector<int> widths_;
  std::vector<std::string> names_;
  std::vector<parameter> parameters_;
  std::vector<std::unique_ptr<stage>> stages_;
  int input_ = -1, logits_ = -1, vocabulary_ = 0, positions_ = 0;
};

/// How many rows of a parameter come by at a time, where `servers` share it out: no more than a cache holds,
/// whole vectors of outputs, and as many for each server.
inline int slab_rows(const parameter& p, int servers) {
  constexpr i64 words = 32768, lanes = 16;
  const i64 least = (p.size() + words - 1) / words, weight_tiles = (least + servers - 1) / servers * servers;
  const i64 rows = (p.rows + weight_tiles - 1) / weight_tiles;
  return static_cast<int>(std::min<i64>(p.rows, (rows + lanes - 1) / lanes * lanes));
}

}  // namespace wsl::ml
