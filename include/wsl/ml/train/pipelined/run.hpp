// SPDX-License-Identifier: MIT
// Runs the passes of a pipeline on its fabric, for pipelined_trainer.hpp: a part of the library that can be
// compiled once, see ml/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../pipelined_trainer.hpp"
#include "worker.hpp"

namespace wsl::ml {

WSL_ML_COMPILED_PART f64 pipelined_trainer::step(batch b, f64 rate) {
  const f64 counts = check(*network_, b);
  counts_ = counts_of_losses(*network_, b);
  if (b.sequences % how_.replicas)
    throw std::invalid_argument(
        fmt::format("wsl: a batch of {} sequences cannot be divided evenly among {} replicas of the model",
                    b.sequences, how_.replicas));
  const optimizer_step o = begin_step(rate, {how_.clip_norm, how_.clip_value});
  const wall_clock::time_point began = wall_clock::now();
  count_statistics(b, dropout_of_step());
  pass(b, {.optimize = o, .random = dropout_of_step(), .backward = true});
  i32 not_finite = -1;
  each([&](strip_worker& w) { not_finite = std::max(not_finite, w.not_finite); });
  measure_gradients(o, [&](std::vector<f64>& squares) {
    each([&](strip_worker& w) {
      for (const auto& [k, x] : w.squares_of_gradients) squares[k] += x;
    });
  });
  const f64 mean = loss() / counts;
  if (!o.updates_at_once() && std::isfinite(mean) && not_finite < 0) {
    f64 sum = 0;
    each([&](strip_worker& w) { sum += w.sum_of_squares; });
    const f32 clip_factor = o.clip_factor(sum);
    for (int round = 0; round < o.rounds; ++round) {
      fabric_.launch<&strip_worker::update_all>(row(0), clip_factor, round);
      each([&](strip_worker& w) { arrays_.collect(w.sums); });
      arrays_.combine(o, clip_factor, round);
    }
  }
  measure(began, micro_batches(b));
  if (!is_skipped(mean, not_finite))
    require_finite(mean, not_finite, std::isfinite(mean) ? "" : first_not_finite(b));
  return mean;
}

WSL_ML_COMPILED_PART f64 pipelined_trainer::evaluate(batch b) {
  must_have_one_replica();
  const f64 counts = check(*network_, b);
  counts_ = counts_of_losses(*network_, b);
  count_statistics(b);
  forward(b);
  return loss() / counts;
}

WSL_ML_COMPILED_PART std::vector<f32> pipelined_trainer::predict(batch b) {
  must_have_one_replica();
  b = without_targets(*network_, std::move(b));
  check_input(*network_, b);
  pass(b, {.keeps_padding = true});
  return logits();
}

WSL_ML_COMPILED_PART std::vector<f32> pipelined_trainer::logits() {
  return fabric_.program_at<strip_worker>({strips_.count() - 1, 0}).logits;
}

WSL_ML_COMPILED_PART std::vector<named_loss> pipelined_trainer::losses() {
  std::vector<named_loss> all;
  for (const loss_stage* x : network_->losses()) {
    f64 sum = 0;
    each([&](strip_worker& w) { sum += sum_of(w.losses, *x); });
    all.push_back({x->name, mean_of(counts_, *x, sum)});
  }
  return all;
}

WSL_ML_COMPILED_PART layout pipelined_trainer::plan(int strips, int replicas) {
  return layout{host, strips, replicas}.place<strip_worker>(all).wire(eastward, westward, replica_parameters,
                                                                      replica_gradients);
}

WSL_ML_COMPILED_PART const pipeline_settings& pipelined_trainer::checked(const pipeline_settings& how) {
  clipping::checked(how.clip_norm, how.clip_value);
  if (how.sparsity.are_given())
    throw std::invalid_argument(
        "wsl: a pipeline keeps its weights dense on the wafer: train sparse weights by weight streaming "
        "(ml::trainer)");
  if (how.micro_batch_size < 0)
    throw std::invalid_argument(
        fmt::format("wsl: a micro-batch has at least one sequence, or 0 for a size that fits, not {}",
                    how.micro_batch_size));
  if (how.replicas < 1 || how.replicas > max_replicas)
    throw std::invalid_argument(
        fmt::format("wsl: a pipeline has 1 to {} replicas, not {}", max_replicas, how.replicas));
  return how;
}

WSL_ML_COMPILED_PART void pipelined_trainer::must_have_one_replica() const {
  if (how_.replicas > 1)
    throw std::invalid_argument(
        fmt::format("wsl: multi-replica is for training only, and this pipeline has {} replicas: evaluate "
                    "and predict with a trainer of one, which has been given the state",
                    how_.replicas));
}

WSL_ML_COMPILED_PART int pipelined_trainer::micro_batches(const batch& b) const {
  const int sequences = b.sequences / how_.replicas;
  if (how_.micro_batch_size == 0) return std::min(sequences, 4 * strips_.count());
  return (sequences + how_.micro_batch_size - 1) / how_.micro_batch_size;
}

WSL_ML_COMPILED_PART void pipelined_trainer::forward(const batch& b, const dropout_generator& random) {
  pass(b, {.random = random});
}

WSL_ML_COMPILED_PART void pipelined_trainer::count_statistics(batch& b, const dropout_generator& random) {
  if (network_->statistics() == 0) return;
  std::vector<f64> sums(static_cast<std::size_t>(network_->statistics()));
  forward(b, random);
  each([&](strip_worker& w) {
    for (std::size_t k = 0; k < w.counted.size(); ++k) sums[k] += w.counted[k];
  });
  b.statistics = sums;
}

WSL_ML_COMPILED_PART std::string pipelined_trainer::first_not_finite(const batch& b) {
  for (int v = 0; v < static_cast<int>(network_->values().size()); ++v)
    if (const std::span<const f32> x = features_of(*network_, b, v);
        network_->is_input(v) && !all_finite(x.data(), static_cast<int>(x.size())))
      return "the features of the batch";
  pass(b, {.random = dropout_of_step(), .seeks_not_finite = true});
  const stage* first = nullptr;
  each([&](strip_worker& w) { first = first ? first : w.lost_at; });
  return first ? first->name : "";
}

WSL_ML_COMPILED_PART void pipelined_trainer::pass(const batch& b, pipeline_step s) {
  s.of = &strips_, s.arrays = &arrays_, s.as = how_.precision;
  const std::vector<int> lengths = lengths_of(*network_, b);
  s.sequences = b.sequences, s.lengths = &lengths, s.replicas = how_.replicas;
  s.micro_batches = micro_batches(b);
  const std::vector<shortened_batch> parts =
      parts_of(*network_, b, s, how_.strip_padding && !s.keeps_padding);
  s.parts = &parts;
  fabric_.start<&strip_worker::step>(all, s);
  report_.counters = fabric_.run();
}

WSL_ML_COMPILED_PART void pipelined_trainer::each(const std::function<void(strip_worker&)>& f) {
  for (int replica = 0; replica < how_.replicas; ++replica)
    for (int x = 0; x < strips_.count(); ++x) f(fabric_.program_at<strip_worker>({x, replica}));
}

WSL_ML_COMPILED_PART f64 pipelined_trainer::loss() {
  f64 total = 0;
  each([&](strip_worker& w) { total += w.loss; });
  return total;
}

WSL_ML_COMPILED_PART void pipelined_trainer::measure(wall_clock::time_point began, int micro_batches) {
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

}  // namespace wsl::ml
