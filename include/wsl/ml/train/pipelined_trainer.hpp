// SPDX-License-Identifier: MIT
// Training in a pipeline, with all layers on the wafer at once: each lies on a strip of it, samples stream
// through from strip to strip and their gradients back, and every PE updates its parameters in place. This is
// for models that fit on a wafer; trainer.hpp has the same calls for those that do not.
//   ml::pipelined_trainer t{net, ml::optimizer::adam(), {.strips = 4}};
// See docs/guide/ml.md and examples/32_pipeline.cpp.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "../../engine/threaded/scaling_profile.hpp"
#include "../../fabric/fabric.hpp"
#include "../model/batch.hpp"
#include "pipelined/pipeline_report.hpp"
#include "pipelined/strips.hpp"
#include "settings.hpp"
#include "trainer_base.hpp"
#include "wall_clock.hpp"

namespace wsl::ml {

struct pipeline_step;
class strip_worker;

class pipelined_trainer : public trainer_base {
 public:
  /// Throws std::invalid_argument for a number of strips or replicas, or a micro-batch size, that is out of
  /// range.
  pipelined_trainer(network n, const optimizer& rule, const pipeline_settings& how = {})
      : trainer_base(std::move(n), rule, how.seed),
        how_(checked(how)),
        strips_(*network_, how.strips),
        fabric_(plan(strips_.count(), how.replicas),
                threaded{.threads = how.threads, .pes_per_partition = 1, .observer = how.profile}) {
    scale_loss(how.loss_scaling.value_or(loss_scaling_for(how.precision)));
  }

  /// One step of training with learning rate `rate`. Returns the loss before the step, a mean weighted by the
  /// mask. With a dynamic loss scale a step whose loss is finite and a gradient is not is skipped: it counts,
  /// and nothing else of the state changes but the scale. Throws std::invalid_argument if the batch does not
  /// fit the model or cannot be divided evenly among the replicas, and fault if the loss or a gradient is not
  /// finite. Then no number of the state has become NaN or infinite, and `steps()` is as before; if the loss
  /// is not finite, or with clip_norm, all of the state is as it was before the step. With a finite loss and
  /// a gradient that is not finite, the parameters of other PEs may have been updated.
  f64 step(batch b, f64 rate);
  /// The loss of a batch, without training. Throws std::invalid_argument if there are several replicas.
  f64 evaluate(batch b);
  /// The logits of a batch, (tokens, classes). The batch needs no targets. Throws std::invalid_argument if
  /// there are several replicas.
  std::vector<f32> predict(batch b);
  /// The logits of the last batch that was evaluated or predicted, (tokens, classes). Those of padding, which
  /// evaluation leaves out, are zeros there.
  std::vector<f32> logits();

  /// Each loss of the model for the last batch that had targets: a mean over what counts in it, without its
  /// factor.
  std::vector<named_loss> losses();

  /// A breakdown of the time of the last training step.
  const pipeline_report& report() const { return report_; }
  const strips& layers() const { return strips_; }
  fabric& wafer() { return fabric_; }

  static constexpr int max_replicas = 64;
  /// The layout of a pipeline with this number of strips, in which each replica is a row.
  static layout plan(int strips, int replicas = 1);

 private:
  static const pipeline_settings& checked(const pipeline_settings& how);
  void must_have_one_replica() const;
  /// Of each replica.
  int micro_batches(const batch& b) const;
  void forward(const batch& b, const dropout_generator& random = {});
  /// Makes the sums over all tokens on which losses depend, in a forward pass, if there are any.
  void count_statistics(batch& b, const dropout_generator& random = {});
  /// The name of the first stage with an output that is not finite, empty if there is none: the step's
  /// forward pass is repeated, which the parameters allow because nothing has updated them.
  std::string first_not_finite(const batch& b);
  /// Passes a batch as the step says, whose other settings are those of the trainer.
  void pass(const batch& b, pipeline_step s);
  void each(const std::function<void(strip_worker&)>& f);
  f64 loss();
  void measure(wall_clock::time_point began, int micro_batches);

  pipeline_settings how_;
  strips strips_;
  fabric fabric_;
  pipeline_report report_;
  std::vector<f64> counts_;  // what counted in each loss of the last batch
};

}  // namespace wsl::ml

#ifndef WSL_ML_COMPILED
#include "pipelined/run.hpp"
#endif
