// SPDX-License-Identifier: MIT
// A network is a model as it runs: values, parameters, and the stages between them in the order in which they
// run. Each function adds a stage and returns the index of its output value; `add` takes a stage of the
// user's. Shapes that do not fit throw std::invalid_argument that names the stages and the shapes. Models are
// written with sequence.hpp and decoder.hpp, which build networks, or with these functions.
#pragma once
#include <fmt/format.h>
#include <fnmatch.h>

#include <concepts>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "../layer/attention.hpp"
#include "../layer/balance.hpp"
#include "../layer/dropout.hpp"
#include "../layer/embedding.hpp"
#include "../layer/linear.hpp"
#include "../layer/loss.hpp"
#include "../layer/mixture.hpp"
#include "../layer/pool.hpp"
#include "../layer/position.hpp"
#include "../layer/simple.hpp"

namespace wsl::ml {

/// The origin of a value: stages compute it, or the host gives it with every batch, for all stages or for the
/// losses alone.
enum class origin : u8 { computed, input, target };

/// An axis of tokens: how many a sequence of the batch has there. The first axis of every model has
/// batch::length of them. The text that a decoder writes is another one than the text that an encoder reads,
/// and what is said about a whole sequence has an axis of one token.
struct token_axis {
  std::string name;
  int length = 0;     ///< the tokens of a sequence; 0: as many as the batch has numbers for
  int positions = 0;  ///< of the longest sequence; 0: any
};

/// A value has some numbers for each token.
struct value_info {
  std::string name;
  shape each;  ///< of a token
  origin from = origin::computed;
  int ids_below = 0;                ///< its numbers are ids or classes below this, not features; 0: features
  int axis = 0;                     ///< of its tokens
  std::optional<i32> ignored = {};  ///< an id that may be there all the same
  bool is_optional = false;         ///< a batch may have none of its numbers

  bool is_ids() const { return ids_below > 0; }
  int width() const { return static_cast<int>(each.size()); }
};

/// A value that a stage reads, and the shape that it must have, unless the stage takes any.
struct stage_input {
  int value;
  std::optional<shape> takes = {};

  stage_input(int v) : value(v) {}
  stage_input(int v, const shape& s) : value(v), takes(s) {}
};

class network {
 public:
  network() = default;
  network(network&&) = default;
  network& operator=(network&&) = default;
  /// It owns its stages: a function that takes a network takes it with std::move, or makes its own.
  network(const network&) = delete;
  network& operator=(const network&) = delete;

  /// Another axis of tokens. Sequences have `length` tokens there, or as many as each batch has numbers for.
  int axis(const std::string& name, int length = 0) {
    if (length < 0)
      throw std::invalid_argument(
          fmt::format("wsl: a sequence has at least 1 token of {}, or 0 for as many as the batch has, not {}",
                      name, length));
    axes_.push_back({name, length});
    return static_cast<int>(axes_.size()) - 1;
  }
  /// Features that the host gives with every step: `each` is their shape for a token of the axis.
  int input(const std::string& name, const shape& each, int axis = 0) {
    return new_host_value({name, each, origin::input, 0, existing(axis)});
  }
  /// Ids below `end` that the host gives, for embeddings: one for each token, or a shape of them.
  int ids(const std::string& name, int end, const shape& each = 1, int axis = 0) {
    return new_host_value({name, each, origin::input, at_least_one(name, end), existing(axis)});
  }
  /// Numbers, or classes below `end`, that only losses read. A batch that is only predicted has none.
  int target(const std::string& name, const shape& each, int axis = 0) {
    return new_host_value({name, each, origin::target, 0, existing(axis)});
  }
  /// The same for ids that a batch may leave out, such as a mask of tokens.
  int optional_ids(const std::string& name, int end, const shape& each = 1, int axis = 0) {
    const int v = ids(name, end, each, axis);
    values_.back().is_optional = true;
    return v;
  }
  int classes(const std::string& name, int end, const shape& each = 1, int axis = 0) {
    return new_host_value({name, each, origin::target, at_least_one(name, end), existing(axis)});
  }

