// SPDX-License-Identifier: MIT
// Training by weight streaming: activations stay on the PEs of the wafers, weights stream past them tile by
// tile, and gradients go back to the memory, which updates the weights.
//   ml::trainer t{net, ml::optimizer::adamw()};
//   const f64 loss = t.step({.ids = x, .targets = y, .sequences = 12, .length = 64}, 1e-3);
// With .precision = ml::precision::bfloat16 among its settings it trains in mixed precision
// (op/precision.hpp). On several processes, each with wafers of its own and the first with the memory,
// training gives the same bits:
//   ml::trainer t{net, ml::optimizer::adamw(), {.num_csx = 8}, mpi::world()};
// See docs/guide/ml.md and examples/31_train.cpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../../engine/threaded/scaling_profile.hpp"
#include "settings.hpp"
#include "streaming/grid_choice.hpp"
#include "streaming/memory_server.hpp"
#include "streaming/swarm.hpp"
#include "streaming/worker.hpp"
#include "trainer_base.hpp"

namespace wsl::ml {

class trainer : public trainer_base {
  /// Takes the place of mpi::world() where there is only one process.
  struct this_process {
    static bool root() { return true; }
    static int size() { return 1; }
    static threaded with(const threaded& t) { return t; }
  };

 public:
  /// Throws std::invalid_argument if the settings ask for more wafers or workers than there can be.
  trainer(network n, const optimizer& rule, const streaming_settings& how = {})
      : trainer(std::move(n), rule, how, this_process{}) {}
  /// On several processes, as `mpi::world()` gives them. All processes make the same calls. The batch of each
  /// has at least the sequences of its `part()`, and the whole mask; every process gets the losses and
  /// logits. Throws std::invalid_argument if there are fewer wafers than processes.
  template <class Processes>
  trainer(network n, const optimizer& rule, const streaming_settings& how, const Processes& all)
      : trainer_base(std::move(n), rule, how.seed, how.memory_folder, all.root()),
        how_(checked(how, all.size())),
        make_fabric_([choice = all.with({.threads = how.threads,
                                         .pes_per_partition = 1,
                                         .cut_lines = true,
                                         .observer = observer_for(how)})](const layout& l) {
          return std::make_unique<fabric>(l, choice);
        }) {
    scale_loss(how.loss_scaling.value_or(loss_scaling_for(how.precision)));
    if (how.workers && how.columns) build(how.workers, 1);
  }

  /// The part of each batch that this process needs.
  batch_part part() {
    build();
    batch_part p{.first = 0, .end = how_.num_csx, .of = how_.num_csx};
    while (p.first < p.end && !runs(p.first)) ++p.first;
    while (p.first < p.end && !runs(p.end - 1)) --p.end;
    return p;
  }

