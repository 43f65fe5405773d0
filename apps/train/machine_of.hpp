// SPDX-License-Identifier: MIT
// A machine made of one of the trainers of wsl/ml. Only the sources that make one include this header.
#pragma once
#include <wsl/ml/run/op_profile.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "machine.hpp"
#include "params.hpp"
#include "performance.hpp"

namespace train_app {

template <class Trainer>
class machine_of final : public machine {
 public:
  template <class... How>
  explicit machine_of(wsl::ml::network n, const How&... how) : trainer_(std::move(n), how...) {}

  wsl::f64 step(const wsl::ml::batch& b, wsl::f64 rate) override { return trainer_.step(b, rate); }
  wsl::f64 step(const wsl::ml::batch& b, wsl::f64 rate,
                const std::function<void(i64, std::span<const wsl::f32>)>& each) override {
    if constexpr (requires { trainer_.step(b, rate, each); }) return trainer_.step(b, rate, each);
    else {
      const wsl::f64 loss = trainer_.step(b, rate);
      each(0, trainer_.logits());
      return loss;
    }
  }
  wsl::f64 evaluate(const wsl::ml::batch& b,
                    const std::function<void(i64, std::span<const wsl::f32>)>& each) override {
    if constexpr (requires { trainer_.evaluate(b, each); }) return trainer_.evaluate(b, each);
    else {
      const wsl::f64 loss = trainer_.evaluate(b);
      each(0, trainer_.logits());
      return loss;
    }
  }
  std::vector<wsl::f32> predict(const wsl::ml::batch& b) override { return trainer_.predict(b); }
  std::string report(bool each_layer) const override { return table_of(trainer_.report(), each_layer); }
  void keep_timeline(bool yes) override {
    if constexpr (requires { trainer_.keep_timeline(yes); }) trainer_.keep_timeline(yes);
  }
  void add_to(wsl::ml::op_profile& p, wsl::f64 waited) const override {
    if constexpr (requires { p.add(trainer_.report(), waited); }) p.add(trainer_.report(), waited);
  }
  std::string busy_map() override {
    if constexpr (requires { trainer_.busy_map(); }) return trainer_.busy_map();
    else return {};
  }
  wsl::ml::trainer_base& run() override { return trainer_; }
  wsl::ml::batch_part part() override {
    if constexpr (requires { trainer_.part(); }) return trainer_.part();
    else return {};
  }

 private:
  Trainer trainer_;
};

}  // namespace train_app
