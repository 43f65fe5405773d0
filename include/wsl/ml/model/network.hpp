// SPDX-License-Identifier: MIT
// A network is a model as it runs: values, parameters, and the stages between them in the order in which they
// run. Each function adds a stage and returns the index of its output value; `add` takes a stage of the
// user's. Shapes that do not fit throw std::invalid_argument that names the stages and the shapes. Models are
// written with sequence.hpp and decoder.hpp, which build networks, or with these functions.
#pragma once
#include <fmt/format.h>

#include <concepts>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "../../support/compiled.hpp"
#include "../layer/attention.hpp"
#include "../layer/balance.hpp"
#include "../layer/batch_norm.hpp"
#include "../layer/concatenation.hpp"
#include "../layer/convolution.hpp"
#include "../layer/dropout.hpp"
#include "../layer/embedding.hpp"
#include "../layer/image_norm.hpp"
#include "../layer/linear.hpp"
#include "../layer/log_probability.hpp"
#include "../layer/loss.hpp"
#include "../layer/low_rank.hpp"
#include "../layer/mixture.hpp"
#include "../layer/pool.hpp"
#include "../layer/pooling.hpp"
#include "../layer/position.hpp"
#include "../layer/preference_loss.hpp"
#include "../layer/retrieval_loss.hpp"
#include "../layer/simple.hpp"
#include "../layer/span_loss.hpp"
#include "../layer/token_projection.hpp"

namespace wsl::ml {

/// The origin of a value: stages compute it, or the host gives it with every batch, for all stages or for the
/// losses alone.
enum class origin : u8 { computed, input, target };

/// An axis of tokens: how many a sequence of the batch has there. The first axis of every model has
/// batch::length of them. The text that a decoder writes is another one than the text that an encoder reads,
/// and what is said about a whole sequence has an axis of one token.
struct token_axis {
  std::string name;
  int length = 0;         ///< the tokens of a sequence; 0: as many as the batch has numbers for
  int positions = 0;      ///< of the longest sequence; 0: any
  image_size image = {};  ///< if the tokens are the pixels of an image, line by line
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
  bool counts_up = false;           ///< its ids count up from 0, and may begin anew within a sequence

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

/// The tables of an embedding.
struct embedding_settings {
  int positions = 0;  ///< rows of a table of positions; 0: no such table
  initial start = initial::normal(0.02f);
  int unused = 0;  ///< the first rows of the table of positions, which belong to no position
  /// An id that has no position, and the last unused row; the position of another is the number of those
  /// before it that have one (RoBERTa).
  std::optional<i32> padding = {};
  /// An id whose row gets no gradient here, and keeps its numbers unless another stage has the table as well
  /// (padding_idx of PyTorch).
  std::optional<i32> not_learnt = {};
  int table = -1;  ///< the table of tokens of another embedding, a parameter; -1: one of its own
  int where = -1;  ///< a value of network::position_ids; -1: tokens are counted from the sequence's first
};

/// Linear layers with adapters: those whose names match a pattern, as in "layer * qkv". Each of the parts,
/// which are some of a layer's outputs, gets an adapter of its own; without parts all outputs together have
/// one. Several of these may be for one layer, if no output is in two of them.
struct adapted_layers {
  std::string pattern;
  std::vector<feature_run> parts = {};
  std::optional<int> rank = {};   ///< of these adapters; none: that of the settings
  std::optional<f32> alpha = {};  ///< the same
};
/// Low-rank adapters (LoRA, arXiv 2106.09685): y = x W^T becomes x W^T + alpha / rank (x A^T) B^T, with A
/// (rank, inputs), which begins as a linear layer of PyTorch does, and B (outputs, rank), which begins as 0.
/// The names of both are the layer's with " lora_A.weight" and " lora_B.weight"; where several adapted_layers
/// are for one layer, the names of all but the first have the number of their first output before that.
struct adapter_settings {
  int rank = 8;
  f32 alpha = 8;
  f32 dropout = 0;  ///< of what the adapters read
  std::vector<adapted_layers> layers = {};
};
/// The adapter of a layer, or of some of its outputs.
struct adapter {
  static constexpr const char* end_of_name = " lora_A.weight";  ///< with which the name of A ends

