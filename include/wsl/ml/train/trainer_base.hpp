// SPDX-License-Identifier: MIT
// The common part of all trainers: the model, the training state, and the step counter.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/fault.hpp"
#include "../op/dropout.hpp"
#include "../optim/schedule.hpp"
#include "settings.hpp"
#include "state.hpp"

namespace wsl::ml {

/// One loss of a model, for the trainers' `losses()`.
struct named_loss {
  std::string name;
  f64 mean = 0;
};

class trainer_base {
 public:
  const network& model() const { return *network_; }
  parameter_store& parameters() { return arrays_.parameters; }
  /// The arrays of the training state, as views to read and to set. With them and the position, a trainer of
  /// the same model and optimizer continues bit for bit as this one would. If there are several processes,
  /// only the first has arrays; the list of the others is empty.
  std::vector<state_array> state() { return arrays_.state(); }
  /// The numbers of the parameter of that name. Throws std::invalid_argument if the model has none.
  std::span<f32> parameter_named(std::string_view name) {
    for (std::size_t k = 0; k < arrays_.parameters.size(); ++k)
      if (network_->parameters()[k].name == name) return arrays_.parameters[k];
    if (arrays_.parameters.size() == 0)
      throw std::invalid_argument(
          fmt::format("wsl: parameter {} is with the first process, which keeps all numbers", name));
    throw std::invalid_argument(fmt::format("wsl: the model has no parameter {}; its first is {}", name,
                                            network_->parameters().at(0).name));
  }
  /// The patterns of the sparse parameters, by their names. Those that training begins with are made of the
  /// parameters as they are at this call, or at the first batch. With `state` and `position` they are all
  /// that a trainer continues from. If there are several processes, only the first has them.
  std::map<std::string, sparse_pattern> patterns() {
    std::map<std::string, sparse_pattern> all;
    arrays_.each_sparse([&](sparse_parameter& s) {
      s.close();
      if (s.keeps()) all.emplace(s.name(), s.pattern());
    });
    return all;
  }
  /// Gives the sparse parameters these patterns, in the order of the arrays' restoration or before it.
  /// Numbers at places that a pattern has and the one before had not are those that are set afterwards, or
  /// zeros. Throws std::invalid_argument, and sets nothing, if they are not the patterns of the sparse
  /// parameters.
  void set_patterns(const std::map<std::string, sparse_pattern>& patterns) {
    std::set<std::string> sparse;
    arrays_.each_sparse([&](sparse_parameter& s) {
      const auto at = patterns.find(*sparse.insert(s.name()).first);
      if (at == patterns.end())
        throw std::invalid_argument(
            fmt::format("wsl: {} is sparse, and these patterns have none for it", s.name()));
      s.require(at->second);
    });
    for (const auto& [name, pattern] : patterns)
      if (!sparse.contains(name))
        throw std::invalid_argument(
            fmt::format("wsl: there is a pattern for {}, which is not sparse in this trainer: see its "
                        "settings of sparsity",
                        name));
    arrays_.each_sparse([&](sparse_parameter& s) { s.set_pattern(patterns.at(s.name())); });
  }
  /// The settings of each sparse parameter, by its name.
  std::map<std::string, sparsity::group> sparse_parameters() {
    std::map<std::string, sparsity::group> all;
    arrays_.each_sparse([&](sparse_parameter& s) { all.emplace(s.name(), s.group()); });
    return all;
  }
  /// From the next step on the norms of gradients are, or are not, measured.
  void measure_gradients(bool yes) {
    arrays_.measures_gradients = yes;
    if (!yes) gradient_norms_.clear();
  }
  /// Of the last step the norm of the gradient of each parameter of the model, before it is clipped; 0 for
  /// those that are not trained. Empty if it was not measured, and on all processes but the first.
  const std::vector<f64>& gradient_norms() const { return gradient_norms_; }
  /// The name of the optimizer's update rule: "adam".
  const std::string& optimizer_name() const { return arrays_.rule_name; }
  training_position position() const { return {steps_, seed_, loss_scale_state()}; }
  /// Sets the position from which training goes on, after the arrays have been set. A dynamic loss scale goes
  /// on as the position says, or stays if it says nothing. Throws std::invalid_argument if the number of
  /// steps is negative, or for a loss scale that cannot be.
  void resume(const training_position& p) {
    require(p);
    if (scaler_ && p.loss_scale) scaler_->resume(*p.loss_scale);
    steps_ = p.steps, seed_ = p.seed;
  }
  /// Throws what `resume` throws, and sets nothing.
  void require(const training_position& p) const {
    if (p.steps < 0)
      throw std::invalid_argument(
          fmt::format("wsl: training resumes after 0 or more steps, not after {}", p.steps));
    if (scaler_ && p.loss_scale) scaler_->require(*p.loss_scale);
  }
  /// Steps of training done, with those that a dynamic loss scale has skipped.
  i64 steps() const { return steps_; }
  /// The updates that the optimizer has made: the steps without those that were skipped. Changes of patterns,
  /// and the sparsity that they aim at, follow this number.
  i64 updates() const { return steps_ - (scaler_ ? scaler_->state().num_skipped_steps : 0); }
  /// The factor of the loss in the next step.
  f64 loss_scale() const { return scaler_ ? scaler_->scale() : fixed_scale_; }
  /// The dynamic loss scale with its counts, among them that of the skipped steps; none if it is a number.
  std::optional<grad_scaler_state> loss_scale_state() const {
    return scaler_ ? std::optional(scaler_->state()) : std::nullopt;
  }
  /// Calls f() while the parameters are the averages of the weights that the optimizer keeps
  /// (weight_average), to evaluate, predict or save with them, and returns what it returns. Before the first
  /// step these are the parameters themselves. f must not train. Throws std::invalid_argument if the
  /// optimizer keeps no average.
  template <class F>
  decltype(auto) with_average(F f) {
    if (!arrays_.has_average())
      throw std::invalid_argument(
          "wsl: this optimizer keeps no average of the weights: optimizer::with_average");
    const exchanged back(steps_ > 0 ? &arrays_ : nullptr);
    return f();
  }

