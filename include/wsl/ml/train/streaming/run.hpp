// SPDX-License-Identifier: MIT
// Runs the passes of weight streaming on a fabric, for trainer.hpp: a part of the library that can be
// compiled once, see ml/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../../../fabric/busy_map.hpp"
#include "../trainer.hpp"
#include "grid_choice.hpp"
#include "memory_server.hpp"
#include "swarm.hpp"
#include "worker.hpp"

namespace wsl::ml {

template <class P, class F>
void trainer::each_here(const area& where, F f) {
  const region r = fabric_->plan().inside(where);
  for (int x = 0; x < r.columns(); ++x)
    for (int y = 0; y < r.rows(); ++y)
      if (const coord c = r.nth(y * r.columns() + x); fabric_->here(c)) f(fabric_->program_at<P>(c));
}

template <class T>
T trainer::sum(T memory_server::* of) {
  T total = 0;
  each_here<memory_server>(servers(), [&](memory_server& s) { total += s.*of; });
  return total;
}

WSL_ML_COMPILED_PART batch_part trainer::part() {
  build();
  batch_part p{.first = 0, .end = how_.num_csx, .of = how_.num_csx};
  while (p.first < p.end && !runs(p.first)) ++p.first;
  while (p.first < p.end && !runs(p.end - 1)) --p.end;
  return p;
}

WSL_ML_COMPILED_PART f64 trainer::step(batch b, f64 rate) { return step(std::move(b), rate, {}); }

WSL_ML_COMPILED_PART f64 trainer::step(batch b, f64 rate,
                                       const std::function<void(i64, std::span<const f32>)>& each) {
  const f64 counts = take(b);
  require_even_wafers(b);
  const optimizer_step o = begin_step(rate, {how_.clip_norm, how_.clip_value});
  report_ = {};
  times_->keep_events(keeps_timeline_ ? most_events_of_thread : 0);
  times_->restart(static_cast<int>(network_->stages().size()), work_kind::count);
  stopwatch watch(report_);
  count_statistics(b, dropout_of_step());
  if (!b.statistics.empty()) watch.phase("statistics of the batch", 0);
  arrays_.each_sparse([](sparse_parameter& s) { s.drop_dense_gradient(); });
  f64 sum_of_losses = 0;
  std::string where;  // the loss became NaN or infinite first
  each_micro_batch(b, [&](const micro_batch& m) {
    report_.counters = report_.counters + pass(b, m, o, dropout_of_step(), true);
    measure_pass(watch, o);
    if (each) each_logits(each);
    sum_of_losses = loss();
    if (!std::isfinite(sum_of_losses) && where.empty()) where = first_not_finite();
  });
  const f64 mean = sum_of_losses / counts;
  const i32 lost = not_finite();
  measure_gradients(o, [&](std::vector<f64>& squares) {
    each_here<memory_server>(servers(), [&](memory_server& s) {
      for (std::size_t k = 0; k < s.squares_of_gradients.size(); ++k) squares[k] += s.squares_of_gradients[k];
    });
  });
  if (!o.updates_at_once()) {
    update_all(o, std::isfinite(mean) && lost < 0);
    watch.phase("update", sum(&memory_server::work));
  }
  times_->stop();
  report_.layers = layers_of(*network_, *times_, report_.seconds);
  report_.timeline = timeline_of(*times_, report_.seconds), report_.lost_events = times_->lost_events();
  if (is_skipped(mean, lost)) return mean;
  require_finite(mean, lost, where);
  bool changes = false;
  arrays_.each_sparse([&](sparse_parameter& s) { changes |= s.change_pattern(o.number); });
  if (changes) watch.phase("patterns", 0);
  return mean;
}

WSL_ML_COMPILED_PART f64 trainer::evaluate(batch b) {
  const f64 counts = take(b);
  count_statistics(b);
  each_micro_batch(b, [&](const micro_batch& m) { pass(b, m, {}); });
  return loss() / counts;
}

WSL_ML_COMPILED_PART f64 trainer::evaluate(batch b,
                                           const std::function<void(i64, std::span<const f32>)>& each) {
  const f64 counts = take(b);
  count_statistics(b);
  each_micro_batch(b, [&](const micro_batch& m) {
    pass(b, m, {});
    each_logits(each);
  });
  return loss() / counts;
}

WSL_ML_COMPILED_PART std::vector<f32> trainer::predict(batch b) {
  b = without_targets(*network_, std::move(b));
  build(b.sequences, b.length);
  complete(b);
  check_input(*network_, b);
  std::vector<f32> all = room_for_logits(b.sequences, lengths_of(*network_, b));
  each_micro_batch(b, [&](const micro_batch& m) {
    pass(b, m, {});
    copy_logits(all);
  });
  return all;
}

WSL_ML_COMPILED_PART std::vector<f32> trainer::logits() {
  require_a_batch();
  if (last_of_.of > 1)
    throw std::invalid_argument(
        fmt::format("wsl: the last batch had {} micro-batches, whose logits are not kept: predict the batch, "
                    "or evaluate it with a function that takes them",
                    last_of_.of));
  std::vector<f32> all = room_for_logits(last_.sequences, last_lengths_);
  copy_logits(all);
  return all;
}

WSL_ML_COMPILED_PART void trainer::require_a_batch() const {
  if (!fabric_)
    throw std::invalid_argument("wsl: there has been no batch: step, evaluate or predict one first");
}

WSL_ML_COMPILED_PART std::vector<named_loss> trainer::losses() {
  require_a_batch();
  std::vector<named_loss> all;
  for (const loss_stage* x : network_->losses())
    all.push_back(
        {x->name, mean_of(counts_, *x, sum_of_workers([&](worker& w) { return sum_of(w.losses(), *x); }))});
  return all;
}

WSL_ML_COMPILED_PART std::string trainer::busy_map() {
  build();
  return wsl::busy_map(
      *fabric_, *times_,
      fmt::format("the last step: rows of memory servers and of {} x {} workers by turns{}", grid_.rows,
                  grid_.columns,
                  grid_.wafers > 1 ? fmt::format(", {} wafers beside each other", grid_.wafers) : ""));
}

WSL_ML_COMPILED_PART layout trainer::plan(const wafer_grid& g) {
  wires::checked(g);
  layout l{host, g.width(), g.height()};
  l.place<memory_server>(rows(0, edge, 2).columns(0, g.columns));
  l.place<worker>(at_work);
  l.place<swarm_node>(rows(0, edge, 2).columns(g.columns, edge));
  wires::wire(l, g);
  return l;
}

WSL_ML_COMPILED_PART void trainer::build(int sequences, int length) {
  if (fabric_) return;
  grid_ = choose_grid(*network_, how_, sequences ? sequences : std::numeric_limits<i16>::max(), length);
  cut_.emplace(*network_, grid_.columns);
  blocks_.emplace(*network_, how_.recompute);
  fabric_ = make_fabric_(plan(grid_), places());
}

WSL_ML_COMPILED_PART role_placement trainer::placement_of(const streaming_settings& how, int processes) {
  checked(how, processes);
  return how.roles.empty() ? role_placement(processes, how.num_csx) : role_placement(how.roles, how.num_csx);
}

/// Every process has whole wafers, because it reads the examples of wafers.
WSL_ML_COMPILED_PART std::vector<trainer::placed> trainer::places() const {
  if (processes_ == 1) return {};
  const role_placement by = placement_of(how_, processes_);
  std::vector<placed> all{{servers(), by.memory()}};
  for (int w = 0; w < grid_.wafers; ++w) {
    const area wafer = columns(w * grid_.columns, (w + 1) * grid_.columns);
    if (w > 0) all.push_back({wafer.rows(0, edge, 2), by.node(w)});
    all.push_back({wafer.rows(1, edge, 2), by.wafer(w)});
  }
  return all;
}

WSL_ML_COMPILED_PART const streaming_settings& trainer::checked(const streaming_settings& how,
                                                                int processes) {
  clipping::checked(how.clip_norm, how.clip_value);
  if (how.num_csx < 1)
    throw std::invalid_argument(fmt::format("wsl: num_csx is at least 1, not {}", how.num_csx));
  if (how.cores < 0)
    throw std::invalid_argument(
        fmt::format("wsl: cores is 1 or more, or 0 for those of this computer, not {}", how.cores));
  if (!how.roles.empty() && static_cast<int>(how.roles.size()) != processes)
    throw std::invalid_argument(fmt::format(
        "wsl: there are {} processes, and roles for {}: name one for each", processes, how.roles.size()));
  if (how.roles.empty() && how.num_csx < processes)
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

WSL_ML_COMPILED_PART void trainer::require_even_wafers(const batch& b) const {
  if (b.sequences % how_.num_csx)
    throw std::invalid_argument(
        fmt::format("wsl: num_csx {} requires the global batch size {} to be divisible by num_csx",
                    how_.num_csx, b.sequences));
}

WSL_ML_COMPILED_PART void trainer::require_whole_groups(const batch& b) const {
  const int together = sequences_together(*network_), size = how_.micro_batch_size;
  if (together == 1 || size == 0) return;
  if (size < together)
    throw std::invalid_argument(
        fmt::format("wsl: a micro-batch of {} has no room for the {} sequences that the model's loss takes "
                    "together: take a micro_batch_size of at least {}",
                    size, together, together));
  if (micro_batch::count(b.sequences, how_.num_csx, size, together) > 1 &&
      b.sequences % (how_.num_csx * together))
    throw std::invalid_argument(
        fmt::format("wsl: the model's loss takes {} sequences together, which micro-batches must not part: "
                    "{} sequences are "
                    "no whole groups on each of {} wafers: take a batch that {} divides, or no micro-batches",
                    together, b.sequences, how_.num_csx, how_.num_csx * together));
}

WSL_ML_COMPILED_PART void trainer::complete(batch& b) {
  if (!fabric_->spread()) return;
  ids_.clear();
  b.named.reserve(b.named.size() + network_->values().size());
  for (int v = 0; v < static_cast<int>(network_->values().size()); ++v) {
    const value_info& x = network_->info(v);
    const std::span<const i32> here = x.is_ids() ? ids_of(*network_, b, v) : std::span<const i32>{};
    if (here.empty() || here.size() != tokens_of_value(*network_, b, v) * static_cast<std::size_t>(x.width()))
      continue;
    std::vector<i32>& all = ids_.emplace_back(here.begin(), here.end());
    bring(all, b.sequences);
    std::erase_if(b.named, [&](const named_numbers& old) { return old.name == x.name; });
    b.named.emplace_back(x.name, std::span<const i32>(all));
  }
}

WSL_ML_COMPILED_PART void trainer::bring(std::span<i32> all, int sequences) {
  const i64 of_sequence = static_cast<i64>(all.size()) / std::max(1, sequences);
  for (int wafer = 0; wafer < how_.num_csx; ++wafer) {
    const batch_part of{wafer, wafer + 1, how_.num_csx};
    const i64 begin = of.begin_in(sequences) * of_sequence, end = of.end_in(sequences) * of_sequence;
    fabric_->bring(coord{wafer * grid_.columns, 1},
                   all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  }
}

WSL_ML_COMPILED_PART f64 trainer::take(batch& b) {
  build(b.sequences, b.length);
  complete(b);
  const f64 counts = check(*network_, b);
  require_whole_groups(b);
  counts_ = counts_of_losses(*network_, b);
  return counts;
}

WSL_ML_COMPILED_PART void trainer::count_statistics(batch& b, const dropout_generator& random) {
  if (network_->statistics() == 0) return;
  std::vector<f64> sums(static_cast<std::size_t>(network_->statistics()));
  each_micro_batch(b, [&](const micro_batch& m) {
    pass(b, m, {}, random);
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += sum_of_workers([&](worker& w) {
        const std::vector<f64>& counted = w.activations.counted;
        return k < counted.size() ? counted[k] : 0;
      });
  });
  b.statistics = sums;
}

WSL_ML_COMPILED_PART void trainer::each_micro_batch(const batch& b,
                                                    const std::function<void(const micro_batch&)>& f) {
  last_ = {.sequences = b.sequences, .length = b.length};
  last_lengths_ = lengths_of(*network_, b);
  const int together = sequences_together(*network_);
  last_of_ = {.of = micro_batch::count(b.sequences, grid_.wafers, how_.micro_batch_size, together),
              .together = together};
  for (last_of_.number = 0; last_of_.number < last_of_.of; ++last_of_.number) f(last_of_);
  last_of_.number = last_of_.of - 1;
}

WSL_ML_COMPILED_PART std::vector<f32> trainer::room_for_logits(int sequences,
                                                               const std::vector<int>& lengths) const {
  const value_info& y = network_->info(network_->logits());
  return std::vector<f32>(
      static_cast<std::size_t>(i64{sequences} * lengths[static_cast<std::size_t>(y.axis)] * y.width()));
}

WSL_ML_COMPILED_PART void trainer::copy_logits(std::span<f32> all) {
  const i64 classes = network_->width(network_->logits());
  each_logits(
      [&](i64 first, std::span<const f32> part) { std::ranges::copy(part, all.begin() + first * classes); });
}

WSL_ML_COMPILED_PART void trainer::each_logits(const std::function<void(i64, std::span<const f32>)>& each) {
  if (network_->logits() < 0) return;
  const i64 classes = network_->width(network_->logits());
  std::vector<f32> part;
  const region r = fabric_->plan().inside(at_work);
  const rows_of_wafers rows(*cut_, grid_, last_.sequences, last_.length, last_of_);
  const int axis = network_->info(network_->logits()).axis,
            length = last_lengths_[static_cast<std::size_t>(axis)];
  for (int k = 0; k < r.count(); ++k) {
    const coord c = r.nth(k);
    const int column = grid_.column_of(c.x);
    const row_tokens tokens = rows.tokens_of(rows.row_at(c));
    const i64 first = tokens.first_of_batch(axis, length, column),
              end = tokens.first_of_batch(axis, length, column + 1);
    part.resize(static_cast<std::size_t>((end - first) * classes));
    if (fabric_->here(c))
      std::copy_n(
          fabric_->program_at<worker>(c).activations.value(network_->logits(), value_form::tokens).first(),
          part.size(), part.begin());
    fabric_->bring(c, std::span(part));
    each(first, std::span<const f32>(part));
  }
}

WSL_ML_COMPILED_PART outcome trainer::pass(const batch& b, const micro_batch& m, const optimizer_step& o,
                                           const dropout_generator& random, bool backward) {
  schedules_.clear();
  const std::vector<sparse_use> sparse = uses_of_sparse(o, backward);
  for (int column = 0; column < grid_.columns; ++column)
    schedules_.emplace_back(*network_, *cut_, column, grid_.rows, backward, &b, m, grid_.wafers, &*blocks_,
                            random.on, &sparse);
  fabric_->start<&memory_server::step>(servers(), &schedules_, grid_, &arrays_, o, how_.precision);
  if (grid_.wafers > 1) fabric_->start<&swarm_node::step>(nodes(), &schedules_, grid_);
  fabric_->start<&worker::step>(at_work, streaming_step{network_.get(), &*cut_, &schedules_, grid_, b, random,
                                                        how_.precision, o.loss_scale});
  return fabric_->run();
}

WSL_ML_COMPILED_PART std::vector<sparse_use> trainer::uses_of_sparse(const optimizer_step& o, bool backward) {
  arrays_.each_sparse([](sparse_parameter& s) { s.close(); });
  share_patterns();
  std::vector<sparse_use> all(arrays_.sparse.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    if (sparse_parameter* const s = arrays_.sparse[k].get()) {
      const bool dense_gradient = backward && s->needs_dense_gradient(o.number);
      if (dense_gradient) s->begin_dense_gradient();
      // A pattern of all places needs none to travel.
      if (dense_gradient || !s->pattern().has_all()) all[k] = {&s->pattern(), dense_gradient};
    }
  return all;
}

WSL_ML_COMPILED_PART void trainer::share_patterns() {
  if (!fabric_->spread()) return;
  // Only the process with the memory knows which patterns it has been given, and which have changed.
  constexpr coord with_memory{0, 0};
  std::vector<i32> news;
  arrays_.each_sparse([&](sparse_parameter& s) { news.push_back(s.is_news()); });
  if (news.empty()) return;
  fabric_->bring(with_memory, std::span(news));
  auto is_news = news.begin();
  arrays_.each_sparse([&](sparse_parameter& s) {
    s.told();
    if (!*is_news++) return;
    std::vector<i32> counts(static_cast<std::size_t>(s.rows()));
    if (s.keeps())
      for (int r = 0; r < s.rows(); ++r)
        counts[static_cast<std::size_t>(r)] = static_cast<i32>(s.pattern().row(r).size());
    fabric_->bring(with_memory, std::span(counts));
    std::vector<i64> first{0};
    for (i32 n : counts) first.push_back(first.back() + n);
    std::vector<i32> columns(static_cast<std::size_t>(first.back()));
    if (s.keeps()) std::ranges::copy(s.pattern().column(), columns.begin());
    if (!columns.empty()) fabric_->bring(with_memory, std::span(columns));
    if (!s.keeps()) s.set_pattern({s.rows(), s.columns(), std::move(first), std::move(columns)});
  });
}

WSL_ML_COMPILED_PART void trainer::update_all(const optimizer_step& o, bool all_are_finite) {
  const f32 clip_factor = o.clip_factor(sum(&memory_server::sum_of_squares));
  for (int round = 0; round < (all_are_finite ? o.rounds : 1); ++round) {
    fabric_->launch<&memory_server::update_all>(servers(), clip_factor, round, all_are_finite);
    each_here<memory_server>(servers(), [&](memory_server& s) { arrays_.collect(s.sums); });
    arrays_.combine(o, clip_factor, round);
  }
}

WSL_ML_COMPILED_PART void trainer::measure_pass(stopwatch& watch, const optimizer_step& o) {
  struct of_worker {
    f64 forward_done, backward_done, forward, backward;  // seconds, the first two since the step began
    u64 peak, activations;
  };
  const region r = fabric_->plan().inside(at_work);
  std::vector<of_worker> all(static_cast<std::size_t>(r.count()));
  for (int k = 0; k < r.count(); ++k)
    if (fabric_->here(r.nth(k))) {
      const worker& w = fabric_->program_at<worker>(r.nth(k));
      all[static_cast<std::size_t>(k)] = {seconds(w.times.forward_done - watch.began()),
                                          seconds(w.times.backward_done - watch.began()),
                                          w.times.forward,
                                          w.times.backward,
                                          static_cast<u64>(w.times.peak),
                                          w.activations.bytes()};
    }
  // The process with the memory reports what the workers have done, which it has none of.
  if (!how_.roles.empty()) fabric_->bring_each(at_work, std::span(all));
  of_worker total{};
  for (const of_worker& w : all) {
    total.forward_done = std::max(total.forward_done, w.forward_done);
    total.backward_done = std::max(total.backward_done, w.backward_done);
    total.forward += w.forward, total.backward += w.backward;
    total.peak = std::max(total.peak, w.peak), total.activations += w.activations;
  }
  report_.activations = total.activations, report_.micro_batches = last_of_.of;
  const auto at = [&](f64 since) {
    return watch.began() +
           std::chrono::duration_cast<wall_clock::duration>(std::chrono::duration<f64>(since));
  };
  watch.phase("forward", total.forward, at(total.forward_done));
  watch.phase("backward", total.backward, at(total.backward_done));
  watch.phase(o.updates_at_once() ? "last gradients and update" : "last gradients",
              o.updates_at_once() ? sum(&memory_server::work) : 0);
  report_.sent_forward += sum(&memory_server::sent_forward),
      report_.sent_backward += sum(&memory_server::sent_backward);
  report_.returned += sum(&memory_server::returned);
  report_.peak_weights = std::max<u64>(report_.peak_weights, 4 * total.peak),
  report_.largest_two_layers =
      std::max<u64>(report_.largest_two_layers, 4 * schedules_.front().largest_two_layers(how_.precision));
  report_.sparse_weights = report_.nonzeros = 0;
  arrays_.each_sparse([&](const sparse_parameter& s) {
    report_.sparse_weights += static_cast<u64>(s.pattern().size());
    report_.nonzeros += static_cast<u64>(s.pattern().count());
  });
}

WSL_ML_COMPILED_PART f64 trainer::loss() {
  return sum_of_workers([](worker& w) { return w.loss(); });
}

WSL_ML_COMPILED_PART f64 trainer::sum_of_workers(const std::function<f64(worker&)>& f) {
  const region r = fabric_->plan().inside(at_work);
  std::vector<f64> of(static_cast<std::size_t>(r.count()));
  for (int i = 0; i < r.count(); ++i)
    if (fabric_->here(r.nth(i))) of[static_cast<std::size_t>(i)] = f(fabric_->program_at<worker>(r.nth(i)));
  fabric_->bring_each(at_work, std::span(of));
  f64 total = 0;
  for (int x = 0; x < r.columns(); ++x)
    for (int y = 0; y < r.rows(); ++y) total += of[static_cast<std::size_t>(y * r.columns() + x)];
  return total;
}

WSL_ML_COMPILED_PART i32 trainer::not_finite() {
  const region r = fabric_->plan().inside(servers());
  std::vector<i32> of(static_cast<std::size_t>(r.count()), -1);
  for (int i = 0; i < r.count(); ++i)
    if (fabric_->here(r.nth(i)))
      of[static_cast<std::size_t>(i)] = fabric_->program_at<memory_server>(r.nth(i)).not_finite;
  fabric_->bring_each(servers(), std::span(of));
  return *std::max_element(of.begin(), of.end());
}

WSL_ML_COMPILED_PART std::string trainer::first_not_finite() {
  const auto& stages = network_->stages();
  const region r = fabric_->plan().inside(at_work);
  std::vector<i32> of(static_cast<std::size_t>(r.count()));
  const auto finite = [&](worker& w, int value, value_form f) {
    if (!w.activations.holds(value, f)) return true;
    const matrix<f32> x = w.activations.value(value, f);
    return all_finite(x.first(), x.rows() * x.columns());
  };
  const auto first = [&](worker& w) {
    for (int v = 0; v < static_cast<int>(network_->values().size()); ++v)
      if (network_->is_input(v) && !finite(w, v, value_form::tokens)) return i32{-1};
    const auto at = std::find_if(stages.begin(), stages.end(),
                                 [&](const auto& s) { return !finite(w, s->output, cut_->writes(*s)); });
    return static_cast<i32>(at - stages.begin());
  };
  for (int i = 0; i < r.count(); ++i)
    if (fabric_->here(r.nth(i)))
      of[static_cast<std::size_t>(i)] = first(fabric_->program_at<worker>(r.nth(i)));
  fabric_->bring_each(at_work, std::span(of));
  const i32 least = *std::min_element(of.begin(), of.end());
  return least < 0                                 ? "the features of the batch"
         : least < static_cast<i32>(stages.size()) ? stages[static_cast<std::size_t>(least)]->name
                                                   : "";
}

}  // namespace wsl::ml