  /// One step of training with learning rate `rate`. Returns the loss before the step, a mean weighted by the
  /// mask. With a dynamic loss scale a step whose loss is finite and a gradient is not is skipped: it counts,
  /// and nothing else of the state changes but the scale. Throws std::invalid_argument if the batch does not
  /// fit the model, or cannot be divided evenly among the wafers, and fault if the loss or a gradient is not
  /// finite. Then no number of the state has become NaN or infinite, and `steps()` is as before; if the loss
  /// is not finite, or with clip_norm, all of the state is as it was before the step. With a finite loss and
  /// a gradient that is not finite, parameters whose gradients came earlier may have been updated.
  f64 step(batch b, f64 rate) {
    const f64 counts = take(b);
    require_even_wafers(b);
    const optimizer_step o = begin_step(rate, {how_.clip_norm, how_.clip_value});
    report_ = {};
    times_->restart(static_cast<int>(network_->stages().size()), work_kind::count);
    stopwatch watch(report_);
    f64 sum_of_losses = 0;
    std::string where;  // the loss became NaN or infinite first
    each_micro_batch(b, [&](const micro_batch& m) {
      report_.counters = report_.counters + pass(b, m, o, dropout_of_step(), true);
      measure_pass(watch, o);
      sum_of_losses = loss();
      if (!std::isfinite(sum_of_losses) && where.empty()) where = first_not_finite();
    });
    const f64 mean = sum_of_losses / counts;
    const i32 lost = not_finite();
    if (!o.updates_at_once()) {
      update_all(o, std::isfinite(mean) && lost < 0);
      watch.phase("update", sum(&server::work));
    }
    times_->stop();
    report_.layers = layers_of(*network_, *times_, report_.seconds);
    if (!is_skipped(mean, lost)) require_finite(mean, lost, where);
    return mean;
  }
  /// The loss of a batch, without training.
  f64 evaluate(batch b) {
    const f64 counts = take(b);
    each_micro_batch(b, [&](const micro_batch& m) { pass(b, m, {}); });
    return loss() / counts;
  }
  /// The same, and calls each(first, logits) for the logits of consecutive tokens, (tokens, classes), as soon
  /// as they are known; `first` is the number of the first token in the batch.
  template <std::invocable<i64, std::span<const f32>> Each>
  f64 evaluate(batch b, Each each) {
    const f64 counts = take(b);
    each_micro_batch(b, [&](const micro_batch& m) {
      pass(b, m, {});
      each_logits(each);
    });
    return loss() / counts;
  }
  /// The logits of a batch, (tokens, classes). The batch needs no targets.
  std::vector<f32> predict(batch b) {
    b = without_targets(*network_, std::move(b));
    build(b.sequences, b.length);
    complete(b);
    check_input(*network_, b);
    std::vector<f32> all = room_for_logits(b);
    each_micro_batch(b, [&](const micro_batch& m) {
      pass(b, m, {});
      copy_logits(all);
    });
    return all;
  }
  /// The logits of the last batch, (tokens, classes). Throws std::invalid_argument if it had several
  /// micro-batches, of which only the last has left its logits.
  std::vector<f32> logits() {
    if (last_of_.of > 1)
      throw std::invalid_argument(fmt::format(
          "wsl: the last batch had {} micro-batches, whose logits are not kept: predict the batch, "
          "or evaluate it with a function that takes them",
          last_of_.of));
    std::vector<f32> all = room_for_logits(last_);
    copy_logits(all);
    return all;
  }

  /// Each loss of the model for the last batch that had targets: a mean over what counts in it, without its
  /// factor.
  std::vector<named_loss> losses() {
    std::vector<named_loss> all;
    for (const loss_stage* x : network_->losses())
      all.push_back({x->name, mean_of(counts_, *x, sum_of_workers([&](wafer_worker& w) {
                                        return sum_of(w.losses(), *x);
                                      }))});
    return all;
  }

  /// A breakdown of the time of the last training step. On several processes it covers the part of this one.
  const step_report& report() const { return report_; }
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
  static layout plan(const wafer_grid& g) {
    wires::checked(g);
    layout l{host, g.width(), g.height()};
    l.place<server>(rows(0, edge, 2).columns(0, g.columns));
    l.place<wafer_worker>(at_work);
    l.place<swarm_node>(rows(0, edge, 2).columns(g.columns, edge));
    wires::wire(l, g);
    return l;
  }

 private:
  using server = memory_server;
  using wafer_worker = worker;
  static constexpr area at_work = rows(1, edge, 2);
  area servers() const { return rows(0, edge, 2).columns(0, grid_.columns); }
  area nodes() const { return rows(0, edge, 2).columns(grid_.columns, edge); }

