// SPDX-License-Identifier: MIT
// Training in a pipeline, with all layers on the wafer at once: each lies on a strip of it, samples stream
// through from strip to strip and their gradients back, and every PE updates its parameters in place. This is
// for models that fit on a wafer; trainer.hpp has the same calls for those that do not.
//   ml::pipelined_trainer t{net, ml::optimizer::adam(), {.strips = 4}};
// See docs/guide/ml.md and examples/32_pipeline.cpp.
#pragma once
#include <fmt/format.h>
#include "pipelined/pipeline_report.hpp"
#include "pipelined/worker.hpp"
#include "settings.hpp"

namespace wsl::ml {

class pipelined_trainer : public trainer_base {
 public:
  /// Throws std::invalid_argument for a number of strips or replicas, or a micro-batch size, that is out of
  /// range.
  pipelined_trainer(network n, const optimizer& rule, const pipeline_settings& how = {})
      : trainer_base(std::move(n), rule, how.seed),
        how_(checked(how)),
        strips_(*network_, how.strips),
        fabric_(plan(strips_.count(), how.replicas),
                threaded{.threads = how.threads, .pes_per_partition = 1, .profile = how.profile}) {}

  /// One step of training with learning rate `rate`. Returns the loss before the step, a mean weighted by the
  /// mask. Throws std::invalid_argument if the batch does not fit the model or cannot be divided evenly among
  /// the replicas, and fault if the loss or a gradient is not finite. Then no number of the state has become
  /// NaN or infinite, and `steps()` is as before; if the loss is not finite, or with clip_norm, all of the
  /// state is as it was before the step. With a finite loss and a gradient that is not finite, the parameters
  /// of other PEs may have been updated.
  f64 step(batch b, f64 rate) {
    const f64 counts = check(*network_, b);
    counts_ = counts_of_losses(*network_, b);
    if (b.sequences % how_.replicas)
      throw std::invalid_argument(
          fmt::format("wsl: a batch of {} sequences cannot be divided evenly among {} replicas of the model",
                      b.sequences, how_.replicas));
    const optimizer_step o = arrays_.step(rate, ++steps_, {how_.clip_norm, how_.clip_value});
    const wall_clock::time_point began = wall_clock::now();
    pass({&strips_, &arrays_, b, micro_batches(b), o, dropout_of_step(), true});
    i32 not_finite = -1;
    each([&](strip_worker& w) { not_finite = std::max(not_finite, w.not_finite); });
    const f64 mean = loss() / counts;
    if (!o.updates_at_once() && std::isfinite(mean) && not_finite < 0) {
      f64 sum = 0;
      each([&](strip_worker& w) { sum += w.sum_of_squares; });
      for (int round = 0; round < o.rounds; ++round) {
        fabric_.launch<&strip_worker::update_all>(row(0), o.scale(sum), round);
        each([&](strip_worker& w) { arrays_.collect(w.sums); });
        arrays_.combine(o, o.scale(sum), round);
      }
    }
    measure(began, micro_batches(b));
    require_finite(mean, not_finite, std::isfinite(mean) ? "" : first_not_finite(b));
    return mean;
  }
  /// The loss of a batch, without training. Throws std::invalid_argument if there are several replicas.
  f64 evaluate(batch b) {
    must_have_one_replica();
    const f64 counts = check(*network_, b);
    counts_ = counts_of_losses(*network_, b);
    forward(b);
    return loss() / counts;
  }
  /// The logits of a batch, (tokens, classes). The batch needs no targets. Throws std::invalid_argument if
  /// there are several replicas.
  std::vector<f32> predict(batch b) {
    must_have_one_replica();
    b = without_targets(*network_, std::move(b));
    check_input(*network_, b);
    forward(b);
    return logits();
  }
  /// The logits of the last batch that was evaluated or predicted, (tokens, classes).
  std::vector<f32> logits() { return fabric_.program_at<strip_worker>({strips_.count() - 1, 0}).logits; }

  /// Each loss of the model for the last batch that had targets: a mean over what counts in it, without its
  /// factor.
  std::vector<named_loss> losses() {
    std::vector<named_loss> all;
    for (const loss_stage* x : network_->losses()) {
      f64 sum = 0;
      each([&](strip_worker& w) { sum += sum_of(w.losses, *x); });
      all.push_back({x->name, mean_of(counts_, *x, sum)});
    }
    return all;
  }

