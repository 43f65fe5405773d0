// SPDX-License-Identifier: MIT
// A memory server owns a share of the parameters and of the optimizer state, after the MemoryX of Cerebras'
// weight streaming. It sends its weight tiles in the order of the schedule, receives their gradients, and
// updates the parameters. Sending and receiving go on at the same time, each at the pace of the wafer. An
// update is computed beside the tasks, while the workers compute, so that the servers of all rows are at work
// at the same time.
#pragma once
#include <cmath>

#include "../../../linalg/dense.hpp"
#include "../../optim/step.hpp"
#include "../state.hpp"
#include "layer_times.hpp"
#include "schedule.hpp"
#include "step_report.hpp"
#include "wires.hpp"

namespace wsl::ml {

struct memory_server {
  const streaming_schedule* schedule = nullptr;
  wafer_grid grid;
  int column = 0;
  training_arrays* arrays = nullptr;
  optimizer_step optimize;
  precision as = precision::f32;       ///< the format of travelling weights
  std::size_t sent = 0, received = 0;  ///< indices in the schedule, of what is sent and received next
  int child = 0;                       ///< the next node of the tree of wafers whose sums are to be added
  std::vector<f32> gathered, leaving, values_leaving;
  /// A gradient may come while the one before it is at work.
  struct arrival {
    const weight_transfer* of = nullptr;
    std::vector<f32> numbers;
  } arrivals[2];
  int first = 0, arrived = 0;  ///< the first of those that have come, and their number
  bool receives = false, computes = false;
  std::vector<f32> of_tokens;  ///< sums over all tokens that have come, for the workers
  bool has_sums = false;       ///< they have come and have not been sent
  bool waits_for_sums = false;
  f64 sum_of_squares = 0;                 ///< over the step's gradients
  std::vector<f64> squares_of_gradients;  ///< that of each parameter, over this server's tiles, if measured
  owned_sums sums;      ///< over this server's tiles, for rules that need sums over whole parameters
  i32 not_finite = -1;  ///< the last parameter of the model whose gradient is not finite; -1: none
  u64 sent_forward = 0, sent_backward = 0, returned = 0;  ///< bytes in this step
  f64 work = 0;                                           ///< seconds of this step spent on updates

  /// The schedules are those of each column.
  void step(pe& me, const std::vector<streaming_schedule>* schedules, wafer_grid g, training_arrays* a,
            optimizer_step o, precision weights_as) {
    grid = g, column = g.column_of(me.x()), arrays = a, optimize = o, as = weights_as;
    schedule = &(*schedules)[static_cast<std::size_t>(column)];
    sent = received = 0, sum_of_squares = 0;
    squares_of_gradients.assign(a->measures_gradients ? a->model->parameters().size() : 0, 0);
    if (schedule->of().is_first()) not_finite = -1;
    sent_forward = sent_backward = returned = 0, work = 0;
    has_sums = waits_for_sums = false;
    first = arrived = 0, receives = computes = false;
    for (arrival& x : arrivals) x.numbers.resize(schedule->max_gradients());
    send_next(me);
    receive_next(me);
  }
  /// A round of the update of all tiles of this server by gradients times `scale`, if they had to wait for
  /// the last gradient of the step; or discards the gradients.
  void update_all(pe& me, f32 clip_factor, int round, bool all_are_finite) {
    if (round == 0) work = 0;
    for (const weight_transfer& t : schedule->transfers())
      if (t.server == wires::index_in_column(me) && t.last_gradient)
        each_tile(t, [&](const weight_transfer& tile) {
          const thread_times::span updating(t.of->number, work_kind::update);
          all_are_finite ? update(tile, gradient_of(tile), clip_factor, round)
                         : discard(tile, gradient_of(tile));
        });
  }

