// SPDX-License-Identifier: MIT
// The loss and the logits of a traced step. They are known when the step has run, and are read in closures.
//   auto show = cstorch::step_closure([](const cstorch::tensor& loss) { fmt::print("{}\n", loss.item()); });
#pragma once
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>

#include "recording.hpp"

namespace wsl::ml::cstorch {

/// While one exists, its thread is in a closure.
class in_closure {
 public:
  in_closure() { ++depth_; }
  ~in_closure() { --depth_; }
  in_closure(const in_closure&) = delete;
  static bool now() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

class tensor {
 public:
  explicit tensor(std::shared_ptr<tensor_numbers> n) : numbers_(std::move(n)) {}

  /// The number of a loss. Throws std::logic_error outside of a closure.
  f64 item() const { return known().scalar; }
  /// The numbers of logits, (tokens, classes). Throws std::logic_error outside of a closure.
  std::span<const f32> values() const { return known().all; }

  /// Asks for the gradients of this loss. Throws std::logic_error outside of a traced function, for what is
  /// no loss of it, and the second time.
  void backward() const {
    recording& r = recording::of("backward()");
    if (!r.loss || r.loss != numbers_)
      throw std::logic_error(
          "wsl: backward() is of the loss that the model has returned in this step, and this tensor is "
          "another");
    if (r.backward)
      throw std::logic_error("wsl: a step calls backward() twice: a model has one loss in each");
    r.backward = true;
  }

 private:
  const tensor_numbers& known() const {
    if (recording::is_on() || !in_closure::now())
      throw std::logic_error(
          "wsl: the numbers of a tensor are on the wafer until its step has run: read them in a closure, "
          "such as "
          "`auto show = cstorch::step_closure([](const cstorch::tensor& loss) { ... loss.item() ... })`, and "
          "give it "
          "the tensor");
    if (!numbers_->are_known)
      throw std::logic_error("wsl: the step of this tensor did not run, so that it has no numbers");
    return *numbers_;
  }

  std::shared_ptr<tensor_numbers> numbers_;
};

}  // namespace wsl::ml::cstorch
