// SPDX-License-Identifier: MIT
// Training by weight streaming: activations stay on the wafers' PEs, weights pass them slab by slab,
// gradients go back to the memory, which changes the weights.
//   ml::trainer t{net, ml::optimizer::adamw()};
//   const f64 loss = t.step({.ids = x, .targets = y, .sequences = 12, .length = 64}, 1e-3);
// A bfloat16_trainer streams half as many bytes, see weight_format.hpp.
// On several processes, each with wafers of its own and the first with the memory, the same bits:
//   ml::trainer t{net, ml::optimizer::adamw(), {.num_csx = 8}, mpi::world()};
// See docs/guide/ml.md.
#pragma once
#include <optional>

#include "run.hpp"
#include "settings.hpp"
#include "streaming/memory.hpp"
#include "streaming/swarm.hpp"
#include "streaming/worker.hpp"

namespace wsl::ml {

/// Weights travel and wait as `Weight`, f32 or bf16; all that is computed is f32.
template <class Weight = f32>
class basic_trainer : public training_run {
  /// What stands for the processes where there is one.
  struct this_process {
    static bool root() { return true; }
    static int size() { return 1; }
    static threaded with(const threaded& t) { return t; }
  };

 public:
  /// Throws std::invalid_argument if there cannot be so many wafers or workers.
  basic_trainer(network n, const optimizer& rule, const training& how = {})
      : basic_trainer(std::move(n), rule, how, this_process{}) {}
  /// On several processes, as `mpi::world()` has them. All of them make the same calls, with batches that
  /// have at least the sequences of `part()` and all of the mask; losses and logits are known to all. Throws
  /// std::invalid_argument if there are fewer wafers than processes.
  template <class Processes>
  basic_trainer(network n, const optimizer& rule, const training& how, const Processes& all)
      : training_run(std::move(n), rule, how.seed, how.memory_folder, all.root()),
        how_(checked(how, all.size())),
        fabric_(plan(how.workers, how.num_csx), all.with({.threads = how.threads, .pes_per_partition = 1})) {}

  /// What this process needs of a batch.
  batch_part part() {
    batch_part p{.first = 0, .end = how_.num_csx, .of = how_.num_csx};
    while (p.first < p.end && !runs(p.first)) ++p.first;
    while (p.first < p.end && !runs(p.end - 1)) --p.end;
    return p;
  }

  /// One step of training. Returns the mean loss of the tokens that count, before the step. Throws
  /// std::invalid_argument if the batch does not fit the model, or cannot be divided among the wafers.
  f64 step(batch b, f64 rate) {
    complete(b);
    const f64 counts = check(*network_, b);
    if (b.sequences % how_.num_csx)
      throw std::invalid_argument("wsl: num_csx " + std::to_string(how_.num_csx) +
                                  " requires the global batch size " + std::to_string(b.sequences) +
                                  " to be divisible by num_csx");
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
    complete(b);
    const f64 counts = check(*network_, b);
    pass(b, {rule_});
    return loss() / counts;
  }
  /// The logits of a batch, (tokens, classes); it needs no targets.
  std::vector<f32> predict(batch b) {
    b.targets = {}, b.mask = {};
    complete(b);
    check_input(*network_, b);
    pass(b, {rule_});
    return logits();
  }
  /// The logits of the last batch, (tokens, classes).
  std::vector<f32> logits() {
    const int all_workers = how_.num_csx * how_.workers;
    const std::size_t of_sequence = static_cast<std::size_t>(last_.length) *
                                    static_cast<std::size_t>(network_->width(network_->logits()));
    const auto begin_of = [&](int worker_of_all) {
      return static_cast<std::size_t>(wafer_worker::first_sequence(last_, worker_of_all, all_workers)) *
             of_sequence;
    };
    std::vector<f32> all(begin_of(all_workers));
    for (int k = 0; k < all_workers; ++k) {
      const coord c{k / how_.workers, 2 * (k % how_.workers) + 1};
      const std::span<f32> part = std::span(all).subspan(begin_of(k), begin_of(k + 1) - begin_of(k));
      if (fabric_.here(c))
        std::copy_n(fabric_.program_at<wafer_worker>(c).at.value(network_->logits()).first(), part.size(),
                    part.begin());
      fabric_.bring(c, part);
    }
    return all;
  }

  /// Of the last step of training; on several processes of the wafers and the part of the memory that are
  /// here.
  const step_report& report() const { return report_; }
  fabric& wafer() { return fabric_; }

  /// The layout that trains.
  static layout plan(int workers, int num_csx = 1) {
    layout l{host, num_csx, 2 * workers};
    l.place<server>(servers);
    l.place<wafer_worker>(at_work);
    each_swarm_node(num_csx,
                    [&]<int level, int children>(const area& a) { l.place<swarm_node<level, children>>(a); });
    wires::wire<Weight>(l);
    return l;
  }

 private:
  using server = memory_server<Weight>;
  using wafer_worker = worker<Weight>;
  static constexpr area servers = rows(0, edge, 2).column(0), at_work = rows(1, edge, 2);

