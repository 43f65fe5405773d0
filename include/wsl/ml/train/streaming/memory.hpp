// SPDX-License-Identifier: MIT
// A server of the memory that owns parameters and what the optimizer keeps of them: it sends its slabs in the
// order of the itinerary, takes their gradients, and changes the numbers. Both go on at the same time, each
// at the pace of the wafer. After the MemoryX of Cerebras' weight streaming.
#pragma once
#include "../state.hpp"
#include "report.hpp"
#include "schedule.hpp"
#include "wires.hpp"

namespace wsl::ml {

template <class Weight>
struct memory_server {
  using format = weight_format<Weight>;

  const streaming_schedule* way = nullptr;
  memory* store = nullptr;
  learning how;
  std::size_t sent = 0, taken = 0;  ///< trips
  int level = 0;                    ///< of the tree of wafers, the next to add
  std::vector<f32> arrived, gathered;
  std::vector<typename format::word> leaving;
  f64 sum_of_squares = 0;                             ///< of the gradients of the step
  u64 sent_forward = 0, sent_back = 0, returned = 0;  ///< bytes of the step
  f64 work = 0;                                       ///< seconds of the step in which numbers were changed

  void step(pe& me, const streaming_schedule* w, memory* m, learning l) {
    way = w, store = m, how = l;
    sent = taken = 0, sum_of_squares = 0, sent_forward = sent_back = returned = 0, work = 0;
    arrived.resize(w->longest());
    send_next(me);
    take_next(me);
  }
  /// Changes all parameters of this server; for gradients that had to wait for their norm.
  void learn(pe& me, f32 scale) {
    work = 0;
    for (const weight_transfer& t : way->weight_transfers())
      if (t.server == wires::number_in(me.y()) && t.last)
        each_slab(t, [&](const weight_transfer& s) { change(s, gradient_of(s), scale); });
  }

  void send_next(pe& me) {
    while (sent < weight_transfers() && !trip_at(sent).comes_from(wires::number_in(me.y()))) ++sent;
    if (sent == weight_transfers()) return;
    const weight_transfer& t = trip_at(sent++);
    const auto words = format::pack(t.gathered_rows.empty() ? part(store->numbers, t) : picked(t), leaving);
    (t.back ? sent_back : sent_forward) += 4 * words.size();
    me.async(mov(fabout(wires::weight_tiles<Weight>(wires::number_in(me.y()))), mem(words)),
             then<&memory_server::send_next>());
  }
  void take_next(pe& me) {
    while (taken < weight_transfers() && !trip_at(taken).returns_to(wires::number_in(me.y()))) ++taken;
    if (taken == weight_transfers()) return;
    const auto to = mem(std::span(arrived).first(trip_at(taken).size()));
    level = 1;
    if (wires::children(me))
      me.async(wsl::add(to, fabin(wires::home), fabin(wires::up(0))), then<&memory_server::take>());
    else me.async(mov(to, fabin(wires::home)), then<&memory_server::take>());
  }
  /// A wafer's gradient has come; it is whole when those of all its tree have.
  void take(pe& me) {
    if (level < wires::children(me)) {
      const auto to = mem(std::span(arrived).first(trip_at(taken).size()));
      return me.async(wsl::add(to, to, fabin(wires::up(level++))), then<&memory_server::take>());
    }
    const weight_transfer& t = trip_at(taken++);
    returned += 4 * t.size();
    const bool whole = how.now() && t.gathered_rows.empty() && only_one(t);
    if (!whole) add_to_gradients(t);
    if (t.last)
      each_slab(t, [&](const weight_transfer& x) { finish(x, whole ? arrived.data() : gradient_of(x)); });
    take_next(me);
  }

  using tasks = task_list<launch<&memory_server::step>, launch<&memory_server::learn>,
                          local<&memory_server::send_next>, local<&memory_server::take>,
                          sends<wires::all_weight_tiles<Weight>>, wires::reads_sums<wires::levels>>;

 private:
  std::size_t weight_transfers() const { return way->weight_transfers().size(); }
  const weight_transfer& trip_at(std::size_t k) const { return way->weight_transfers()[k]; }
  static std::span<f32> part(parameter_store& of, const weight_transfer& t) {
    return of[t.parameter].subspan(static_cast<std::size_t>(t.row) * static_cast<std::size_t>(t.columns),
                                   t.size());
  }
  static std::span<f32> row(parameter_store& of, const weight_transfer& t, i32 row) {
    return of[t.parameter].subspan(static_cast<std::size_t>(row) * static_cast<std::size_t>(t.columns),
                                   static_cast<std::size_t>(t.columns));
  }
  f32* gradient_of(const weight_transfer& t) { return part(store->gradients, t).data(); }
  /// The slab of a trip; of one with picks all slabs of the parameter that this server has.
  template <class F>
  void each_slab(const weight_transfer& t, F f) {
    if (t.gathered_rows.empty()) f(t);
    else way->each_slab(t.parameter, t.server, f);
  }
  std::span<f32> picked(const weight_transfer& t) {
    gathered.clear();
    for (i32 r : t.gathered_rows) {
      const std::span<f32> x = row(store->numbers, t, r);
      gathered.insert(gathered.end(), x.begin(), x.end());
    }
    return gathered;
  }
  void add_to_gradients(const weight_transfer& t) {
    const auto add_up = [](std::span<f32> to, f32* x) {
      add(matrix(to.data(), 1, static_cast<int>(to.size())),
          matrix<const f32>(x, 1, static_cast<int>(to.size())));
    };
    f32* from = arrived.data();
    if (t.gathered_rows.empty()) return add_up(part(store->gradients, t), from);
    for (i32 r : t.gathered_rows) add_up(row(store->gradients, t, r), std::exchange(from, from + t.columns));
  }
  void finish(const weight_transfer& t, f32* gradient) {
    if (how.now()) change(t, gradient, 1);
    else sum_of_squares += squares(gradient, t.size());
  }
  static f64 squares(const f32* x, std::size_t n) {
    f64 sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<f64>(x[i]) * static_cast<f64>(x[i]);
    return sum;
  }
  /// Whether the slab has one gradient a step; those of a tied parameter are added up first.
  bool only_one(const weight_transfer& t) const {
    int n = 0;
    for (const auto& s : store->of->stages())
      for (int p : s->parameters) n += static_cast<std::size_t>(p) == t.parameter;
    return n == 1;
  }
  void change(const weight_transfer& t, f32* gradient, f32 scale) {
    const parameter& p = store->of->parameters()[t.parameter];
    const wall_clock::time_point from = wall_clock::now();
    how.change(p, part(store->numbers, t).data(),
               {part(store->first, t).data(), part(store->second, t).data()}, gradient, scale,
               static_cast<int>(t.size()));
    if (gradient != arrived.data()) std::fill_n(gradient, t.size(), 0.f);
    work += seconds(wall_clock::now() - from);
  }
};

}  // namespace wsl::ml
