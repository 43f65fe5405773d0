// SPDX-License-Identifier: MIT
// Training by weight streaming: activations stay on the PEs of the wafers, weights stream past them tile by
// tile, and gradients go back to the memory, which updates the weights.
//   ml::trainer t{net, ml::optimizer::adamw()};
//   const f64 loss = t.step({.ids = x, .targets = y, .sequences = 12, .length = 64}, 1e-3);
// With .precision = ml::precision::bfloat16 among its settings it trains in mixed precision
// (op/precision.hpp), and with .sparsity = ml::sparsity::rigl({.sparsity = 0.9}) sparse weights, whose
// nonzeros alone travel and are multiplied and updated (sparsity/settings.hpp, sparse_parameters.hpp). On
// several processes, each with wafers of its own and the first with the memory, training gives the same bits:
//   ml::trainer t{net, ml::optimizer::adamw(), {.num_csx = 8}, mpi::world()};
// The memory, the nodes between wafers, and the wafers may be with processes of their own (roles.hpp):
//   ml::trainer t{net, rule, {.num_csx = 2, .roles = ml::roles_of("memoryx,swarmx,wafer*2")}, mpi::world()};
// See docs/guide/ml.md and examples/31_train.cpp.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../../engine/threaded/scaling_profile.hpp"
#include "../../fabric/fabric.hpp"
#include "roles.hpp"
#include "settings.hpp"
#include "streaming/recomputation.hpp"
#include "streaming/schedule.hpp"
#include "streaming/step_report.hpp"
#include "trainer_base.hpp"

namespace wsl::ml {

struct memory_server;
class swarm_node;
class worker;

class trainer : public trainer_base {
  /// Takes the place of mpi::world() where there is only one process.
  struct this_process {
    static bool root() { return true; }
    static int rank() { return 0; }
    static int size() { return 1; }
    static threaded with(const threaded& t) { return t; }
  };

 public:
  /// Throws std::invalid_argument if the settings ask for more wafers or workers than there can be.
  trainer(network n, const optimizer& rule, const streaming_settings& how = {})
      : trainer(std::move(n), rule, how, this_process{}) {}
  /// On several processes, as `mpi::world()` gives them. All processes make the same calls. The batch of each
  /// has at least the sequences of its `part()`, and the whole mask; every process gets the losses and
  /// logits. Throws std::invalid_argument if there are fewer wafers than processes that have some, and for
  /// roles that are not those of the processes.
  template <class Processes>
  trainer(network n, const optimizer& rule, const streaming_settings& how, const Processes& all)
      : trainer_base(std::move(n), rule, how.seed, how.memory_folder,
                     all.rank() == placement_of(how, all.size()).memory(), how.sparsity),
        how_(checked(how, all.size())),
        processes_(all.size()),
        make_fabric_([choice = all.with({.threads = threads_of(how, all),
                                         .pes_per_partition = 1,
                                         .cut_lines = true,
                                         .observer = observer_for(how)})](const layout& l,
                                                                          const std::vector<placed>& places) {
          auto placed_choice = choice;
          if constexpr (requires { placed_choice.places; })
            for (const placed& p : places) placed_choice.places.push_back({p.where, p.rank});
          return std::make_unique<fabric>(l, placed_choice);
        }) {
    scale_loss(how.loss_scaling.value_or(loss_scaling_for(how.precision)));
    if (how.workers && how.columns) build(how.workers, 1);
  }

  /// The part of each batch that this process needs.
  batch_part part();

  /// One step of training with learning rate `rate`. Returns the loss before the step, a mean weighted by the
  /// mask. With a dynamic loss scale a step whose loss is finite and a gradient is not is skipped: it counts,
  /// and nothing else of the state changes but the scale. Throws std::invalid_argument if the batch does not
  /// fit the model, or cannot be divided evenly among the wafers, and fault if the loss or a gradient is not
  /// finite. Then no number of the state has become NaN or infinite, and `steps()` is as before; if the loss
  /// is not finite, or with clip_norm, all of the state is as it was before the step. With a finite loss and
  /// a gradient that is not finite, parameters whose gradients came earlier may have been updated.
  f64 step(batch b, f64 rate);
  /// The same, and calls each(first, logits) for the logits before the step, as `evaluate` does.
  f64 step(batch b, f64 rate, const std::function<void(i64, std::span<const f32>)>& each);
  /// The loss of a batch, without training.
  f64 evaluate(batch b);
  /// The same, and calls each(first, logits) for the logits of consecutive tokens, (tokens, classes), as soon
  /// as they are known; `first` is the number of the first token in the batch.
  f64 evaluate(batch b, const std::function<void(i64, std::span<const f32>)>& each);
  /// The logits of a batch, (tokens, classes). The batch needs no targets.
  std::vector<f32> predict(batch b);
  /// The logits of the last batch, (tokens, classes). Throws std::invalid_argument if it had several
  /// micro-batches, of which only the last has left its logits.
  std::vector<f32> logits();

  /// Each loss of the model for the last batch that had targets: a mean over what counts in it, without its
  /// factor.
  std::vector<named_loss> losses();

  /// A breakdown of the time of the last training step. On several processes it covers the part of this one.
  const step_report& report() const { return report_; }
  /// From the next step on the report has, or has not, a timeline of the threads: run/op_profile.hpp draws
  /// it.
  void keep_timeline(bool yes) { keeps_timeline_ = yes; }
  /// A picture of the PEs, the darker the longer a thread worked on each in the last training step: SVG. On
  /// several processes nothing is measured, and PEs are gray.
  std::string busy_map();
  /// The grid of workers, and the fabric. Before the first batch they are chosen for large batches.
  const wafer_grid& grid() {
    build();
    return grid_;
  }
  fabric& wafer() {
    build();
    return *fabric_;
  }

