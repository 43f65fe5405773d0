// SPDX-License-Identifier: MIT
// What a traced function asks for in one call: the batch that the model gets, and what becomes of the loss.
// The step runs when the function has returned.
#pragma once
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../model/batch.hpp"
#include "../train/settings.hpp"

namespace wsl::ml::cstorch {

class program;

/// The numbers behind a tensor, which are there when the step has run.
struct tensor_numbers {
  f64 scalar = 0;
  std::vector<f32> all = {};
  bool are_known = false;
};

class recording {
 public:
  program* model = nullptr;  ///< the one that was called; null: none yet
  batch given = {};          ///< with this batch
  std::shared_ptr<tensor_numbers> loss = {}, logits = {};
  bool zeroes = false, backward = false, steps = false, schedules = false;
  f64 clip_norm = 0, clip_value = 0;
  std::optional<loss_scaling_factor> scaling = {};

  recording() : before_(now_) { now_ = this; }
  ~recording() { now_ = before_; }
  recording(const recording&) = delete;

  /// That of the traced function which is being called. Throws std::logic_error outside of one; `call` is the
  /// name of what needs it.
  static recording& of(const char* call) {
    if (!now_)
      throw std::logic_error(fmt::format(
          "wsl: {} is a part of a step: call it in a function of cstorch::trace, such as `auto step = "
          "cstorch::trace([&](const ml::batch& b) {{ ... }})`",
          call));
    return *now_;
  }
  static bool is_on() { return now_ != nullptr; }

  /// Throws std::logic_error for a step that is not whole.
  void require_whole() const {
    const auto refuse = [](const char* why) {
      throw std::logic_error(std::string("wsl: a traced function ") + why);
    };
    if (!model) refuse("calls no model: call the compiled model with the batch, and return its loss");
    if (backward && !steps)
      refuse(
          "makes gradients that no optimizer takes: call optimizer.step() after loss.backward(), or leave "
          "the "
          "latter out and call model.eval() before");
    if (steps && !zeroes)
      refuse(
          "never calls optimizer.zero_grad(): gradients would add up from step to step, and here each step "
          "has "
          "its own: call it after optimizer.step(); a batch in parts is the trainer's micro_batch_size");
  }

 private:
  static inline thread_local recording* now_ = nullptr;
  recording* before_;
};

}  // namespace wsl::ml::cstorch