  /// Adds a stage that reads `inputs`, in this order, and returns the value that it writes, whose shape for a
  /// token is `output`. The parameters are those of the stage, whose tiles come in this order; their names
  /// get the stage's before them ("conv 1.weight"). The output has the axis of tokens of the inputs. A stage
  /// that needs whole sequences may read values of several axes, or write one of another: `axis` says which.
  /// Throws std::invalid_argument for an input of another shape than the stage takes, for shapes without
  /// numbers, and for inputs of several axes that the stage does not take.
  int add(const std::string& name, std::unique_ptr<stage> s, const std::vector<stage_input>& inputs,
          const shape& output, std::vector<parameter> parameters = {}, std::optional<int> axis = {}) {
    for (const stage_input& x : inputs) {
      require_shape(name, x);
      if (info(x.value).from == origin::target)
        throw std::invalid_argument(
            fmt::format("wsl: {} reads {}, which is for losses only", name, info(x.value).name));
    }
    const int of = axis ? existing(*axis) : inputs.empty() ? 0 : info(inputs[0].value).axis;
    require_axis(name, *s, inputs, of);
    const int y = new_value({name, output, origin::computed, 0, of});
    s->output = y;
    stage& added = append(name, std::move(s), inputs);
    for (parameter& p : parameters) {
      p.name = name + "." + p.name;
      added.parameters.push_back(new_parameter(std::move(p)));
    }
    return y;
  }
  template <std::derived_from<stage> Stage>
  int add(const std::string& name, Stage s, const std::vector<stage_input>& inputs, const shape& output,
          std::vector<parameter> parameters = {}, std::optional<int> axis = {}) {
    return add(name, std::make_unique<Stage>(std::move(s)), inputs, output, std::move(parameters), axis);
  }
  /// Adds a loss. Its first input is what the model predicts, unless `predicts` has said it before. The mask
  /// is a value of one number for each token, or -1 for the batch's mask.
  template <std::derived_from<loss_stage> Loss>
  void loss(const std::string& name, Loss of, const std::vector<stage_input>& inputs, int mask = -1,
            f32 factor = 1) {
    if (inputs.empty()) throw std::invalid_argument(fmt::format("wsl: the loss {} reads no value", name));
    if (!std::isfinite(factor))
      throw std::invalid_argument(fmt::format("wsl: the loss {} has a finite factor, not {}", name, factor));
    if (mask >= 0 && info(mask).from == origin::computed)
      throw std::invalid_argument(fmt::format(
          "wsl: the mask of the loss {} comes with the batch, but {} is computed", name, info(mask).name));
    for (const stage_input& x : inputs) require_shape(name, x);
    std::vector<stage_input> all = inputs;
    if (mask >= 0) require_shape(name, all.emplace_back(mask, shape(1)));
    require_axis(name, of, all, info(inputs[0].value).axis);
    of.which = static_cast<int>(losses_.size()), of.mask = mask, of.factor = factor;
    of.first_statistic = statistics();
    of.output = inputs[0].value;
    for (const stage_input& x : all)
      if (info(x.value).from == origin::target) of.targets.push_back(x.value);
    if (logits_ < 0) logits_ = inputs[0].value;
    auto kept = std::make_unique<Loss>(std::move(of));
    const loss_stage* const added = kept.get();
    append(name, std::move(kept), all);
    losses_.push_back(added);
  }
  /// Says which value is the model's output, which trainers return as logits.
  void predicts(int value) { logits_ = info(value).is_ids() ? -1 : value; }

