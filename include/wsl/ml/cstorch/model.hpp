// SPDX-License-Identifier: MIT
// A compiled model: a network and the wafer on which it will run. Its trainer is made for the first step that
// runs, when optimizer, clipping, loss scaling and wafers are known.
//   cstorch::backend csx("CSX");
//   auto model = cstorch::compile(net.build(), csx);
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "../train/trainer.hpp"
#include "tensor.hpp"

namespace wsl::ml::cstorch {

/// Where models run: "CSX" is weight streaming on wafers, on this computer.
struct backend {
  /// `how` is what a trainer takes besides: precision, seed, threads, micro_batch_size. With `compile_only`
  /// functions are traced and checked, and nothing runs. Throws std::invalid_argument for another name.
  explicit backend(std::string_view name, bool only_compiles = false, streaming_settings with = {})
      : compile_only(only_compiles), how(std::move(with)) {
    if (name != "CSX")
      throw std::invalid_argument(fmt::format(
          "wsl: there is no backend {}: \"CSX\" runs on wafers, which this computer executes", name));
  }

  bool compile_only;
  streaming_settings how;
};

/// A network with all that its steps need. The parts of a program share it.
class program {
 public:
  program(network n, const backend& on)
      : how(on.how), compile_only(on.compile_only), network_(std::move(n)) {}

  streaming_settings how;
  bool compile_only, is_training = true, has_scheduler = false;
  std::optional<optimizer> rule = {};
  std::function<f64(i64)> rate = {};  ///< the learning rate after so many steps of its schedule
  i64 schedule_steps = 0;
  std::function<void(trainer&)> begin = {};  ///< what the trainer takes over when it is made

  /// Throws std::logic_error if the model has not run yet.
  trainer& running() {
    if (!trainer_)
      throw std::logic_error(
          "wsl: the model has not run yet, and has no state: its parameters are made for the first step");
    return *trainer_;
  }
  bool is_running() const { return trainer_ != nullptr; }

  /// Runs a step on wafers; 0: as many as the backend says.
  void run(const recording& r, int num_csx) {
    if (compile_only) return;
    trainer& t = made_for(r, num_csx);
    const auto keep = [&](i64 first, std::span<const f32> x) {
      std::vector<f32>& all = r.logits->all;
      const std::size_t at = static_cast<std::size_t>(first) * static_cast<std::size_t>(classes_);
      all.resize(std::max(all.size(), at + x.size()));
      std::copy(x.begin(), x.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
    };
    if (!r.backward) r.loss->scalar = r.logits ? t.evaluate(r.given, keep) : t.evaluate(r.given);
    else {
      const f64 rate_now = rate(schedule_steps);
      r.loss->scalar = r.logits ? t.step(r.given, rate_now, keep) : t.step(r.given, rate_now);
      schedule_steps += r.schedules;
    }
    r.loss->are_known = true;
    if (r.logits) r.logits->are_known = true;
  }

 private:
  trainer& made_for(const recording& r, int num_csx) {
    if (trainer_) {
      if (num_csx && num_csx != how.num_csx)
        throw std::invalid_argument(fmt::format(
            "wsl: the model runs on {} wafers, and this executor wants {}: give all executors of a "
            "program the same num_csx",
            how.num_csx, num_csx));
      require_same(r);
      return *trainer_;
    }
    if (!network_)
      throw std::logic_error("wsl: the model could not begin, as an exception has said: compile it anew");
    if (num_csx) how.num_csx = num_csx;
    if (r.backward) how.clip_norm = r.clip_norm, how.clip_value = r.clip_value, trains_with_ = true;
    if (r.scaling) how.loss_scaling = r.scaling;
    classes_ = network_->logits() >= 0 ? network_->width(network_->logits()) : 0;
    network n = std::move(*network_);
    network_.reset();
    auto t = std::make_unique<trainer>(std::move(n), rule.value_or(optimizer::sgd()), how);
    if (begin) begin(*t);
    trainer_ = std::move(t);
    return *trainer_;
  }
  void require_same(const recording& r) {
    if (!r.backward) return;
    if (trains_with_ ? how.clip_norm == r.clip_norm && how.clip_value == r.clip_value
                     : r.clip_norm == 0 && r.clip_value == 0 && !r.scaling)
      return void(trains_with_ = true);
    throw std::logic_error(
        "wsl: the model has run with other bounds of gradients, or another loss scale, than this step has: "
        "they are "
        "those of its first step; let the function that trains run before those that evaluate");
  }

  std::optional<network> network_;
  std::unique_ptr<trainer> trainer_;
  int classes_ = 0;
  bool trains_with_ = false;
};

/// What `compile` returns: a handle to a program.
class model {
 public:
  explicit model(std::shared_ptr<program> p) : program_(std::move(p)) {}

  /// The loss of a batch, which has the targets. Throws std::logic_error outside of a traced function, or for
  /// a second call in one.
  tensor operator()(const batch& b) const {
    recording& r = recording::of("a model");
    if (r.model)
      throw std::logic_error(
          "wsl: a traced function calls a model twice: a step has one batch; join two losses in the network");
    r.model = program_.get(), r.given = b;
    r.loss = std::make_shared<tensor_numbers>();
    return tensor(r.loss);
  }
  /// The logits of the batch with which the model was called, (tokens, classes).
  tensor logits() const {
    recording& r = recording::of("logits()");
    if (r.model != program_.get())
      throw std::logic_error("wsl: logits() are those of a batch: call the model with one before");
    if (!r.logits) r.logits = std::make_shared<tensor_numbers>();
    return tensor(r.logits);
  }

  /// Steps with gradients, with dropout; or evaluation, without.
  void train() const { program_->is_training = true; }
  void eval() const { program_->is_training = false; }
  /// Makes weights sparse. Throws std::logic_error once the model has run, and the second time.
  void apply(const sparsity_settings& how) const {
    if (program_->is_running())
      throw std::logic_error("wsl: the model has run with its weights as they are: make them sparse before");
    if (program_->how.sparsity.are_given())
      throw std::logic_error(
          "wsl: the weights of a model are made sparse once: give one call settings for all groups of them");
    program_->how.sparsity = how;
  }

  /// The trainer behind it, with the parameters and the report of the last step. Throws std::logic_error if
  /// the model has not run yet, and while a function is traced.
  ml::trainer& trainer() const {
    if (recording::is_on())
      throw std::logic_error(
          "wsl: the state of a model is on the wafer while a function is traced: read it in a closure");
    return program_->running();
  }
  const std::shared_ptr<program>& shared() const { return program_; }

 private:
  std::shared_ptr<program> program_;
};

inline model compile(network n, const backend& on) {
  return model(std::make_shared<program>(std::move(n), on));
}

}  // namespace wsl::ml::cstorch