  /// Lays out the wafers, for batches of that shape if the settings leave a choice.
  void build(int sequences = 0, int length = 1) {
    if (fabric_) return;
    grid_ = choose_grid(*network_, how_, sequences ? sequences : std::numeric_limits<i16>::max(), length);
    cut_.emplace(*network_, grid_.columns);
    blocks_.emplace(*network_, how_.recompute);
    fabric_ = make_fabric_(plan(grid_));
  }
  run_observer* observer_for(const streaming_settings& how) const {
    if (how.profile) return how.profile;
    return times_.get();
  }
  static const streaming_settings& checked(const streaming_settings& how, int processes) {
    clipping::checked(how.clip_norm, how.clip_value);
    if (how.num_csx < 1)
      throw std::invalid_argument(fmt::format("wsl: num_csx is at least 1, not {}", how.num_csx));
    if (how.num_csx < processes)
      throw std::invalid_argument(fmt::format(
          "wsl: {} processes train on at least as many wafers, not on num_csx {}: each has one or more",
          processes, how.num_csx));
    if (how.micro_batch_size < 0)
      throw std::invalid_argument(
          fmt::format("wsl: a micro-batch has at least 1 sequence on each wafer, not {}; micro_batch_size 0 "
                      "takes the whole batch at once",
                      how.micro_batch_size));
    return how;
  }
  void require_even_wafers(const batch& b) const {
    if (b.sequences % how_.num_csx)
      throw std::invalid_argument(
          fmt::format("wsl: num_csx {} requires the global batch size {} to be divisible by num_csx",
                      how_.num_csx, b.sequences));
  }
  bool runs(int wafer) { return fabric_->here({wafer * grid_.columns, 1}); }