  /// Row ids[t] of a table of tokens, (vocabulary, width), plus the row of the token's position of a table
  /// (positions, width), unless `positions` is 0. The ids are the input "ids".
  /// The first `unused` rows of the table of positions belong to no token.
  int embedding(const std::string& name, int vocabulary, int positions, int width,
                initial start = initial::normal(0.02f), int unused = 0) {
    return embedding_of(name, common_ids(name, vocabulary), positions, width, start, unused);
  }
  /// The same for ids that `ids` has made.
  int embedding_of(const std::string& name, int ids, int positions, int width,
                   initial start = initial::normal(0.02f), int unused = 0) {
    const value_info& x = info(ids);
    if (!x.is_ids() || x.each != shape(1))
      throw std::invalid_argument(
          fmt::format("wsl: {} looks up one id of each token, which {} are not", name, of(ids)));
    limit_positions(positions, x.axis);
    std::vector<parameter> tables{{"tokens", x.ids_below, width, start}};
    if (positions) tables.push_back({"positions", unused + positions, width, start});
    const int y = next_value();
    return add(name, std::make_unique<embedding_stage>(y, unused), {ids}, width, std::move(tables));
  }
  int linear(const std::string& name, int x, int outputs, bool bias, initial start) {
    std::vector<parameter> parameters;
    if (bias) parameters.push_back({"bias", 1, outputs, initial::constant(0)});
    parameters.push_back({"weight", outputs, width(x), start});
    return add(name, std::make_unique<linear_stage>(x, next_value(), bias), {x}, outputs,
               std::move(parameters));
  }
  /// y = x table^T, with a table that is a parameter of another stage, too.
  int tied_linear(const std::string& name, int x, int table) {
    const parameter& p = parameters_.at(static_cast<std::size_t>(table));
    if (p.columns != width(x))
      throw std::invalid_argument(
          fmt::format("wsl: these two layers do not fit: the second takes another number of features than "
                      "the first gives: {}, and {} takes the {} of {}",
                      of(x), name, p.columns, p.name));
    const int y = add(name, std::make_unique<linear_stage>(x, next_value(), false), {x}, p.rows);
    stages_[stage_count() - 1]->parameters.push_back(table);
    return y;
  }
  /// Layernorm with or without a bias, or rmsnorm, over all features of a token.
  int norm(const std::string& name, int x, f32 epsilon, bool centred = true, bool bias = true) {
    std::vector<parameter> parameters{{"gain", 1, width(x), initial::constant(1)}};
    if (bias && centred) parameters.push_back({"bias", 1, width(x), initial::constant(0)});
    return add(name, std::make_unique<norm_stage>(x, next_value(), centred, epsilon), {x}, shape_of(x),
               std::move(parameters));
  }
  /// Attention of each sequence to itself. qkv has queries, keys and values side by side. The mask, if there
  /// is one, is a value of ids, one for each token; a token with 0 is not seen.
  int attention(const std::string& name, int qkv, const attention_heads& heads, int mask = -1) {
    return attention(name, {qkv}, heads, head_width(name, qkv, heads), mask);
  }
  /// Attention of the tokens of `queries` to those of `kv`, which has keys and values side by side, of the
  /// same sequence. They may have different axes of tokens; the mask has that of kv.
  int cross_attention(const std::string& name, int queries, int kv, const attention_heads& heads,
                      int mask = -1) {
    if (heads.queries < 1 || width(queries) % heads.queries || heads.keys < 0 ||
        heads.queries % heads.groups() ||
        i64{width(kv)} * heads.queries != 2 * i64{width(queries)} * heads.groups())
      throw std::invalid_argument(fmt::format(
          "wsl: heads must divide the features, and heads of keys those of queries: {} shares out the {} to "
          "{} heads of queries, and the {} to {} heads of keys and of values",
          name, of(queries), heads.queries, of(kv), heads.groups()));
    if (heads.causal || heads.alibi)
      throw std::invalid_argument(fmt::format(
          "wsl: {} compares positions in two sequences: cross-attention is not causal and has no ALiBi",
          name));
    return attention(name, {queries, kv}, heads, width(queries) / heads.queries, mask);
  }
  /// Rotates queries and keys by their position: the first `features` features of each head, or all if it is
  /// 0.
  int rotary(const std::string& name, int qkv, const attention_heads& heads, int positions, int features = 0,
             f64 base = 10000, pairs which = pairs::neighbours, const rotary_scaling& scaling = {}) {
    const int head = head_width(name, qkv, heads), turned = features ? features : head;
    if (turned < 2 || turned > head || turned % 2)
      throw std::invalid_argument(fmt::format(
          "wsl: {} turns {} of the {} features of a head: an even number of at least 2", name, turned, head));
    limit_positions(positions, info(qkv).axis);
    return add(name,
               std::make_unique<rotary_stage>(qkv, next_value(), heads, head,
                                              rotation(positions, turned, base, which, scaling)),
               {qkv}, shape_of(qkv));
  }
  /// x plus fixed sinusoids of each position.
  int fixed_positions(const std::string& name, int x, int positions) {
    limit_positions(positions, info(x).axis);
    return add(name, std::make_unique<sinusoid_stage>(x, next_value(), positions, width(x)), {x},
               shape_of(x));
  }
  /// x with dropout in training. With probability 0 no stage is added.
  int dropout(const std::string& name, int x, f32 probability) {
    check_probability(name, probability);
    if (probability == 0) return x;
    return add(name, std::make_unique<dropout_stage>(x, next_value(), probability), {x}, shape_of(x));
  }
  /// factor x. With factor 1 no stage is added.
  int scale(const std::string& name, int x, f32 factor) {
    if (factor == 1) return x;
    return add(name, std::make_unique<scale_stage>(x, next_value(), factor), {x}, shape_of(x));
  }
  template <class F>
  int activation(const std::string& name, int x) {
    return add(name, std::make_unique<activation_stage<F>>(x, next_value()), {x}, shape_of(x));
  }
  template <class F>
  int gate(const std::string& name, int x, int by) {
    same_width(name, x, by);
    return add(name, std::make_unique<gate_stage<F>>(x, by, next_value()), {x, by}, shape_of(x));
  }
  /// The weights with which each token goes to `count` experts: the softmax over its largest scores.
  int routes(const std::string& name, int scores, int count) {
    if (count < 1 || count > width(scores))
      throw std::invalid_argument(fmt::format("wsl: {} sends each token to {} experts: from 1 to all {}",
                                              name, count, width(scores)));
    return add(name, std::make_unique<route_stage>(scores, next_value(), count), {scores}, shape_of(scores));
  }
  /// The sum of the experts' outputs by these weights.
  int mixture(const std::string& name, int routes, const std::vector<int>& experts) {
    if (experts.size() != static_cast<std::size_t>(width(routes)))
      throw std::invalid_argument(
          fmt::format("wsl: {} mixes {} experts by the {}", name, experts.size(), of(routes)));
    std::vector<stage_input> inputs{routes};
    for (const int x : experts) same_width(name, experts[0], x), inputs.emplace_back(x);
    return add(name, std::make_unique<mixture_stage>(routes, experts, next_value()), inputs,
               shape_of(experts[0]));
  }
  /// The loss that keeps the experts equally busy to whom routes send tokens by these scores, layer by layer.
  void balance(const std::string& name, const std::vector<int>& scores, int count, f32 factor) {
    if (scores.empty()) throw std::invalid_argument(fmt::format("wsl: {} balances no experts", name));
    const int experts = width(scores[0]);
    if (count < 1 || count > experts)
      throw std::invalid_argument(
          fmt::format("wsl: {} sends each token to {} experts: from 1 to all {}", name, count, experts));
    for (const int x : scores) same_width(name, scores[0], x);
    loss(name, balance_stage(experts, count), {scores.begin(), scores.end()}, -1, factor);
  }
  /// The first token of each sequence of x, as the only token of an axis of its own (axis_of_sequences).
  int first_token(const std::string& name, int x) {
    return add(name, std::make_unique<first_token_stage>(), {x}, shape_of(x), {}, axis_of_sequences());
  }
  /// The axis of what is said about a sequence as a whole: one token for each.
  int axis_of_sequences() {
    for (std::size_t k = 1; k < axes_.size(); ++k)
      if (axes_[k].length == 1) return static_cast<int>(k);
    return axis("sequences", 1);
  }
  int sum(const std::string& name, int a, int b) {
    same_width(name, a, b);
    return add(name, std::make_unique<sum_stage>(a, b, next_value()), {a, b}, shape_of(a));
  }