  std::string layer;
  int weight, a, b;                ///< the parameters W, A and B by their numbers
  std::vector<feature_run> parts;  ///< rows k rank to before (k + 1) rank of A are those of part k
  f32 factor;                      ///< alpha / rank
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
  int axis(const std::string& name, int length = 0);
  /// The axis of the pixels of images of this size. The images of a network that have one size share an axis,
  /// so that branches that meet again fit.
  int image(int height, int width);
  /// The tokens of the batch, axis 0, are the pixels of images of this size, line by line: batch::length is
  /// their number.
  void tokens_are_pixels(int height, int width);
  /// The size of the images of which a value has pixels. Throws std::invalid_argument if it has none.
  image_size image_of(int value) const;
  /// Features that the host gives with every step: `each` is their shape for a token of the axis.
  int input(const std::string& name, const shape& each, int axis = 0) {
    return new_host_value({name, each, origin::input, 0, existing(axis)});
  }
  /// Ids below `end` that the host gives, for embeddings: one for each token, or a shape of them.
  int ids(const std::string& name, int end, const shape& each = 1, int axis = 0) {
    return new_host_value({name, each, origin::input, at_least_one(name, end), existing(axis)});
  }
  /// Ids below `end` that a batch may leave out, such as a mask of tokens (`end` 2): one for each token of
  /// the axis, or a shape of them.
  int optional_ids(const std::string& name, int end, const shape& each = 1, int axis = 0) {
    const int v = ids(name, end, each, axis);
    values_.back().is_optional = true;
    return v;
  }
  /// The position of each token in its document, where several documents may be packed in a sequence: they
  /// count up from 0 and begin anew with each. A batch without them has a document in each sequence.
  int position_ids(const std::string& name, int positions, int axis = 0) {
    const int v = optional_ids(name, positions, 1, axis);
    values_.back().counts_up = true;
    return v;
  }
  /// Numbers, or classes below `end`, that only losses read. A batch that is only predicted has none.
  int target(const std::string& name, const shape& each, int axis = 0) {
    return new_host_value({name, each, origin::target, 0, existing(axis)});
  }
  int classes(const std::string& name, int end, const shape& each = 1, int axis = 0) {
    return new_host_value({name, each, origin::target, at_least_one(name, end), existing(axis)});
  }