 protected:
  /// Keeps the norms of a step's gradients, if they are measured. `add(squares)` adds the sums of the squares
  /// of each parameter's gradients, which come with the factor of the loss.
  template <class Add>
  void measure_gradients(const optimizer_step& o, Add add) {
    if (!arrays_.measures_gradients || arrays_.parameters.size() == 0) return;
    gradient_norms_.assign(arrays_.parameters.size(), 0);
    add(gradient_norms_);
    for (f64& x : gradient_norms_) x = std::sqrt(x) / static_cast<f64>(o.loss_scale);
  }
  /// The sum of a loss in the list that a store keeps, which is shorter where no token was.
  static f64 sum_of(const std::vector<f64>& losses, const loss_stage& x) {
    const std::size_t k = static_cast<std::size_t>(x.which);
    return k < losses.size() ? losses[k] : 0;
  }
  static f64 mean_of(const std::vector<f64>& counts, const loss_stage& x, f64 sum) {
    const f64 counted = sum_of(counts, x);
    return counted > 0 ? sum / counted : 0;
  }

  /// The arrays lie in main memory, or, if a folder is given, in mapped files there. If `keeps_arrays` is
  /// false, another process keeps them.
  trainer_base(network n, const optimizer& rule, u64 seed, const std::string& folder = {},
               bool keeps_arrays = true, const sparsity_settings& sparse = {})
      : network_(std::make_unique<network>(with_stages(std::move(n)))),
        seed_(seed),
        arrays_(*network_, rule, seed, folder, keeps_arrays, sparse) {}

  static network with_stages(network n) {
    if (n.stages().empty())
      throw std::invalid_argument(
          "wsl: this model has no layers: it is empty, or it has been given to another trainer");
    return n;
  }