  static const training& checked(const training& how, int processes) {
    clipping::checked(how.clip_norm, how.clip_value);
    if (how.workers < 1 || how.workers > wires::most)
      throw std::invalid_argument("wsl: a wafer that trains has 1 to " + std::to_string(wires::most) +
                                  " workers, not " + std::to_string(how.workers));
    if (how.num_csx < 1 || how.num_csx > wires::most_wafers)
      throw std::invalid_argument("wsl: num_csx is 1 to " + std::to_string(wires::most_wafers) + ", not " +
                                  std::to_string(how.num_csx));
    if (how.num_csx < processes)
      throw std::invalid_argument("wsl: " + std::to_string(processes) +
                                  " processes train on at least as many wafers, not on num_csx " +
                                  std::to_string(how.num_csx) + ": each has one or more");
    return how;
  }
  bool runs(int wafer) { return fabric_.here({wafer, 1}); }

  /// Which rows of tables travel depends on the tokens of all wafers.
  void complete(batch& b) {
    if (!fabric_.spread() || b.ids.size() != b.tokens()) return;
    ids_.assign(b.ids.begin(), b.ids.end());
    for (int wafer = 0; wafer < how_.num_csx; ++wafer) {
      const batch_part of{wafer, wafer + 1, how_.num_csx};
      const auto begin = static_cast<std::size_t>(of.begin_in(b.sequences) * b.length),
                 end = static_cast<std::size_t>(of.end_in(b.sequences) * b.length);
      fabric_.bring(coord{wafer, 1}, std::span(ids_).subspan(begin, end - begin));
    }
    b.ids = ids_;
  }
  void pass(const batch& b, const learning& l, const dropout_generator& random = {}, bool back = false) {
    last_ = {.sequences = b.sequences, .length = b.length};
    const streaming_schedule& way = way_.emplace(*network_, how_.workers, back, &b);
    fabric_.start<&server::step>(servers, &way, &memory_, l);
    each_swarm_node(how_.num_csx, [&]<int level, int children>(const area& a) {
      fabric_.start<&swarm_node<level, children>::step>(a, &way);
    });
    fabric_.start<&wafer_worker::step>(at_work, work_order{network_.get(), &way, b, random});
    report_.traffic = fabric_.run();
  }
  void log_passes(stopwatch& watch) {
    wall_clock::time_point turned, finished;
    f64 forward = 0, back = 0;
    u64 peak = 0;
    each_here<wafer_worker>(at_work, [&](wafer_worker& w) {
      turned = std::max(turned, w.log.turned), finished = std::max(finished, w.log.finished);
      forward += w.log.forward, back += w.log.back;
      peak = std::max<u64>(peak, w.log.peak);
    });
    watch.phase("forward", forward, turned);
    watch.phase("backward", back, finished);
    watch.phase(how_.clip_norm == 0 ? "last gradients and update" : "last gradients",
                how_.clip_norm == 0 ? sum(&server::work) : 0);
    report_.sent_forward = sum(&server::sent_forward), report_.sent_back = sum(&server::sent_back);
    report_.returned = sum(&server::returned);
    report_.peak_weights = sizeof(Weight) * peak, report_.two_layers = sizeof(Weight) * way_->two_layers();
  }

  /// Calls f(program) for the PEs of an area that this process runs, wafer by wafer.
  template <class P, class F>
  void each_here(const area& where, F f) {
    const region r = fabric_.plan().inside(where);
    for (int x = 0; x < r.columns(); ++x)
      for (int y = 0; y < r.rows(); ++y)
        if (const coord c = r.nth(y * r.columns() + x); fabric_.here(c)) f(fabric_.program_at<P>(c));
  }
  template <class T>
  T sum(T server::* of) {
    T total = 0;
    each_here<server>(servers, [&](server& s) { total += s.*of; });
    return total;
  }
  /// The sum over all wafers in one order, wherever they are.
  f64 loss() {
    const region r = fabric_.plan().inside(at_work);
    std::vector<f64> of(static_cast<std::size_t>(r.count()));
    for (int i = 0; i < r.count(); ++i)
      if (fabric_.here(r.nth(i)))
        of[static_cast<std::size_t>(i)] = fabric_.program_at<wafer_worker>(r.nth(i)).at.loss;
    fabric_.bring_each(at_work, std::span(of));
    f64 total = 0;
    for (int x = 0; x < r.columns(); ++x)
      for (int y = 0; y < r.rows(); ++y) total += of[static_cast<std::size_t>(y * r.columns() + x)];
    return total;
  }

  training how_;
  std::optional<streaming_schedule> way_;  ///< of the last batch
  batch last_;                             ///< its shape
  std::vector<i32> ids_;                   ///< of all processes
  fabric fabric_;
  step_report report_;
};

using trainer = basic_trainer<f32>;
using bfloat16_trainer = basic_trainer<bf16>;

}  // namespace wsl::ml