  /// Adds a stage that reads `inputs`, in this order, and returns the value that it writes, whose shape for a
  /// token is `output`. The parameters are those of the stage, whose tiles come in this order; their names
  /// get the stage's before them ("conv 1.weight"). The output has the axis of tokens of the inputs. A stage
  /// that needs whole sequences may read values of several axes, or write one of another: `axis` says which.
  /// Throws std::invalid_argument for an input of another shape than the stage takes, for shapes without
  /// numbers, for inputs of several axes that the stage does not take, and for parameters or a prefix that do
  /// not fit the stage's cut.
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
    require_cut_of_parameters(name, *s, output, parameters);
    require_groups_of_prefix(name, *s);
    const int y = new_value({name, output, origin::computed, 0, of});
    s->output = y;
    stage& added = append(name, std::move(s), inputs);
    for (parameter& p : parameters) {
      p.name = name + "." + p.name;
      added.parameters.push_back(new_parameter(std::move(p)));
    }
    find_gradients(added);
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
    find_gradients(append(name, std::move(kept), all));
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
  int embedding(const std::string& name, int vocabulary, int width, const embedding_settings& how) {
    return embedding_of(name, common_ids(name, vocabulary), width, how);
  }
  /// The same for ids that `ids` has made.
  int embedding_of(const std::string& name, int ids, int positions, int width,
                   initial start = initial::normal(0.02f), int unused = 0) {
    return embedding_of(name, ids, width, {.positions = positions, .start = start, .unused = unused});
  }
  int embedding_of(const std::string& name, int ids, int width, const embedding_settings& how);
  /// The bias begins at 0 unless it is said otherwise.
  int linear(const std::string& name, int x, int outputs, bool bias, initial start,
             initial bias_start = initial::constant(0));
  /// Gives linear layers that are added from now on adapters. Throws std::invalid_argument for a rank that is
  /// not positive, or a dropout that is no probability.
  void adapt(const adapter_settings& how);
  /// Freezes all but the adapters, and parameters whose names match the patterns. Throws
  /// std::invalid_argument if layers that were to have an adapter are not there.
  void train_adapters(std::vector<std::string> and_patterns = {});
  const std::vector<adapter>& adapters() const { return adapters_; }
  /// y = x table^T, with a table that is a parameter of another stage, too, and perhaps a bias of its own.
  int tied_linear(const std::string& name, int x, int table, bool bias = false);
  /// Layernorm with or without a bias, or rmsnorm, over all features of a token.
  int norm(const std::string& name, int x, f32 epsilon, bool centred = true, bool bias = true);
  /// A convolution of images, (pixels, channels), with windows of any size.
  int convolution(const std::string& name, int x, int outputs, const convolution_settings& how = {});
  /// The backward pass of such a convolution as a layer: it makes images larger where that one makes them
  /// smaller.
  int transposed_convolution(const std::string& name, int x, int outputs, const convolution_settings& how);
  /// The largest number, or the mean, of each channel in windows of an image.
  int pool(const std::string& name, int x, pooling how, const sliding_window& over);
  /// The features of several values of one axis side by side.
  int concatenation(const std::string& name, const std::vector<int>& parts);
  /// Batch norm over all tokens of the batch; evaluation takes averages of the statistics, which follow each
  /// batch by `momentum`.
  int batch_norm(const std::string& name, int x, f32 epsilon = 1e-5f, f32 momentum = 0.1f);
  /// Group norm over the pixels of each image: `groups` divides the features.
  int group_norm(const std::string& name, int x, int groups, f32 epsilon = 1e-5f);
  /// Instance norm: a group for each feature.
  int instance_norm(const std::string& name, int x, f32 epsilon = 1e-5f) {
    return group_norm(name, x, width(x), epsilon);
  }
  /// Attention of each sequence to itself. qkv has queries, keys and values side by side. The mask, if there
  /// is one, is a value of ids, one for each token; a token with 0 is not seen. With position_ids `where`,
  /// tokens do not see other documents than their own, which takes causal attention without a mask.
  int attention(const std::string& name, int qkv, const attention_heads& heads, int mask = -1,
                int where = -1);
  /// Attention of the tokens of `queries` to those of `kv`, which has keys and values side by side, of the
  /// same sequence. They may have different axes of tokens; the mask has that of kv.
  int cross_attention(const std::string& name, int queries, int kv, const attention_heads& heads,
                      int mask = -1);
  /// The tokens of kv, keys and values side by side, projected to those of another axis, which has a
  /// length, as input of cross_attention (Linformer). Sequences have at most `positions` tokens; with
  /// `shared` keys and values have one projection.
  int token_projection(const std::string& name, int kv, int heads, int axis, int positions, bool shared,
                       bool bias, initial start, int mask = -1);
  /// Rotates queries and keys by their position: the first `features` features of each head, or all if it is
  /// 0.
  int rotary(const std::string& name, int qkv, const attention_heads& heads, int positions, int features = 0,
             f64 base = 10000, pairs which = pairs::neighbours, const rotary_scaling& scaling = {},
             int where = -1);
  /// x plus fixed sinusoids of each position: sines and cosines in turn, or first all sines.
  int fixed_positions(const std::string& name, int x, int positions, pairs which = pairs::neighbours,
                      int where = -1);
  /// x with dropout in training. With probability 0 no stage is added.
  int dropout(const std::string& name, int x, f32 probability);
  /// factor x. With factor 1 no stage is added.
  int scale(const std::string& name, int x, f32 factor);
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
  int routes(const std::string& name, int scores, int count);
  /// The sum of the experts' outputs by these weights.
  int mixture(const std::string& name, int routes, const std::vector<int>& experts);
  /// The loss that keeps the experts equally busy to whom routes send tokens by these scores, layer by layer.
  void balance(const std::string& name, const std::vector<int>& scores, int count, f32 factor);
  /// The first token of each sequence of x, as the only token of an axis of its own (axis_of_sequences).
  int first_token(const std::string& name, int x);
  /// The last token of each sequence of x that counts: the last whose number in the mask, ids made by
  /// `optional_ids`, is not 0; without a mask, or a batch that has none, the last.
  int last_token(const std::string& name, int x, int mask = -1);
  /// The log-probability of the targets of each sequence by these logits, on the axis of sequences.
  int log_probability(const std::string& name, int logits, const log_probability_settings& how = {});
  /// The axis of what is said about a sequence as a whole: one token for each.
  int axis_of_sequences();
  int sum(const std::string& name, int a, int b);

  /// The cross-entropy of logits, whose last axis are the classes.
  void cross_entropy(const std::string& name, int logits, const cross_entropy_settings& how = {});
  /// The binary cross-entropy of logits and targets of the same shape, which are 0, 1 or between; or classes
  /// below 2.
  void binary_cross_entropy(const std::string& name, int logits, const loss_settings& how = {});
  void mean_squared_error(const std::string& name, int x, const loss_settings& how = {});
  /// The loss of dense retrieval: each vector of `questions`, one for each sequence, chooses among all
  /// vectors of `passages` of the batch; the first passage of its own sequence is right.
  void retrieval(const std::string& name, int questions, const std::vector<int>& passages,
                 const retrieval_settings& how = {});
  /// The loss of preferences between sequences 2k and 2k + 1 of the batch, of which the first is chosen; x is
  /// a number for each sequence, such as its log-probability. Throws std::invalid_argument for a beta, a
  /// label smoothing or a penalty that cannot be, or that the kind of loss does not have.
  void preference(const std::string& name, int x, const preference_loss_settings& how = {});

