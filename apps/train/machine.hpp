// SPDX-License-Identifier: MIT
// A wafer that trains in the way that `execution_strategy` names, with one vocabulary for both.
#pragma once
#include <variant>
#include <wsl/ml/pipelined_trainer.hpp>
#include <wsl/ml/report.hpp>
#include <wsl/ml/trainer.hpp>

#include "ranks.hpp"

namespace train_app {

class machine {
 public:
  machine(wsl::ml::network n, const wsl::ml::optimizer& rule, const wsl::ml::training& how) : wafer_(ranks::trainer(std::move(n), rule, how)) {}
  machine(wsl::ml::network n, const wsl::ml::optimizer& rule, const wsl::ml::pipelining& how) : wafer_(std::make_unique<wsl::ml::pipelined_trainer>(std::move(n), rule, how)) {}

  wsl::f64 step(const wsl::ml::batch& b, wsl::f64 rate) {
    return std::visit([&](auto& t) { return t->step(b, rate); }, wafer_);
  }
  wsl::f64 evaluate(const wsl::ml::batch& b) {
    return std::visit([&](auto& t) { return t->evaluate(b); }, wafer_);
  }
  std::vector<wsl::f32> logits() {
    return std::visit([](auto& t) { return t->logits(); }, wafer_);
  }
  /// Where the last step of training went.
  std::string report() const {
    return std::visit([](auto& t) { return wsl::ml::to_text(t->report()); }, wafer_);
  }
  wsl::ml::training_run& run() {
    return std::visit([](auto& t) -> wsl::ml::training_run& { return *t; }, wafer_);
  }
  wsl::i64 steps() { return run().steps(); }
  /// What this process needs of a batch.
  wsl::ml::batch_part part() {
    const auto* t = std::get_if<std::unique_ptr<wsl::ml::trainer>>(&wafer_);
    return t ? (*t)->part() : wsl::ml::batch_part{};
  }

 private:
  std::variant<std::unique_ptr<wsl::ml::trainer>, std::unique_ptr<wsl::ml::pipelined_trainer>> wafer_;
};

}  // namespace train_app