  /// The layout of some wafers. Throws std::invalid_argument if there are not enough colors for them.
  static layout plan(const wafer_grid& g);

 private:
  static constexpr area at_work = rows(1, edge, 2);
  area servers() const { return rows(0, edge, 2).columns(0, grid_.columns); }
  area nodes() const { return rows(0, edge, 2).columns(grid_.columns, edge); }

  /// Lays out the wafers, for batches of that shape if the settings leave a choice.
  void build(int sequences = 0, int length = 1);
  run_observer* observer_for(const streaming_settings& how) const {
    if (how.profile) return how.profile;
    return times_.get();
  }
  static const streaming_settings& checked(const streaming_settings& how, int processes);
  static role_placement placement_of(const streaming_settings& how, int processes);
  /// The threads of this process. Where the processes of a computer have more than it has cores, those that
  /// have no wafer take a quarter: they work while wafers wait, and the other way round, and whoever has more
  /// threads than it needs keeps a core from the others.
  template <class Processes>
  static int threads_of(const streaming_settings& how, const Processes& all) {
    if constexpr (requires { all.crowded(1); }) {
      const int each = how.threads ? how.threads : default_threads();
      if (all.crowded(each) && !placement_of(how, all.size()).has_wafer(all.rank()))
        return std::max(1, each / 4);
    }
    return how.threads;
  }
  /// An area, and the process that runs it.
  struct placed {
    area where;
    int rank;
  };
  std::vector<placed> places() const;
  void require_even_wafers(const batch& b) const;
  /// Micro-batches have whole groups of the sequences that losses take together.
  void require_whole_groups(const batch& b) const;
  bool runs(int wafer) { return fabric_->here({wafer * grid_.columns, 1}); }

  /// Brings the ids and classes of all processes into b, because which rows of tables travel, and what counts
  /// in a loss, depends on all of them.
  void complete(batch& b);
  /// Makes numbers that each process has of its own sequences known to all.
  void bring(std::span<i32> all, int sequences);
  /// Takes a batch with targets; returns the number by which the sum of its loss is divided.
  f64 take(batch& b);
  /// Makes the sums over all tokens on which losses depend, in a forward pass, if there are any.
  void count_statistics(batch& b, const dropout_generator& random = {});
  void each_micro_batch(const batch& b, const std::function<void(const micro_batch&)>& f);
  std::vector<f32> room_for_logits(int sequences, const std::vector<int>& lengths) const;
  /// Copies the logits of the last micro-batch to their places among those of the batch.
  void copy_logits(std::span<f32> all);
  /// Calls each(first, logits) for those of each worker in the last micro-batch.
  void each_logits(const std::function<void(i64, std::span<const f32>)>& each);
  outcome pass(const batch& b, const micro_batch& m, const optimizer_step& o,
               const dropout_generator& random = {}, bool backward = false);
  /// How each parameter passes; the patterns of sparse ones are made, and numbers that have been written to
  /// whole arrays are taken.
  std::vector<sparse_use> uses_of_sparse(const optimizer_step& o, bool backward);
  /// Tells all processes those patterns of the first that they do not know.
  void share_patterns();
  /// All rounds of an update that has waited for the last gradient, or none: the gradients are discarded.
  void update_all(const optimizer_step& o, bool all_are_finite);
  /// Adds the pass of a micro-batch to the report.
  void measure_pass(stopwatch& watch, const optimizer_step& o);

  /// Calls f(program) for the PEs of an area that belong to this process, wafer by wafer.
  template <class P, class F>
  void each_here(const area& where, F f);
  template <class T>
  T sum(T memory_server::* of);
  /// The sum over all wafers, always in the same order.
  f64 loss();
  /// Adds f(worker) up over the workers of all wafers, always in the same order.
  f64 sum_of_workers(const std::function<f64(worker&)>& f);

  /// The last parameter of the model whose gradient is not finite, or -1; known to all processes.
  i32 not_finite();
  void require_a_batch() const;
  /// The name of the first stage with an output that is not finite, on any worker; empty if there is none.
  /// All processes get the same name.
  std::string first_not_finite();

  streaming_settings how_;
  wafer_grid grid_;
  std::optional<column_cut> cut_;
  std::optional<recomputation> blocks_;        // of which activations are computed again
  std::vector<streaming_schedule> schedules_;  // of each column, for the last batch
  batch last_;                                 // its shape
  std::vector<int> last_lengths_;              // of its sequences, on each axis
  micro_batch last_of_;                        // the last micro-batch of it that has passed
  std::vector<std::vector<i32>> ids_;          // ids and classes of all processes
  std::vector<f64> counts_;                    // what counted in each loss of the last batch
  std::unique_ptr<thread_times> times_ = std::make_unique<thread_times>();
  static constexpr std::size_t most_events_of_thread = 1'000'000;  // 24 MB
  bool keeps_timeline_ = false;
  int processes_;
  std::function<std::unique_ptr<fabric>(const layout&, const std::vector<placed>&)> make_fabric_;
  std::unique_ptr<fabric> fabric_;
  step_report report_;
};

}  // namespace wsl::ml

#ifndef WSL_ML_COMPILED
#include "streaming/run.hpp"
#endif
