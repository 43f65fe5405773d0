// SPDX-License-Identifier: MIT
// A wafer that trains in the way that `execution_strategy` and the precision name, with one vocabulary for
// all ways. Who uses it compiles no trainer: that is done once for each, by machine_of.hpp where a machine is
// made.
#pragma once
#include <memory>
#include <string>
#include <wsl/layout/layout.hpp>
#include <wsl/ml/model/batch.hpp>
#include <wsl/ml/train/settings.hpp>
#include <wsl/ml/train/trainer_base.hpp>

namespace train_app {

class machine {
 public:
  virtual ~machine() = default;

  virtual wsl::f64 step(const wsl::ml::batch& b, wsl::f64 rate) = 0;
  virtual wsl::f64 evaluate(const wsl::ml::batch& b) = 0;
  virtual std::vector<wsl::f32> predict(const wsl::ml::batch& b) = 0;
  virtual std::vector<wsl::f32> logits() = 0;
  /// Where the last step of training went.
  virtual std::string report() const = 0;
  virtual wsl::ml::trainer_base& run() = 0;
  /// What this process needs of a batch.
  virtual wsl::ml::batch_part part() = 0;

  wsl::i64 steps() { return run().steps(); }
};

/// Weights stay where their layers are; ranks.hpp has the machines to which they stream.
std::unique_ptr<machine> pipeline(wsl::ml::network n, const wsl::ml::optimizer& rule,
                                  const wsl::ml::pipeline_settings& how);
/// Its layout.
wsl::layout pipeline_plan(int strips);

}  // namespace train_app