  void send_next(pe& me) {
    const int server = wires::index_in_column(me);
    while (sent < transfers() && !transfer_at(sent).is_sent_by(server)) ++sent;
    if (sent == transfers()) return;
    if (transfer_at(sent).is_of_sums() && !has_sums) return void(waits_for_sums = true);
    const weight_transfer& t = transfer_at(sent++);
    thread_times::now_at(t.of->number);
    const auto words = words_of_transfer(t);
    (t.is_on_way_back() ? sent_backward : sent_forward) += 4 * words.size();
    me.async(mov(fabout(wires::weight_tiles(grid, server, column)), mem(words)),
             then<&memory_server::send_next>());
  }
  void receive_next(pe& me) {
    if (receives || arrived == 2) return;
    while (received < transfers() && !transfer_at(received).is_returned_to(wires::index_in_column(me)))
      ++received;
    if (received == transfers()) return;
    const weight_transfer& t = transfer_at(received++);
    thread_times::now_at(t.of->number);
    receives = true, coming().of = &t;
    const auto to = mem(numbers_of(coming()));
    child = 1;
    if (children())
      me.async(wsl::add(to, fabin(wires::to_server), fabin(wires::up(grid, 0, column))),
               then<&memory_server::receive>());
    else me.async(mov(to, fabin(wires::to_server)), then<&memory_server::receive>());
  }
  /// The gradient of one wafer has come, or the sum of some wafers. It is complete when the sums of all nodes
  /// that are children of this server in the tree of wafers have been added.
  void receive(pe& me) {
    if (child < children()) {
      const auto to = mem(numbers_of(coming()));
      return me.async(wsl::add(to, to, fabin(wires::up(grid, child++, column))),
                      then<&memory_server::receive>());
    }
    receives = false, ++arrived;
    take(me);
  }
  /// Takes what has come, in order; a long gradient beside the tasks.
  void take(pe& me) {
    while (arrived > 0 && !computes) {
      const weight_transfer& t = *arrivals[first].of;
      if (t.is_of_sums()) take_sums(me, t), drop_first();
      else if (t.gradients() < beside_from) take_first(), drop_first();
      else {
        computes = true;
        me.async_compute<&memory_server::take_first>(*this, then<&memory_server::taken>());
      }
    }
    receive_next(me);
  }
  void taken(pe& me) {
    computes = false;
    drop_first();
    take(me);
  }
  void take_first() { take_gradient(*arrivals[first].of); }

  using tasks = task_list<launch<&memory_server::step>, launch<&memory_server::update_all>,
                          local<&memory_server::send_next>, local<&memory_server::receive>,
                          local<&memory_server::taken>, sends<wires::all_weight_tiles>,
                          reads<wires::to_server, wires::all_sums>>;

 private:
  /// numbers from which an update takes longer than it takes to compute it beside the tasks
  static constexpr std::size_t beside_from = 8192;

