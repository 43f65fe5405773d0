// SPDX-License-Identifier: MIT
// A wafer that trains by the `execution_strategy` and in the precision of the params, with one interface for
// all of them. Users of this header compile no trainer; each trainer is compiled once, where machine_of.hpp
// makes a machine of it.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <wsl/layout/layout.hpp>
#include <wsl/ml/model/batch.hpp>
#include <wsl/ml/train/settings.hpp>
#include <wsl/ml/train/trainer_base.hpp>

namespace wsl::ml {
class op_profile;
}

namespace train_app {

using wsl::i64;

class machine {
 public:
  virtual ~machine() = default;

  virtual wsl::f64 step(const wsl::ml::batch& b, wsl::f64 rate) = 0;
  /// The same, and calls each(first, logits) for those before the step, as `evaluate` does.
  virtual wsl::f64 step(const wsl::ml::batch& b, wsl::f64 rate,
                        const std::function<void(i64, std::span<const wsl::f32>)>& each) = 0;
  /// The loss of a batch; calls each(first, logits) for consecutive tokens, the first of which has that
  /// number.
  virtual wsl::f64 evaluate(const wsl::ml::batch& b,
                            const std::function<void(i64, std::span<const wsl::f32>)>& each) = 0;
  virtual std::vector<wsl::f32> predict(const wsl::ml::batch& b) = 0;
  /// A breakdown of the time of the last training step, by blocks or for each layer.
  virtual std::string report(bool each_layer) const = 0;
  /// Says whether the steps that follow are profiled.
  virtual void keep_timeline(bool yes) = 0;
  /// Adds the last step, which has waited some seconds for its batch, to a profile.
  virtual void add_to(wsl::ml::op_profile& p, wsl::f64 waited) const = 0;
  /// The PEs as a heat map of the last training step, SVG; empty for a pipeline, whose threads are not
  /// followed.
  virtual std::string busy_map() = 0;
  virtual wsl::ml::trainer_base& run() = 0;
  /// The part of a batch that this process needs.
  virtual wsl::ml::batch_part part() = 0;

  wsl::i64 steps() { return run().steps(); }
};

/// A machine for pipelined execution, where weights stay with their layers; ranks.hpp has the machines for
/// weight streaming.
std::unique_ptr<machine> pipeline(wsl::ml::network n, const wsl::ml::optimizer& rule,
                                  const wsl::ml::pipeline_settings& how);
/// The layout of a pipeline.
wsl::layout pipeline_plan(int strips, int replicas);

}  // namespace train_app