  /// Brings the ids and classes of all processes into b, because which rows of tables travel, and what counts
  /// in a loss, depends on all of them.
  void complete(batch& b) {
    if (!fabric_->spread()) return;
    ids_.clear();
    b.named.reserve(b.named.size() + network_->values().size());
    for (int v = 0; v < static_cast<int>(network_->values().size()); ++v) {
      const value_info& x = network_->info(v);
      const std::span<const i32> here = x.is_ids() ? ids_of(*network_, b, v) : std::span<const i32>{};
      if (here.empty() || here.size() != b.tokens() * static_cast<std::size_t>(x.width())) continue;
      std::vector<i32>& all = ids_.emplace_back(here.begin(), here.end());
      bring(all, b.sequences);
      std::erase_if(b.named, [&](const named_numbers& old) { return old.name == x.name; });
      b.named.emplace_back(x.name, std::span<const i32>(all));
    }
  }
  /// Makes numbers that each process has of its own sequences known to all.
  void bring(std::span<i32> all, int sequences) {
    const i64 of_sequence = static_cast<i64>(all.size()) / std::max(1, sequences);
    for (int wafer = 0; wafer < how_.num_csx; ++wafer) {
      const batch_part of{wafer, wafer + 1, how_.num_csx};
      const i64 begin = of.begin_in(sequences) * of_sequence, end = of.end_in(sequences) * of_sequence;
      fabric_->bring(coord{wafer * grid_.columns, 1},
                     all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    }
  }
  /// Takes a batch with targets; returns the number by which the sum of its loss is divided.
  f64 take(batch& b) {
    build(b.sequences, b.length);
    complete(b);
    const f64 counts = check(*network_, b);
    counts_ = counts_of_losses(*network_, b);
    return counts;
  }
  template <class F>
  void each_micro_batch(const batch& b, F f) {
    last_ = {.sequences = b.sequences, .length = b.length};
    last_of_ = {.of = micro_batch::count(b.sequences, grid_.wafers, how_.micro_batch_size)};
    for (last_of_.number = 0; last_of_.number < last_of_.of; ++last_of_.number) f(last_of_);
    last_of_.number = last_of_.of - 1;
  }
  std::vector<f32> room_for_logits(const batch& b) const {
    return std::vector<f32>(b.tokens() * static_cast<std::size_t>(network_->width(network_->logits())));
  }
  /// Copies the logits of the last micro-batch to their places among those of the batch.
  void copy_logits(std::span<f32> all) {
    const i64 classes = network_->width(network_->logits());
    each_logits([&](i64 first, std::span<const f32> part) {
      std::ranges::copy(part, all.begin() + first * classes);
    });
  }
  /// Calls each(first, logits) for those of each worker in the last micro-batch.
  template <class Each>
  void each_logits(Each each) {
    if (network_->logits() < 0) return;
    const i64 classes = network_->width(network_->logits());
    std::vector<f32> part;
    const region r = fabric_->plan().inside(at_work);
    const rows_of_wafers rows{last_.sequences, last_.length, grid_, last_of_};
    for (int k = 0; k < r.count(); ++k) {
      const coord c = r.nth(k);
      const int row = rows.row_at(c), column = grid_.column_of(c.x);
      const row_tokens tokens = rows.tokens_of(row, cut_->keeps_sequences());
      const i64 before = i64{rows.sequences_of(row).begin} * last_.length,
                first = before + tokens.first(column), end = before + tokens.first(column + 1);
      part.resize(static_cast<std::size_t>((end - first) * classes));
      if (fabric_->here(c))
        std::copy_n(fabric_->program_at<wafer_worker>(c)
                        .activations.value(network_->logits(), value_form::tokens)
                        .first(),
                    part.size(), part.begin());
      fabric_->bring(c, std::span(part));
      each(first, std::span<const f32>(part));
    }
  }
  outcome pass(const batch& b, const micro_batch& m, const optimizer_step& o,
               const dropout_generator& random = {}, bool backward = false) {
    schedules_.clear();
    for (int column = 0; column < grid_.columns; ++column)
      schedules_.emplace_back(*network_, *cut_, column, grid_.rows, backward, &b, m, grid_.wafers, &*blocks_);
    fabric_->start<&server::step>(servers(), &schedules_, grid_, &arrays_, o, how_.precision);
    if (grid_.wafers > 1) fabric_->start<&swarm_node::step>(nodes(), &schedules_, grid_);
    fabric_->start<&wafer_worker::step>(at_work, streaming_step{network_.get(), &*cut_, &schedules_, grid_, b,
                                                                random, how_.precision, o.loss_scale});
    return fabric_->run();
  }
  /// All rounds of an update that has waited for the last gradient, or none: the gradients are discarded.
  void update_all(const optimizer_step& o, bool all_are_finite) {
    const f32 scale = o.scale(sum(&server::sum_of_squares));
    for (int round = 0; round < (all_are_finite ? o.rounds : 1); ++round) {
      fabric_->launch<&server::update_all>(servers(), scale, round, all_are_finite);
      each_here<server>(servers(), [&](server& s) { arrays_.collect(s.sums); });
      arrays_.combine(o, scale, round);
    }
  }
  /// Adds the pass of a micro-batch to the report.
  void measure_pass(stopwatch& watch, const optimizer_step& o) {
    wall_clock::time_point forward_done, backward_done;
    f64 forward = 0, backward = 0;
    u64 peak = 0;
    report_.activations = 0, report_.micro_batches = last_of_.of;
    each_here<wafer_worker>(at_work, [&](wafer_worker& w) {
      forward_done = std::max(forward_done, w.times.forward_done),
      backward_done = std::max(backward_done, w.times.backward_done);
      forward += w.times.forward, backward += w.times.backward;
      peak = std::max<u64>(peak, w.times.peak);
      report_.activations += w.activations.bytes();
    });
    watch.phase("forward", forward, forward_done);
    watch.phase("backward", backward, backward_done);
    watch.phase(o.updates_at_once() ? "last gradients and update" : "last gradients",
                o.updates_at_once() ? sum(&server::work) : 0);
    report_.sent_forward += sum(&server::sent_forward), report_.sent_backward += sum(&server::sent_backward);
    report_.returned += sum(&server::returned);
    const u64 each = bytes_of(how_.precision);
    report_.peak_weights = std::max<u64>(report_.peak_weights, each * peak),
    report_.largest_two_layers =
        std::max<u64>(report_.largest_two_layers, each * schedules_.front().largest_two_layers());
  }

  /// Calls f(program) for the PEs of an area that belong to this process, wafer by wafer.
  template <class P, class F>
  void each_here(const area& where, F f) {
    const region r = fabric_->plan().inside(where);
    for (int x = 0; x < r.columns(); ++x)
      for (int y = 0; y < r.rows(); ++y)
        if (const coord c = r.nth(y * r.columns() + x); fabric_->here(c)) f(fabric_->program_at<P>(c));
  }
  template <class T>
  T sum(T server::* of) {
    T total = 0;
    each_here<server>(servers(), [&](server& s) { total += s.*of; });
    return total;
  }
  /// The sum over all wafers, always in the same order.
  f64 loss() {
    return sum_of_workers([](wafer_worker& w) { return w.loss(); });
  }
  /// Adds f(worker) up over the workers of all wafers, always in the same order.
  template <class F>
  f64 sum_of_workers(F f) {
    const region r = fabric_->plan().inside(at_work);
    std::vector<f64> of(static_cast<std::size_t>(r.count()));
    for (int i = 0; i < r.count(); ++i)
      if (fabric_->here(r.nth(i)))
        of[static_cast<std::size_t>(i)] = f(fabric_->program_at<wafer_worker>(r.nth(i)));
    fabric_->bring_each(at_work, std::span(of));
    f64 total = 0;
    for (int x = 0; x < r.columns(); ++x)
      for (int y = 0; y < r.rows(); ++y) total += of[static_cast<std::size_t>(y * r.columns() + x)];
    return total;
  }

  /// The last parameter of the model whose gradient is not finite, or -1; known to all processes.
  i32 not_finite() {
    const region r = fabric_->plan().inside(servers());
    std::vector<i32> of(static_cast<std::size_t>(r.count()), -1);
    for (int i = 0; i < r.count(); ++i)
      if (fabric_->here(r.nth(i)))
        of[static_cast<std::size_t>(i)] = fabric_->program_at<server>(r.nth(i)).not_finite;
    fabric_->bring_each(servers(), std::span(of));
    return *std::max_element(of.begin(), of.end());
  }
  /// The name of the first stage with an output that is not finite, on any worker; empty if there is none.
  /// All processes get the same name.
  std::string first_not_finite() {
    const auto& stages = network_->stages();
    const region r = fabric_->plan().inside(at_work);
    std::vector<i32> of(static_cast<std::size_t>(r.count()));
    const auto finite = [&](wafer_worker& w, int value, value_form f) {
      if (!w.activations.holds(value, f)) return true;
      const matrix<f32> x = w.activations.value(value, f);
      return all_finite(x.first(), x.rows() * x.columns());
    };
    const auto first = [&](wafer_worker& w) {
      for (int v = 0; v < static_cast<int>(network_->values().size()); ++v)
        if (network_->is_input(v) && !finite(w, v, value_form::tokens)) return i32{-1};
      const auto at = std::find_if(stages.begin(), stages.end(),
                                   [&](const auto& s) { return !finite(w, s->output, cut_->writes(*s)); });
      return static_cast<i32>(at - stages.begin());
    };
    for (int i = 0; i < r.count(); ++i)
      if (fabric_->here(r.nth(i)))
        of[static_cast<std::size_t>(i)] = first(fabric_->program_at<wafer_worker>(r.nth(i)));
    fabric_->bring_each(at_work, std::span(of));
    const i32 least = *std::min_element(of.begin(), of.end());
    return least < 0                                 ? "the features of the batch"
           : least < static_cast<i32>(stages.size()) ? stages[static_cast<std::size_t>(least)]->name
                                                     : "";
  }

  streaming_settings how_;
  wafer_grid grid_;
  std::optional<column_cut> cut_;
  std::optional<recomputation> blocks_;        // of which activations are computed again
  std::vector<streaming_schedule> schedules_;  // of each column, for the last batch
  batch last_;                                 // its shape
  micro_batch last_of_;                        // the last micro-batch of it that has passed
  std::vector<std::vector<i32>> ids_;          // ids and classes of all processes
  std::vector<f64> counts_;                    // what counted in each loss of the last batch
  std::unique_ptr<thread_times> times_ = std::make_unique<thread_times>();
  std::function<std::unique_ptr<fabric>(const layout&)> make_fabric_;
  std::unique_ptr<fabric> fabric_;
  step_report report_;
};

}  // namespace wsl::ml