  /// Adds stages by f() that have the parameters of other stages: those from number `first` on, in their
  /// order. So a part of a model is used twice with the same weights. Returns what f returns. Throws
  /// std::invalid_argument if a parameter has another shape there.
  template <class F>
  auto with_parameters_from(int first, F f) {
    const std::optional<int> before = std::exchange(shared_, first);
    try {
      auto result = f();
      shared_ = before;
      return result;
    } catch (...) {
      shared_ = before;
      throw;
    }
  }

  /// Multiplies the learning rate, and with it the decay, of all parameters whose names match one of the
  /// patterns, which are as those of files ("layer * qkv.weight"). It is ScalePerParamLR of the Cerebras
  /// Model Zoo (1.9.1, optim/lr_scheduler.py), with which muP lets layers of any width learn equally fast.
  /// Returns how many parameters match. Throws std::invalid_argument if none does, if one has a factor
  /// already, or if the factor is negative, infinite or NaN.
  int scale_rates(const std::vector<std::string>& patterns, f32 factor);

  /// Freezes all parameters whose names match one of the patterns: training leaves them as they are, makes no
  /// gradients of them, and keeps nothing for them; stages before the first parameter that learns are not
  /// passed again on the way back. Returns how many match. Throws std::invalid_argument if none does.
  int freeze(const std::vector<std::string>& patterns) { return freeze(patterns, true); }
  /// Freezes all parameters but these. Returns how many are left.
  int freeze_all_but(const std::vector<std::string>& patterns) { return freeze(patterns, false); }

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
      if (v.from == origin::input && v.is_ids() && !v.is_optional) return v.ids_below;
    return 0;
  }
  int positions() const { return axes_.front().positions; }
  /// The axes of tokens; the first has batch::length tokens.
  const std::vector<token_axis>& axes() const { return axes_; }
  /// How many tokens of a value there are for a token of the batch, where both are pixels of images;
  /// otherwise 1 is taken.
  f64 tokens_for_each(int value) const {
    const token_axis& a = axes_[static_cast<std::size_t>(info(value).axis)];
    return a.image.pixels() ? static_cast<f64>(a.image.pixels()) / std::max(1, axes_.front().length) : 1;
  }
  i64 parameter_count() const {
    i64 n = 0;
    for (const parameter& p : parameters_) n += p.size();
    return n;
  }
  /// The numbers of those that are not frozen.
  i64 trained_count() const {
    i64 n = 0;
    for (const parameter& p : parameters_) n += p.frozen ? 0 : p.size();
    return n;
  }
  /// Whether training wants the gradient of a value: a parameter that it is computed with is not frozen.
  bool wants_gradient(int value) const {
    info(value);
    return wanted_[static_cast<std::size_t>(value)];
  }

