// SPDX-License-Identifier: MIT
// What all ways of training share: the model, its numbers, and how far a run has come.
#pragma once
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../op/dropout.hpp"
#include "state.hpp"

namespace wsl::ml {

class training_run {
 public:
  const network& model() const { return *network_; }
  parameter_store& parameters() { return memory_.numbers; }
  /// All arrays that training changes, as views to read and to set. With them and the position, a trainer of
  /// the same model and optimizer goes on as this one would, bit for bit. Of several processes the first has
  /// them, the others none.
  std::vector<state_array> state() { return state_of(rule_, memory_); }
  /// The parameter of that name. Throws std::invalid_argument if the model has none.
  std::span<f32> parameter_named(std::string_view name) {
    for (std::size_t k = 0; k < memory_.numbers.size(); ++k)
      if (network_->parameters()[k].name == name) return memory_.numbers[k];
    if (memory_.numbers.size() == 0)
      throw std::invalid_argument("wsl: parameter " + std::string(name) +
                                  " is with the first process, which keeps all numbers");
    throw std::invalid_argument("wsl: the model has no parameter " + std::string(name) + "; its first is " +
                                network_->parameters().at(0).name);
  }
  ml::position position() const { return {steps_, seed_}; }
  /// Where to go on from, after the arrays have been set. Throws std::invalid_argument for a negative number
  /// of steps.
  void resume(const ml::position& p) {
    if (p.steps < 0)
      throw std::invalid_argument("wsl: training goes on after 0 or more steps, not after " +
                                  std::to_string(p.steps));
    steps_ = p.steps, seed_ = p.seed;
  }
  /// Steps of training so far.
  i64 steps() const { return steps_; }

 protected:
  /// The numbers lie in memory, or with a folder in a file there; or another process keeps them.
  training_run(network n, const optimizer& rule, u64 seed, const std::string& folder = {}, bool keeps = true)
      : network_(std::make_unique<network>(std::move(n))),
        rule_(rule),
        seed_(seed),
        memory_{network_.get(), parameter_store(*network_, seed, folder, keeps),
                parameter_store(*network_, folder, keeps), parameter_store(*network_, folder, keeps),
                parameter_store(*network_, folder, keeps)} {}

  /// Throws std::runtime_error if the loss of the step is not finite, which began in `where` if that is
  /// known, or the gradient of a parameter, -1 for none.
  void require_finite(f64 loss, i32 parameter, const std::string& where = {}) const {
    if (std::isfinite(loss) && parameter < 0) return;
    const std::string what =
        !std::isfinite(loss)
            ? "the loss is " + std::string(std::isnan(loss) ? "NaN" : "infinite") +
                  (where.empty() ? "" : ", and the first numbers that are not finite are those of " + where)
            : "the gradient of " + network_->parameters()[static_cast<std::size_t>(parameter)].name +
                  " is not finite, with a finite loss";
    throw std::runtime_error("wsl: in step " + std::to_string(steps_) + " " + what +
                             ": check the data, try a smaller learning rate, or clip the gradients' norm");
  }

  /// What is dropped in the step that runs.
  dropout_generator chance_of_step() const {
    return {.on = true, .key = mixed(mixed(0, seed_), static_cast<u64>(steps_))};
  }

  std::unique_ptr<network> network_;
  optimizer rule_;
  u64 seed_;
  memory memory_;
  i64 steps_ = 0;
};

}  // namespace wsl::ml