  arrival& coming() { return arrivals[(first + arrived) % 2]; }
  static std::span<f32> numbers_of(arrival& a) { return std::span(a.numbers).first(a.of->gradients()); }
  f32* first_numbers() { return arrivals[first].numbers.data(); }
  void drop_first() { first = 1 - first, --arrived; }
  int children() const { return wires::children(0, grid.wafers); }
  std::size_t transfers() const { return schedule->transfers().size(); }
  const weight_transfer& transfer_at(std::size_t k) const { return schedule->transfers()[k]; }
  /// The numbers of a tile, of those that are kept of its parameter.
  static std::span<f32> part(std::span<f32> of_parameter, const weight_transfer& t) {
    return of_parameter.subspan(static_cast<std::size_t>(t.first_kept()), t.kept());
  }
  static std::span<f32> row(parameter_store& of, const weight_transfer& t, i32 row) {
    return of[t.parameter].subspan(static_cast<std::size_t>(row) * static_cast<std::size_t>(t.columns),
                                   static_cast<std::size_t>(t.columns));
  }
  f32* gradient_of(const weight_transfer& t) { return part(arrays->kept_gradients(t.parameter), t).data(); }
  /// Calls f for the tile of a transfer; for gathered rows, for all tiles of the parameter that are here.
  template <class F>
  void each_tile(const weight_transfer& t, F f) {
    if (t.gathered_rows.empty()) f(t);
    else schedule->each_tile(t.parameter, t.server, f);
  }
  std::span<f32> gather(const weight_transfer& t) {
    gathered.clear();
    for (i32 r : t.gathered_rows) {
      const std::span<f32> x = row(arrays->parameters, t, r);
      gathered.insert(gathered.end(), x.begin(), x.end());
    }
    return gathered;
  }
  std::span<f32> words_of_transfer(const weight_transfer& t) {
    if (t.is_of_sums()) {
      has_sums = false;
      return of_tokens;
    }
    if (!t.gathered_rows.empty()) return pack(as, gather(t), leaving);
    const std::span<f32> weights = part(arrays->kept_weights(t.parameter), t);
    if (!t.is_sparse())
      return t.by_columns && as == precision::f32 ? turn(t, weights) : pack(as, weights, leaving);
    return pack_sparse(as, t.form(), *t.sparse.pattern, t.first_row(), weights, leaving, values_leaving);
  }
  /// The numbers of a tile column after column.
  std::span<f32> turn(const weight_transfer& t, std::span<f32> weights) {
    leaving.resize(weights.size());
    const matrix<const f32> by_rows(weights.data(), t.rows, t.columns);
    copy_across(t.numbers(leaving.data()).transposed(), by_rows.transposed());
    return leaving;
  }
  /// The sums over all tokens go back to the workers. The next can only come when these have arrived there.
  void take_sums(pe& me, const weight_transfer& t) {
    of_tokens.assign(first_numbers(), first_numbers() + t.size());
    has_sums = true;
    if (std::exchange(waits_for_sums, false)) send_next(me);
  }
  void take_gradient(const weight_transfer& t) {
    const thread_times::span updating(t.of->number, work_kind::update);
    returned += 4 * t.gradients();
    // A worker whose loss is not finite says so in the first number of every gradient, so no tile is updated.
    if (!std::isfinite(first_numbers()[0])) lost_gradient_of(t);
    const bool used_in_place = optimize.updates_at_once() && t.gathered_rows.empty() && has_one_gradient(t) &&
                               !t.sparse.dense_gradient;
    if (!used_in_place) add_to_gradients(t);
    if (t.last_gradient && schedule->of().is_last())
      each_tile(t, [&](const weight_transfer& tile) {
        finish(tile, used_in_place ? first_numbers() : gradient_of(tile));
      });
  }
  void add_to_gradients(const weight_transfer& t) {
    const auto accumulate = [](std::span<f32> to, f32* x) {
      add(matrix(to.data(), 1, static_cast<int>(to.size())),
          matrix<const f32>(x, 1, static_cast<int>(to.size())));
    };
    f32* from = first_numbers();
    if (t.sparse.dense_gradient) return add_dense_gradient(t);
    if (t.gathered_rows.empty()) return accumulate(part(arrays->kept_gradients(t.parameter), t), from);
    for (i32 r : t.gathered_rows)
      accumulate(row(arrays->gradients, t, r), std::exchange(from, from + t.columns));
  }
  /// The gradients of all numbers of a sparse tile: those of the nonzeros join those that came before, and
  /// all are kept until the pattern has changed.
  void add_dense_gradient(const weight_transfer& t) {
    const std::span<f32> all = arrays->sparse[t.parameter]->dense_gradient().subspan(
                             static_cast<std::size_t>(t.offset), t.size()),
                         of_nonzeros = part(arrays->kept_gradients(t.parameter), t);
    const f32* const from = first_numbers();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += from[i];
    std::size_t k = 0;
    for (int r = 0; r < t.rows; ++r)
      for (i32 c : t.sparse.pattern->row(t.first_row() + r))
        of_nonzeros[k++] += from[static_cast<std::size_t>(r) * static_cast<std::size_t>(t.columns) +
                                 static_cast<std::size_t>(c)];
  }
  void finish(const weight_transfer& t, f32* gradient) {
    if (!all_finite(gradient, static_cast<int>(t.kept()))) lost_gradient_of(t);
    if (!squares_of_gradients.empty()) squares_of_gradients[t.parameter] += squares(gradient, t.kept());
    if (optimize.updates_at_once()) not_finite < 0 ? update(t, gradient, 1, 0) : discard(t, gradient);
    else if (arrays->model->parameters()[t.parameter].follows == 0)
      sum_of_squares += squares(gradient, t.kept());
  }
  void lost_gradient_of(const weight_transfer& t) {
    not_finite = std::max(not_finite, static_cast<i32>(t.parameter));
  }
  void discard(const weight_transfer& t, f32* gradient) {
    if (gradient != first_numbers()) std::fill_n(gradient, t.kept(), 0.f);
  }
  static f64 squares(const f32* x, std::size_t n) {
    f64 sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<f64>(x[i]) * static_cast<f64>(x[i]);
    return sum;
  }
  /// Whether the tile has one gradient in a step. A tied parameter has several, and so has any parameter in a
  /// step of several micro-batches; they are added up first.
  bool has_one_gradient(const weight_transfer& t) const {
    if (schedule->of().of > 1) return false;
    int n = 0;
    for (const auto& s : arrays->model->stages())
      for (int p : s->parameters) n += static_cast<std::size_t>(p) == t.parameter;
    return n == 1;
  }
  parameter_block block_of(const weight_transfer& t) const {
    if (arrays->sparse[t.parameter])
      return {0, 1, static_cast<int>(t.first_kept()), static_cast<int>(t.kept())};
    const i64 stride = arrays->model->parameters()[t.parameter].columns;
    return {static_cast<int>(t.offset / stride), t.rows, static_cast<int>(t.offset % stride), t.columns};
  }
  void update(const weight_transfer& t, f32* gradient, f32 clip_factor, int round) {
    const wall_clock::time_point from = wall_clock::now();
    const parameter_block block = block_of(t);
    arrays->update(optimize, {t.parameter, block}, {gradient, block.rows, block.columns}, clip_factor, round,
                   sums);
    if (round + 1 == optimize.rounds) discard(t, gradient);
    work += seconds(wall_clock::now() - from);
  }
};

}  // namespace wsl::ml