 private:
  int attention(const std::string& name, std::vector<stage_input> inputs, const attention_heads& heads,
                int head, int mask, int where);
  /// The values that a stage reads, with the position ids of their tokens if there are any.
  std::vector<stage_input> with_positions(const std::string& name, std::vector<stage_input> inputs,
                                          int where) const;
  int next_value() const { return static_cast<int>(values_.size()); }
  int new_value(value_info v);
  /// A value that batches give is found by its name, so no two have the same.
  int new_host_value(value_info v);
  /// The input "ids", which all embeddings without an input of their own share.
  int common_ids(const std::string& name, int vocabulary);
  static int at_least_one(const std::string& name, int end);
  int new_parameter(parameter p);
  /// y, the output of a linear layer of x, with its adapter, if it is to have one.
  int adapted(const std::string& name, int x, int y, int weight);
  /// The adapter of a layer of this name, with parameters called `name`, of `from`: what is added to its
  /// output.
  int adapter_of(const std::string& name, const std::string& layer, int from, int outputs, int weight,
                 const adapted_layers& how);
  int freeze(const std::vector<std::string>& patterns, bool matching);
  /// Finds out for a stage, whose inputs are known, which gradients training wants.
  void find_gradients(stage& s);
  std::size_t stage_count() const { return stages_.size() - losses_.size(); }
  /// Appends a stage, before the losses unless it is one: gradients begin at the end of the model.
  stage& append(const std::string& name, std::unique_ptr<stage> s, const std::vector<stage_input>& inputs);
  void require_shape(const std::string& name, const stage_input& x) const;
  template <class Rule>
  void elementwise(const std::string& name, int x, const loss_settings& how) {
    const shape each = shape_of(x);
    const int y = how.targets >= 0 ? how.targets : target("targets", each, info(x).axis);
    if (info(y).is_ids() && !(Rule::takes_classes && info(y).ids_below == 2))
      throw std::invalid_argument(
          fmt::format("wsl: {} compares with features, not with the {}", name, of(y)));
    loss(name, elementwise_loss<Rule>(info(y).is_ids()), {x, {y, each}}, how.mask, how.factor);
  }
  void limit_positions(int positions, int axis) {
    int& most = axes_[static_cast<std::size_t>(axis)].positions;
    if (positions) most = most ? std::min(most, positions) : positions;
  }
  int existing(int axis) const;
  static std::string name_of_images(const image_size& size);
  std::vector<parameter> of_convolution(const std::string& name, int outputs, int inputs,
                                        const convolution_settings& how) const;
  /// All inputs have the axis of the output, unless the stage needs whole sequences.
  void require_axis(const std::string& name, const stage& s, const std::vector<stage_input>& inputs,
                    int axis) const;
  /// Columns of workers have the parts of parameters that belong to their features.
  static void require_cut_of_parameters(const std::string& name, const stage& s, const shape& output,
                                        const std::vector<parameter>& parameters);
  /// Whoever reads earlier tokens says which features of them, and is cut by heads.
  static void require_groups_of_prefix(const std::string& name, const stage& s);
  std::string axis_name(int axis) const {
    return axis == 0 && axes_.front().name.empty() ? "the tokens of the batch"
                                                   : axes_[static_cast<std::size_t>(axis)].name;
  }
  /// The features of one head.
  int head_width(const std::string& name, int qkv, const attention_heads& h) const;
  static void check_probability(const std::string& name, f32 p);
  std::string of(int value) const;
  void same_width(const std::string& name, int a, int b) const;

  static constexpr i64 largest_width = 0x7fffffff;

  std::vector<value_info> values_;
  std::vector<int> widths_;
  std::vector<parameter> parameters_;
  adapter_settings adapting_;
  std::vector<adapter> adapters_;
  std::vector<bool> wanted_;  // of which values training wants the gradient
  std::vector<std::unique_ptr<stage>> stages_;
  std::set<std::string> names_;  // of the stages
  std::vector<const loss_stage*> losses_;
  std::vector<token_axis> axes_{1};
  int logits_ = -1;
  std::optional<int> shared_;  // the parameter that the next stage with one gets
};

/// The rows of a weight tile of a parameter that has `rows` rows with `size` numbers in all and is dealt out
/// to some servers. A tile has about so many words at most, whole vectors of outputs, and at least
/// `least_rows`, a multiple of a vector's; every server gets as many tiles.
inline int tile_rows(i64 size, int rows, int servers, i64 words = 65536, i64 least_rows = 16) {
  constexpr i64 lanes = 16;
  const i64 least = (size + words - 1) / words, weight_tiles = (least + servers - 1) / servers * servers;
  if (weight_tiles == 0) return 1;
  const i64 of_tile = (rows + weight_tiles - 1) / weight_tiles;
  return static_cast<int>(
      std::min<i64>(rows, std::max<i64>(least_rows, (of_tile + lanes - 1) / lanes * lanes)));
}
/// The same for tiles that are streamed to workers, whose cache they fit in. Where several servers stand for
/// as many rows of workers, each of these has fewer tokens, so that there is room for larger tiles, and more
/// to gain by them.
inline int streamed_rows(i64 size, int rows, int servers) {
  return tile_rows(size, rows, servers, servers > 1 ? 163840 : 65536, 32);
}

}  // namespace wsl::ml

#ifndef WSL_ML_COMPILED
#include "network_stages.hpp"
#else
namespace wsl::ml {

// The elementwise functions of the library are compiled once as well.
extern template int network::activation<gelu>(const std::string&, int);
extern template int network::activation<gelu_tanh>(const std::string&, int);
extern template int network::activation<quick_gelu>(const std::string&, int);
extern template int network::activation<relu>(const std::string&, int);
extern template int network::activation<silu>(const std::string&, int);
extern template int network::gate<gelu>(const std::string&, int, int);
extern template int network::gate<relu>(const std::string&, int, int);
extern template int network::gate<silu>(const std::string&, int, int);

}  // namespace wsl::ml
#endif