  /// The cross-entropy of logits, whose last axis are the classes.
  void cross_entropy(const std::string& name, int logits, const cross_entropy_settings& how = {}) {
    const shape each = shape_of(logits);
    const int count = each.last(), positions = width(logits) / count;
    const int right =
        how.targets >= 0 ? how.targets : classes("targets", count, positions, info(logits).axis);
    value_info& targets = values_.at(static_cast<std::size_t>(right));
    if (targets.ids_below != count || targets.width() != positions)
      throw std::invalid_argument(fmt::format(
          "wsl: {} has {}, of which the last axis are classes; it takes {} classes below {}, not {}", name,
          of(logits), positions, count, of(right)));
    targets.ignored = how.ignore_index;
    loss(name, cross_entropy_stage(count, how), {logits, right}, how.mask, how.factor);
  }
  /// The binary cross-entropy of logits and targets of the same shape, which are 0, 1 or between.
  void binary_cross_entropy(const std::string& name, int logits, const loss_settings& how = {}) {
    elementwise<binary_cross_entropy_of_logit>(name, logits, how);
  }
  void mean_squared_error(const std::string& name, int x, const loss_settings& how = {}) {
    elementwise<squared_error>(name, x, how);
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

  int width(int value) const { return info(value).width(); }
  const shape& shape_of(int value) const { return info(value).each; }
  /// Throws std::invalid_argument for a value that the model does not have.
  const value_info& info(int value) const {
    if (value < 0 || value >= next_value())
      throw std::invalid_argument(
          fmt::format("wsl: there is no value {}: the model has {} values so far", value, next_value()));
    return values_[static_cast<std::size_t>(value)];
  }
  const std::vector<value_info>& values() const { return values_; }
  /// The features of each value as a PE keeps them; 0 for ids, which the host keeps.
  const std::vector<int>& widths() const { return widths_; }
  const std::vector<parameter>& parameters() const { return parameters_; }
  /// The stages in the order in which they run; losses come last.
  const std::vector<std::unique_ptr<stage>>& stages() const { return stages_; }
  const std::vector<const loss_stage*>& losses() const { return losses_; }
  /// The number of sums over all tokens of a batch on which losses depend (loss_stage::statistics).
  int statistics() const {
    int n = 0;
    for (const loss_stage* x : losses_) n += x->statistics();
    return n;
  }
  int logits() const { return logits_; }
  /// Whether features of this value come with the batch: they are on the first PE of a pipeline, and get no
  /// gradient.
  bool is_input(int value) const { return info(value).from == origin::input && !info(value).is_ids(); }
  /// The ids of the first input of ids are below this, 0 without one; and the length of the longest sequence,
  /// 0 for any.
  int vocabulary() const {
    for (const value_info& v : values_)
      if (v.from == origin::input && v.is_ids()) return v.ids_below;
    return 0;
  }
  int positions() const { return axes_.front().positions; }
  /// The axes of tokens; the first has batch::length tokens.
  const std::vector<token_axis>& axes() const { return axes_; }
  i64 parameter_count() const {
    i64 n = 0;
    for (const parameter& p : parameters_) n += p.size();
    return n;
  }

 private:
  int attention(const std::string& name, std::vector<stage_input> inputs, const attention_heads& heads,
                int head, int mask) {
    check_probability(name, heads.dropout);
    if (heads.window < 0 || (heads.window > 0 && !heads.causal))
      throw std::invalid_argument(fmt::format(
          "wsl: {} has a window of {} tokens: causal attention has one of at least 1, or 0 for all", name,
          heads.window));
    const bool is_cross = inputs.size() > 1;
    const int axis_of_keys = info(inputs.back().value).axis, axis = info(inputs[0].value).axis;
    if (mask >= 0) {
      if (!info(mask).is_ids() || info(mask).each != shape(1) || info(mask).axis != axis_of_keys)
        throw std::invalid_argument(
            fmt::format("wsl: the mask of {} is one id for each of {}, which {} are not", name,
                        axis_name(axis_of_keys), of(mask)));
      inputs.emplace_back(mask);
    }
    const relative_positions& r = heads.relative;
    const int least = heads.causal ? 2 : 4;
    if (r.buckets && (r.buckets < least || r.buckets % (least / 2) || r.max_distance <= r.buckets))
      throw std::invalid_argument(
          fmt::format("wsl: {} has {} buckets of distances up to {}: at least {}, an even number unless it "
                      "is causal, and "
                      "fewer than distances",
                      name, r.buckets, r.max_distance, least));
    std::vector<parameter> own;
    if (r.buckets && r.table < 0)
      own.push_back({.name = "relative",
                     .rows = r.buckets,
                     .columns = heads.queries,
                     .start = initial::normal(0.02f),
                     .undivided = true});
    const int y = add(name, std::make_unique<attention_stage>(next_value(), heads, head, is_cross, mask >= 0),
                      inputs, heads.queries * head, std::move(own), axis);
    if (r.buckets && r.table >= 0) {
      const parameter& p = parameters_.at(static_cast<std::size_t>(r.table));
      if (p.rows != r.buckets || p.columns != heads.queries || !p.undivided)
        throw std::invalid_argument(fmt::format("wsl: {} has {} buckets for {} heads, which {} is not", name,
                                                r.buckets, heads.queries, p.name));
      stages_[stage_count() - 1]->parameters.push_back(r.table);
    }
    return y;
  }
  int next_value() const { return static_cast<int>(values_.size()); }
  int new_value(value_info v) {
    for (int k = 0; k < v.each.axes(); ++k)
      if (v.each[k] < 1 || v.each.size() > largest_width)
        throw std::invalid_argument(fmt::format("wsl: {} has {} features", v.name, v.each.text()));
    widths_.push_back(v.is_ids() ? 0 : v.width());
    values_.push_back(std::move(v));
    return next_value() - 1;
  }
  /// A value that batches give is found by its name, so no two have the same.
  int new_host_value(value_info v) {
    for (const value_info& other : values_)
      if (other.from != origin::computed && other.name == v.name)
        throw std::invalid_argument(
            fmt::format("wsl: the model has two inputs or targets called {}: give each a name", v.name));
    return new_value(std::move(v));
  }
  /// The input "ids", which all embeddings without an input of their own share.
  int common_ids(const std::string& name, int vocabulary) {
    for (int v = 0; v < next_value(); ++v)
      if (value_info& x = values_[static_cast<std::size_t>(v)]; x.name == "ids" && x.from == origin::input) {
        if (x.ids_below != vocabulary)
          throw std::invalid_argument(
              fmt::format("wsl: {} has a vocabulary of {}, but the ids of the model are below {}", name,
                          vocabulary, x.ids_below));
        return v;
      }
    return ids("ids", vocabulary);
  }
  static int at_least_one(const std::string& name, int end) {
    if (end < 1)
      throw std::invalid_argument(fmt::format(
          "wsl: {} are numbers from 0 to below {}: at least one is needed, such as a vocabulary of "
          "1 or more",
          name, end));
    return end;
  }
  int new_parameter(parameter p) {
    if (p.rows < 1 || p.columns < 1)
      throw std::invalid_argument(fmt::format("wsl: {} has {} rows of {}", p.name, p.rows, p.columns));
    parameters_.push_back(std::move(p));
    return static_cast<int>(parameters_.size()) - 1;
  }
  std::size_t stage_count() const { return stages_.size() - losses_.size(); }
  /// Appends a stage, before the losses unless it is one: gradients begin at the end of the model.
  stage& append(const std::string& name, std::unique_ptr<stage> s, const std::vector<stage_input>& inputs) {
    if (!names_.insert(name).second)
      throw std::invalid_argument(fmt::format(
          "wsl: the model has two layers called {}: checkpoints and reports need a name for each", name));
    s->name = name;
    for (const stage_input& x : inputs) {
      s->inputs.push_back(x.value);
      s->given.push_back(info(x.value).from != origin::computed);
    }
    const bool is_loss = dynamic_cast<const loss_stage*>(s.get());
    const auto at = is_loss ? stages_.end() : stages_.end() - static_cast<std::ptrdiff_t>(losses_.size());
    const auto placed = stages_.insert(at, std::move(s));
    const std::size_t number = static_cast<std::size_t>(placed - stages_.begin());
    for (std::size_t k = number; k < stages_.size(); ++k) stages_[k]->number = static_cast<int>(k);
    return *stages_[number];
  }
  void require_shape(const std::string& name, const stage_input& x) const {
    if (x.value < 0 || x.value >= next_value())
      throw std::invalid_argument(fmt::format("wsl: {} reads value {}, but the model has {} values so far",
                                              name, x.value, next_value()));
    if (x.takes &&
        (info(x.value).is_ids() ? info(x.value).each != *x.takes : !fits(shape_of(x.value), *x.takes)))
      throw std::invalid_argument(
          fmt::format("wsl: {} takes {} features, but reads the {}", name, x.takes->text(), of(x.value)));
  }
  template <class Rule>
  void elementwise(const std::string& name, int x, const loss_settings& how) {
    const shape each = shape_of(x);
    const int y = how.targets >= 0 ? how.targets : target("targets", each, info(x).axis);
    if (info(y).is_ids())
      throw std::invalid_argument(
          fmt::format("wsl: {} compares with features, not with the {}", name, of(y)));
    loss(name, elementwise_loss<Rule>(), {x, {y, each}}, how.mask, how.factor);
  }
  void limit_positions(int positions, int axis) {
    int& most = axes_[static_cast<std::size_t>(axis)].positions;
    if (positions) most = most ? std::min(most, positions) : positions;
  }
  int existing(int axis) const {
    if (axis < 0 || axis >= static_cast<int>(axes_.size()))
      throw std::invalid_argument(
          fmt::format("wsl: there is no axis {}: the model has {} so far", axis, axes_.size()));
    return axis;
  }
  /// All inputs have the axis of the output, unless the stage needs whole sequences.
  void require_axis(const std::string& name, const stage& s, const std::vector<stage_input>& inputs,
                    int axis) const {
    for (const stage_input& x : inputs)
      if (info(x.value).axis != axis && !s.needs_whole_sequences())
        throw std::invalid_argument(
            fmt::format("wsl: {} is computed token by token for {}, but the {} are for {}", name,
                        axis_name(axis), of(x.value), axis_name(info(x.value).axis)));
  }
  std::string axis_name(int axis) const {
    return axis == 0 ? "the tokens of the batch" : axes_[static_cast<std::size_t>(axis)].name;
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
    const value_info& v = info(value);
    return v.is_ids() ? fmt::format("{} ids of {} below {}", v.each.text(), v.name, v.ids_below)
                      : fmt::format("{} features of {}", v.each.text(), v.name);
  }
  void same_width(const std::string& name, int a, int b) const {
    if (!fits(shape_of(a), shape_of(b)))
      throw std::invalid_argument(fmt::format(
          "wsl: what is joined must have equally many features on both sides: {} joins {} with {}", name,
          of(a), of(b)));
  }

  static constexpr i64 largest_width = 0x7fffffff;

  std::vector<value_info> values_;
  std::vector<int> widths_;
  std::vector<parameter> parameters_;
  std::vector<std::unique_ptr<stage>> stages_;
  std::set<std::string> names_;  // of the stages
  std::vector<const loss_stage*> losses_;
  std::vector<token_axis> axes_{1};
  int logits_ = -1;
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