  /// While it lives, the parameters are the averages.
  struct exchanged {
    explicit exchanged(training_arrays* a) : arrays(a) { swap(); }
    exchanged(const exchanged&) = delete;
    exchanged& operator=(const exchanged&) = delete;
    ~exchanged() { swap(); }
    void swap() const {
      if (arrays) arrays->swap_average();
    }
    training_arrays* arrays;
  };

  /// The factor of the loss. Throws std::invalid_argument for one that is not positive and finite, or for
  /// settings of a scale that make no sense.
  void scale_loss(const loss_scaling_factor& by) {
    if (const auto* dynamic = std::get_if<grad_scaler_settings>(&by)) scaler_.emplace(*dynamic);
    else if (fixed_scale_ = std::get<f64>(by);
             !(fixed_scale_ > 0) || std::isinf(static_cast<f32>(fixed_scale_)))
      throw std::invalid_argument(
          fmt::format("wsl: a loss is scaled by a positive finite number, not by {}", fixed_scale_));
  }
  /// Begins the next step of the optimizer; skipped steps do not count for it.
  /// Throws std::invalid_argument for a learning rate that is negative or no finite f32, and for a model all
  /// of whose parameters are frozen.
  optimizer_step begin_step(f64 rate, const clipping& clip) {
    rate::check(rate, steps_ + 1);
    if (network_->trained_count() == 0)
      throw std::invalid_argument(
          "wsl: all parameters are frozen (network::freeze): nothing is left to train");
    ++steps_;
    return arrays_.step(rate, updates(), clip, loss_scale(), scaler_.has_value());
  }
  /// Ends a step with a finite loss for a dynamic loss scale. Returns whether it was skipped, because the
  /// gradient of `parameter` is not finite (-1: all are). Throws fault, and takes the step back, if the scale
  /// cannot become smaller.
  bool is_skipped(f64 loss, i32 parameter) {
    if (!scaler_ || !std::isfinite(loss)) return false;
    const i64 done = std::exchange(steps_, steps_ - 1);
    scaler_->update(parameter < 0);
    steps_ = done;
    return parameter >= 0;
  }

  /// Takes the step back and throws fault if its loss is not finite, or if the gradient of a
  /// parameter is not (`parameter` is its index; -1: all are finite). `where` names the place where it began,
  /// if it is known.
  void require_finite(f64 loss, i32 parameter, const std::string& where = {}) {
    if (std::isfinite(loss) && parameter < 0) return;
    const i64 failed = steps_--;
    const std::string origin =
        where.empty() ? ""
                      : fmt::format(", and the first numbers that are not finite are those of {}", where);
    const std::string what =
        std::isfinite(loss) ? fmt::format("the gradient of {} is not finite, with a finite loss",
                                          network_->parameters()[static_cast<std::size_t>(parameter)].name)
                            : fmt::format("the loss is {}{}", std::isnan(loss) ? "NaN" : "infinite", origin);
    const bool is_scaled = std::isfinite(loss) && loss_scale() > 1;
    const std::string factor =
        is_scaled ? fmt::format(
                        "the loss is multiplied by {}: take a smaller factor (loss_scaling), or a "
                        "dynamic one; else ",
                        loss_scale())
                  : "";
    throw fault(fmt::format(
        "wsl: in step {} {}: {}check the data, try a smaller learning rate, or clip the gradients' norm",
        failed, what, factor));
  }

  /// The generator of dropout in the current step.
  dropout_generator dropout_of_step() const {
    return {.on = true, .key = mixed(mixed(0, seed_), static_cast<u64>(steps_))};
  }

  std::unique_ptr<network> network_;
  u64 seed_;
  training_arrays arrays_;
  i64 steps_ = 0;
  std::optional<grad_scaler> scaler_;
  f64 fixed_scale_ = 1;  // without a scaler
  std::vector<f64> gradient_norms_;
};

}  // namespace wsl::ml
