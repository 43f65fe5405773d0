// SPDX-License-Identifier: MIT
// The optimizer of a compiled model and its learning rate.
//   cstorch::optim::optimizer optimizer(model, ml::optimizer::sgd({.momentum = 0.9f}), 0.01);
//   cstorch::optim::lr_scheduler lr_scheduler(optimizer, ml::rate::cosine(0.01, 0, 1000));
#pragma once
#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "model.hpp"

namespace wsl::ml::cstorch::optim {

class optimizer {
 public:
  /// Throws std::logic_error for a model that has an optimizer, or has run.
  optimizer(const model& of, ml::optimizer rule, f64 rate) : program_(of.shared()) {
    if (program_->rule)
      throw std::logic_error("wsl: a model has one optimizer, and this one has its already");
    if (program_->is_running())
      throw std::logic_error("wsl: the model has run without an optimizer: make it before the first step");
    rate::check(rate, 1);
    program_->rule = std::move(rule);
    program_->rate = [rate](i64) { return rate; };
  }

  /// Takes the gradients of the loss. Throws std::logic_error outside of a traced function, without
  /// gradients, and the second time.
  void step() const {
    recording& r = recording::of("optimizer.step()");
    if (!r.backward || r.model != program_.get())
      throw std::logic_error(
          "wsl: optimizer.step() has no gradients of its model: call the model and loss.backward() before");
    if (r.steps) throw std::logic_error("wsl: a step calls optimizer.step() twice");
    r.steps = true;
  }
  /// Each step has gradients of its own; a step without this call is refused. Throws std::logic_error outside
  /// of a traced function, and between the gradients and the step, which would have none.
  void zero_grad() const {
    recording& r = recording::of("optimizer.zero_grad()");
    if (r.backward && !r.steps)
      throw std::logic_error(
          "wsl: optimizer.zero_grad() between loss.backward() and optimizer.step() takes the gradients away: "
          "call it before or after both");
    r.zeroes = true;
  }

  const std::shared_ptr<program>& shared() const { return program_; }

 private:
  std::shared_ptr<program> program_;
};

class lr_scheduler {
 public:
  /// The rates by the number of calls of `step`. Throws std::logic_error for an optimizer that has a
  /// scheduler.
  lr_scheduler(const optimizer& of, rate::schedule rates) : program_(of.shared()) {
    if (std::exchange(program_->has_scheduler, true))
      throw std::logic_error(
          "wsl: an optimizer has one lr_scheduler, and this one has its already: rates that follow each "
          "other "
          "are a ml::rate::sequence");
    program_->rate = std::move(rates);
  }
  /// Goes on to the next rate when the step has run. Throws std::logic_error outside of a traced function,
  /// and the second time.
  void step() const {
    recording& r = recording::of("lr_scheduler.step()");
    if (r.schedules) throw std::logic_error("wsl: a step calls lr_scheduler.step() twice");
    if (!r.steps)
      throw std::logic_error(
          "wsl: lr_scheduler.step() comes before optimizer.step(), whose rate it would change: call it "
          "after");
    r.schedules = true;
  }
  /// The rate of the next step.
  f64 rate() const { return program_->rate(program_->schedule_steps); }

 private:
  std::shared_ptr<program> program_;
};

}  // namespace wsl::ml::cstorch::optim

namespace wsl::ml::cstorch {

/// Bounds the norm of all gradients together, between backward() and optimizer.step(). Throws
/// std::logic_error outside of a traced function, without gradients and after the step, std::invalid_argument
/// for a bound that is not above 0.
inline void clip_grad_norm(const model& of, f64 most) {
  recording& r = recording::of("clip_grad_norm");
  if (!r.backward || r.model != of.shared().get())
    throw std::logic_error("wsl: clip_grad_norm has no gradients of its model: call loss.backward() before");
  if (r.steps)
    throw std::logic_error(
        "wsl: clip_grad_norm comes after optimizer.step(), which has taken the gradients: call it before");
  if (!(most > 0))
    throw std::invalid_argument(fmt::format("wsl: a bound of a norm is above 0, not {}", most));
  if (r.clip_norm > 0)
    throw std::logic_error("wsl: a step calls clip_grad_norm twice: the gradients have one bound");
  r.clip_norm = most;
}

}  // namespace wsl::ml::cstorch
