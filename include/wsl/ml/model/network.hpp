// SPDX-License-Identifier: MIT
// A network is a model as it runs: values, parameters, and the stages between them in the order in which they
// run. Each function adds a stage and returns the index of its output value. Shapes that do not fit throw
// std::invalid_argument that names the stages and the shapes. Models are written with sequence.hpp and
// decoder.hpp, which build networks.
#pragma once
#include <fmt/format.h>
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

class network {
 public:
  /// The value that the host gives with every step: `width` features of each token.
  int input(const std::string& name, int width) { return input_ = new_value(name, width); }

  /// Row ids[t] of a table of tokens, (vocabulary, width), plus the row of the token's position of a table
  /// (positions, width), unless `positions` is 0.
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
  /// y = x table^T, with a table that is a parameter of another stage, too.
  int tied_linear(const std::string& name, int x, int table) {
    const parameter& p = parameters_.at(static_cast<std::size_t>(table));
    if (p.columns != width(x))
      throw std::invalid_argument(
          fmt::format("wsl: these two layers do not fit: the second takes another number of features than "
                      "the first gives: {}, and {} takes the {} of {}",
                      of(x), name, p.columns, p.name));
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
  /// Causal attention. qkv has queries, keys and values side by side.
  int attention(const std::string& name, int qkv, const attention_heads& heads) {
    const int head = head_width(name, qkv, heads), y = new_value(name, heads.queries * head);
    check_probability(name, heads.dropout);
    add(name, std::make_unique<attention_stage>(qkv, y, heads, head), {qkv}, y);
    return y;
  }
  /// Rotates queries and keys by their position: the first `features` features of each head, or all if it is
  /// 0.
  int rotary(const std::string& name, int qkv, const attention_heads& heads, int positions, int features = 0,
             f64 base = 10000, pairs which = pairs::neighbours) {
    const int head = head_width(name, qkv, heads), turned = features ? features : head;
    if (turned < 2 || turned > head || turned % 2)
      throw std::invalid_argument(fmt::format(
          "wsl: {} turns {} of the {} features of a head: an even number of at least 2", name, turned, head));
    positions_ = positions;
    const int y = new_value(name, width(qkv));
    add(name, std::make_unique<rotary_stage>(qkv, y, heads, head, rotation(positions, turned, base, which)),
        {qkv}, y);
    return y;
  }
  /// x plus fixed sinusoids of each position.
  int fixed_positions(const std::string& name, int x, int positions) {
    positions_ = positions;
    const int y = new_value(name, width(x));
    add(name, std::make_unique<sinusoid_stage>(x, y, positions, width(x)), {x}, y);
    return y;
  }
  /// x with dropout in training. With probability 0 no stage is added.
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

  /// Multiplies the learning rate, and with it the decay, of all parameters whose names match one of the
  /// patterns, which are as those of files ("layer * qkv.weight"). It is ScalePerParamLR of the Cerebras
  /// Model Zoo (1.9.1, optim/lr_scheduler.py), with which muP lets layers of any width learn equally fast.
  /// Returns how many parameters match. Throws std::invalid_argument if none does, if one has a factor
  /// already, or if the factor is negative, infinite or NaN.
  int scale_rates(const std::vector<std::string>& patterns, f32 factor) {
    if (!(factor >= 0) || std::isinf(factor))
      throw std::invalid_argument(
          fmt::format("wsl: a factor of a learning rate is a number of at least 0, not {}", factor));
    int found = 0;
    for (parameter& p : parameters_) {
      if (std::none_of(patterns.begin(), patterns.end(),
                       [&](const std::string& x) { return ::fnmatch(x.c_str(), p.name.c_str(), 0) == 0; }))
        continue;
      if (p.rate_factor != 1)
        throw std::invalid_argument(fmt::format("wsl: the learning rate of {} has two factors, {} and {}",
                                                p.name, p.rate_factor, factor));
      p.rate_factor = factor, ++found;
    }
    if (!found)
      throw std::invalid_argument(fmt::format(
          "wsl: a factor of the learning rate is for no parameter: none is called {}; the first is {}",
          patterns.empty() ? "nothing" : patterns.front(),
          parameters_.empty() ? "missing, too" : parameters_.front().name));
    return found;
  }

  int width(int value) const { return widths_.at(static_cast<std::size_t>(value)); }
  const std::vector<int>& widths() const { return widths_; }
  const std::vector<parameter>& parameters() const { return parameters_; }
  const std::vector<std::unique_ptr<stage>>& stages() const { return stages_; }
  int logits() const { return logits_; }
  /// The value that the host gives; -1 for a model that begins with an embedding.
  int input() const { return input_; }
  /// The size of the vocabulary, 0 without an embedding; and the length of the longest sequence, 0 for any.
  int vocabulary() const { return vocabulary_; }
  int positions() const { return positions_; }
  i64 parameter_count() const {
    i64 n = 0;
    for (const parameter& p : parameters_) n += p.size();
    return n;
  }

 private:
  int new_value(const std::string& name, int width) {
    if (width < 1) throw std::invalid_argument(fmt::format("wsl: {} has {} features", name, width));
    widths_.push_back(width), names_.push_back(name);
    return static_cast<int>(widths_.size()) - 1;
  }
  int new_parameter(parameter p) {
    if (p.rows < 1) throw std::invalid_argument(fmt::format("wsl: {} has {} rows", p.name, p.rows));
    parameters_.push_back(std::move(p));
    return static_cast<int>(parameters_.size()) - 1;
  }
  stage& add(const std::string& name, std::unique_ptr<stage> s, std::vector<int> inputs, int output) {
    s->name = name, s->number = static_cast<int>(stages_.size()), s->inputs = std::move(inputs),
    s->output = output;
    return *stages_.emplace_back(std::move(s));
  }
  /// The features of one head.
  int head_width(const std::string& name, int qkv, const attention_heads& h) const {
    const int parts = h.queries + 2 * h.groups();
    if (h.queries >= 1 && h.keys >= 0 && h.queries % h.groups() == 0 && width(qkv) % parts == 0)
      return width(qkv) / parts;
    throw std::invalid_argument(
        fmt::format("wsl: heads must divide the features, and heads of keys those of queries: {} shares out "
                    "the {} to {} heads of queries, {} of keys and {} of values",
                    name, of(qkv), h.queries, h.groups(), h.groups()));
  }
  static void check_probability(const std::string& name, f32 p) {
    if (!(p >= 0 && p < 1))
      throw std::invalid_argument(
          fmt::format("wsl: {} drops with a probability of at least 0 and below 1, not {}", name, p));
  }
  std::string of(int value) const {
    return fmt::format("{} features of {}", width(value), names_.at(static_cast<std::size_t>(value)));
  }
  void same_width(const std::string& name, int a, int b) const {
    if (width(a) != width(b))
      throw std::invalid_argument(fmt::format(
          "wsl: what is joined must have equally many features on both sides: {} joins {} with {}", name,
          of(a), of(b)));
  }

  std::vector<int> widths_;
  std::vector<std::string> names_;
  std::vector<parameter> parameters_;
  std::vector<std::unique_ptr<stage>> stages_;
  int input_ = -1, logits_ = -1, vocabulary_ = 0, positions_ = 0;
};

/// The rows of a weight tile of `rows` rows with `size` numbers in all that are dealt out to some servers. A
/// tile fits in a cache, has whole vectors of outputs, and every server gets as many tiles.
inline int tile_rows(i64 size, int rows, int servers) {
  constexpr i64 words = 32768, lanes = 16;
  const i64 least = (size + words - 1) / words, weight_tiles = (least + servers - 1) / servers * servers;
  if (weight_tiles == 0) return 1;
  const i64 of_tile = (rows + weight_tiles - 1) / weight_tiles;
  return static_cast<int>(std::min<i64>(rows, (of_tile + lanes - 1) / lanes * lanes));
}

}  // namespace wsl::ml
