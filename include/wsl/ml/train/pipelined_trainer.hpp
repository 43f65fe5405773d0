// SPDX-License-Identifier: MIT
// Training with all layers on the wafer at once: each lies on a strip of it, samples stream through from
// strip to strip and their gradients back, and the parameters change where they are. For models that fit;
// trainer.hpp has the same calls for those that do not.
//   ml::pipelined_trainer t{net, ml::optimizer::adam(), {.strips = 4}};
// See examples/32_pipeline.cpp.
#pragma once
#include "pipelined/report.hpp"
#include "pipelined/worker.hpp"
#include "settings.hpp"

namespace wsl::ml {

class pipelined_trainer : public training_run {
 public:
  /// Throws std::invalid_argument for a number of strips or a micro-batch size that cannot be.
  pipelined_trainer(network n, const optimizer& rule, const pipelining& how = {})
      : training_run(std::move(n), rule, how.seed),
        how_(checked(how)),
        strips_(*network_, how.strips),
        fabric_(plan(strips_.count()), threaded{.threads = how.threads, .pes_per_partition = 1}) {}

  /// One step of training. Returns the mean loss of the tokens that count, before the step. Throws
  /// std::invalid_argument if the batch does not fit the model.
  f64 step(batch b, f64 rate) {
    const f64 counts = check(*network_, b);
    const learning l{rule_, static_cast<f32>(rate), ++steps_, {how_.clip_norm, how_.clip_value}};
    const wall_clock::time_point began = wall_clock::now();
    pass({&strips_, &memory_, b, micro_batches(b), l, chance_of_step(), true});
    if (!l.now()) {
      f64 sum = 0;
      each([&](strip_worker& w) { sum += w.sum_of_squares; });
      fabric_.launch<&strip_worker::learn>(all, clip_by_norm(sum, how_.clip_norm));
    }
    log(began, micro_batches(b));
    return loss() / counts;
  }
  /// The mean loss without training.
  f64 evaluate(batch b) {
    const f64 counts = check(*network_, b);
    forward(b);
    return loss() / counts;
  }
  /// The logits of a batch, (tokens, classes); it needs no targets.
  std::vector<f32> predict(batch b) {
    b.targets = {}, b.mask = {};
    check_input(*network_, b);
    forward(b);
    return logits();
  }
  /// The logits of the last batch that was evaluated, (tokens, classes).
  std::vector<f32> logits() { return fabric_.program_at<strip_worker>({strips_.count() - 1, 0}).logits; }

  /// Of the last step of training.
  const pipeline_report& report() const { return report_; }
  const strips& layers() const { return strips_; }
  fabric& wafer() { return fabric_; }

  /// The layout that trains.
  static layout plan(int strips) {
    layout l{host, strips, 1};
    l.place<strip_worker>(all);
    pipes::wire(l);
    return l;
  }

 private:
  static const pipelining& checked(const pipelining& how) {
    clipping::checked(how.clip_norm, how.clip_value);
    if (how.micro_batch_size < 0)
      throw std::invalid_argument(
          "wsl: a micro-batch has at least one sequence, or 0 for a size that fits, not " +
          std::to_string(how.micro_batch_size));
    return how;
  }
  int micro_batches(const batch& b) const {
    if (how_.micro_batch_size == 0) return std::min(b.sequences, 4 * strips_.count());
    return (b.sequences + how_.micro_batch_size - 1) / how_.micro_batch_size;
  }
  void forward(const batch& b) { pass({&strips_, &memory_, b, micro_batches(b), {rule_}}); }
  void pass(const pipeline_order& o) {
    fabric_.start<&strip_worker::step>(all, o);
    report_.traffic = fabric_.run();
  }
  template <class F>
  void each(F f) {
    for (int x = 0; x < strips_.count(); ++x) f(fabric_.program_at<strip_worker>({x, 0}));
  }
  f64 loss() {
    f64 total = 0;
    each([&](strip_worker& w) { total += w.loss; });
    return total;
  }
  void log(wall_clock::time_point began, int micro_batches) {
    const wall_clock::time_point ended = wall_clock::now();
    report_.seconds = seconds(ended - began), report_.micro_batches = micro_batches, report_.resident = 0;
    report_.strips.clear();
    f64 work = 0;
    for (int x = 0; x < strips_.count(); ++x) work += strips_[x].work;
    for (int x = 0; x < strips_.count(); ++x) {
      const strip& s = strips_[x];
      const strip_log& l = fabric_.program_at<strip_worker>({x, 0}).log;
      report_.strips.push_back({s.parts.front().of->name + " .. " + s.parts.back().of->name, s.work / work,
                                l.forward, l.back, l.update, seconds(l.began - began),
                                seconds(ended - l.finished)});
      for (const stage_part& p : s.parts) report_.resident += p.which < 0 ? 0 : sizeof(f32) * p.size();
    }
  }

  pipelining how_;
  strips strips_;
  fabric fabric_;
  pipeline_report report_;
};

}  // namespace wsl::ml