  /// A breakdown of the time of the last training step.
  const pipeline_report& report() const { return report_; }
  const strips& layers() const { return strips_; }
  fabric& wafer() { return fabric_; }

  static constexpr int max_replicas = 64;
  /// The layout of a pipeline with this number of strips, in which each replica is a row.
  static layout plan(int strips, int replicas = 1) {
    return layout{host, strips, replicas}.place<strip_worker>(all).wire(
        eastward, westward, replica_parameters, replica_gradients);
  }

 private:
  static const pipeline_settings& checked(const pipeline_settings& how) {
    clipping::checked(how.clip_norm, how.clip_value);
    if (how.micro_batch_size < 0)
      throw std::invalid_argument(
          fmt::format("wsl: a micro-batch has at least one sequence, or 0 for a size that fits, not {}",
                      how.micro_batch_size));
    if (how.replicas < 1 || how.replicas > max_replicas)
      throw std::invalid_argument(
          fmt::format("wsl: a pipeline has 1 to {} replicas, not {}", max_replicas, how.replicas));
    return how;
  }
  void must_have_one_replica() const {
    if (how_.replicas > 1)
      throw std::invalid_argument(
          fmt::format("wsl: multi-replica is for training only, and this pipeline has {} replicas: evaluate "
                      "and predict with a trainer of one, which has been given the state",
                      how_.replicas));
  }
  /// Of each replica.
  int micro_batches(const batch& b) const {
    const int sequences = b.sequences / how_.replicas;
    if (how_.micro_batch_size == 0) return std::min(sequences, 4 * strips_.count());
    return (sequences + how_.micro_batch_size - 1) / how_.micro_batch_size;
  }
  void forward(const batch& b) { pass({&strips_, &arrays_, b, micro_batches(b), {}}); }
  /// The name of the first stage with an output that is not finite, empty if there is none: the step's
  /// forward pass is repeated, which the parameters allow because nothing has updated them.
  std::string first_not_finite(const batch& b) {
    for (int v = 0; v < static_cast<int>(network_->values().size()); ++v)
      if (const std::span<const f32> x = features_of(*network_, b, v);
          network_->is_input(v) && !all_finite(x.data(), static_cast<int>(x.size())))
        return "the features of the batch";
    pass({.of = &strips_,
          .arrays = &arrays_,
          .all = b,
          .micro_batches = micro_batches(b),
          .optimize = {},
          .random = dropout_of_step(),
          .seeks_not_finite = true});
    const stage* first = nullptr;
    each([&](strip_worker& w) { first = first ? first : w.lost_at; });
    return first ? first->name : "";
  }
  void pass(const pipeline_step& s) {
    fabric_.start<&strip_worker::step>(all, s);
    report_.counters = fabric_.run();
  }
  template <class F>
  void each(F f) {
    for (int replica = 0; replica < how_.replicas; ++replica)
      for (int x = 0; x < strips_.count(); ++x) f(fabric_.program_at<strip_worker>({x, replica}));
  }
  f64 loss() {
    f64 total = 0;
    each([&](strip_worker& w) { total += w.loss; });
    return total;
  }
  void measure(wall_clock::time_point began, int micro_batches) {
    const wall_clock::time_point ended = wall_clock::now();
    report_.seconds = seconds(ended - began), report_.micro_batches = micro_batches;
    report_.replicas = how_.replicas, report_.resident = 0;
    report_.strips.clear();
    f64 work = 0;
    for (int x = 0; x < strips_.count(); ++x) work += strips_[x].work;
    for (int replica = 0; replica < how_.replicas; ++replica)
      for (int x = 0; x < strips_.count(); ++x) {
        const strip& s = strips_[x];
        const strip_times& t = fabric_.program_at<strip_worker>({x, replica}).times;
        report_.strips.push_back({s.parts.front().of->name + " .. " + s.parts.back().of->name, replica,
                                  s.work / work / how_.replicas, t.forward, t.backward, t.update,
                                  seconds(t.began - began), seconds(ended - t.finished)});
        for (const stage_part& p : s.parts) report_.resident += p.which < 0 ? 0 : sizeof(f32) * p.size();
      }
  }

  pipeline_settings how_;
  strips strips_;
  fabric fabric_;
  pipeline_report report_;
  std::vector<f64> counts_;  // what counted in each loss of the last batch
};

}  // namespace wsl::ml
