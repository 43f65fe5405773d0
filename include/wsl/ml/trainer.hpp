// SPDX-License-Identifier: MIT
// Training by weight streaming: activations stay on the wafers' PEs, weights pass them slab by slab, gradients go back to the memory,
// which changes the weights.
//   ml::trainer t{net, ml::optimizer::adamw()};
//   const f64 loss = t.step({.ids = x, .targets = y, .sequences = 12, .length = 64}, 1e-3);
// A bfloat16_trainer streams half as many bytes, see weight_format.hpp. See docs/guide/ml.md.
#pragma once
#include <optional>

#include "run.hpp"
#include "stream/memory.hpp"
#include "stream/swarm.hpp"
#include "stream/worker.hpp"

namespace wsl::ml {

struct training {
  int workers = 2;        ///< of a wafer, each with a server of the memory; a wafer's sequences are shared out to them
  int num_csx = 1;        ///< wafers; the global batch is divided evenly among them
  f64 clip_norm = 0;      ///< the largest norm of all gradients together; 0: any
  f64 clip_value = 0;     ///< the largest gradient of one number; 0: any
  u64 seed = 1;           ///< of the initial weights and of dropout
  int threads = 0;        ///< 0: WSL_THREADS, or one a core; more than two a worker do not help
  std::string memory_folder = {};  ///< where the memory keeps its numbers in files that are mapped; empty: in this computer's memory
};

/// Weights travel and wait as `Weight`, f32 or bf16; all that is computed is f32.
template <class Weight = f32>
class basic_trainer : public training_run {
 public:
  /// Throws std::invalid_argument if there cannot be so many wafers or workers.
  basic_trainer(network n, const optimizer& rule, const training& how = {})
      : training_run(std::move(n), rule, how.seed, how.memory_folder), how_(checked(how)), fabric_(plan(how.workers, how.num_csx), threaded{.threads = how.threads, .pes_per_band = 1}) {}

  /// One step of training. Returns the mean loss of the tokens that count, before the step. Throws std::invalid_argument if the batch
  /// does not fit the model, or cannot be divided among the wafers.
  f64 step(batch b, f64 rate) {
    const f64 counts = check(*network_, b);
    if (b.sequences % how_.num_csx)
      throw std::invalid_argument("wsl: num_csx " + std::to_string(how_.num_csx) + " requires the global batch size " + std::to_string(b.sequences) + " to be divisible by num_csx");
    const learning l{rule_, static_cast<f32>(rate), ++steps_, {how_.clip_norm, how_.clip_value}};
    stopwatch watch(report_);
    pass(b, l, chance_of_step(), true);
    log_passes(watch);
    if (!l.now()) {
      fabric_.launch<&server::learn>(servers, clip_by_norm(sum(&server::sum_of_squares), how_.clip_norm));
      watch.phase("update", sum(&server::work));
    }
    return loss() / counts;
  }
  /// The mean loss without training.
  f64 evaluate(batch b) {
    const f64 counts = check(*network_, b);
    pass(b, {rule_});
    return loss() / counts;
  }
  /// The logits of a batch, (tokens, classes); it needs no targets.
  std::vector<f32> predict(batch b) {
    b.targets = {}, b.mask = {};
    check_input(*network_, b);
    pass(b, {rule_});
    return logits();
  }
  /// The logits of the last batch, (tokens, classes).
  std::vector<f32> logits() {
    std::vector<f32> all;
    each<wafer_worker>(at_work, [&](wafer_worker& w) {
      const matrix<f32> part = w.at.value(network_->logits());
      all.insert(all.end(), part.first(), part.first() + i64{part.rows()} * part.columns());
    });
    return all;
  }

  /// Of the last step of training.
  const step_report& report() const { return report_; }
  fabric& wafer() { return fabric_; }

  /// The layout that trains.
  static layout plan(int workers, int num_csx = 1) {
    layout l{host, num_csx, 2 * workers};
    l.place(servers, program_v<server>).place(at_work, program_v<wafer_worker>);
    each_swarm_node(num_csx, [&]<int level, int children>(const area& a) { l.place(a, program_v<swarm_node<level, children>>); });
    wires::wire<Weight>(l);
    return l;
  }

 private:
  using server = memory_server<Weight>;
  using wafer_worker = worker<Weight>;
  static constexpr area servers = rows(0, end, 2).column(0), at_work = rows(1, end, 2);

  static const training& checked(const training& how) {
    clipping::checked(how.clip_norm, how.clip_value);
    if (how.workers < 1 || how.workers > wires::most)
      throw std::invalid_argument("wsl: a wafer that trains has 1 to " + std::to_string(wires::most) + " workers, not " + std::to_string(how.workers));
    if (how.num_csx < 1 || how.num_csx > wires::most_wafers)
      throw std::invalid_argument("wsl: num_csx is 1 to " + std::to_string(wires::most_wafers) + ", not " + std::to_string(how.num_csx));
    return how;
  }
  void pass(const batch& b, const learning& l, const chance& random = {}, bool back = false) {
    const itinerary& way = way_.emplace(*network_, how_.workers, back, &b);
    fabric_.start<&server::step>(servers, &way, &memory_, l);
    each_swarm_node(how_.num_csx, [&]<int level, int children>(const area& a) { fabric_.start<&swarm_node<level, children>::step>(a, &way); });
    fabric_.start<&wafer_worker::step>(at_work, work_order{network_.get(), &way, b, random});
    report_.traffic = fabric_.run();
  }
  void log_passes(stopwatch& watch) {
    wall_clock::time_point turned, finished;
    f64 forward = 0, back = 0;
    u64 peak = 0;
    each<wafer_worker>(at_work, [&](wafer_worker& w) {
      turned = std::max(turned, w.log.turned), finished = std::max(finished, w.log.finished);
      forward += w.log.forward, back += w.log.back;
      peak = std::max<u64>(peak, w.log.peak);
    });
    watch.phase("forward", forward, turned);
    watch.phase("backward", back, finished);
    watch.phase(how_.clip_norm == 0 ? "last gradients and update" : "last gradients", how_.clip_norm == 0 ? sum(&server::work) : 0);
    report_.sent_forward = sum(&server::sent_forward), report_.sent_back = sum(&server::sent_back);
    report_.returned = sum(&server::returned);
    report_.peak_weights = sizeof(Weight) * peak, report_.two_layers = sizeof(Weight) * way_->two_layers();
  }

  /// Calls f(program) for the PEs of an area, wafer by wafer.
  template <class P, class F>
  void each(const area& where, F f) {
    const region r = fabric_.plan().inside(where);
    for (int x = 0; x < r.columns(); ++x)
      for (int y = 0; y < r.rows(); ++y) f(fabric_.program_at<P>(r.nth(y * r.columns() + x)));
  }
  template <class T>
  T sum(T server::* of) {
    T total = 0;
    each<server>(servers, [&](server& s) { total += s.*of; });
    return total;
  }
  f64 loss() {
    f64 total = 0;
    each<wafer_worker>(at_work, [&](wafer_worker& w) { total += w.at.loss; });
    return total;
  }

  training how_;
  std::optional<itinerary> way_;  ///< of the last batch
  fabric fabric_;
  step_report report_;
};

using trainer = basic_trainer<f32>;
using bfloat16_trainer = basic_trainer<bf16>;

}  // namespace wsl::ml
