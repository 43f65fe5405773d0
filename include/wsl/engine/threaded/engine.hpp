// SPDX-License-Identifier: MIT
// The threaded engine itself: every wavelet goes straight from its sender's channel to its receivers,
// tasks run in batches, operations move whole spans, and only PEs with work are visited. Partitions of the
// grid run on threads, with the same results for any number of them, and the same as the reference engine's
// for every program that does not depend on the order in which independent wavelets arrive.
// docs/engines/threaded.md draws it.
#pragma once
#include "../diagnose/deadlock.hpp"
#include "../engine.hpp"
#include "../pe_waits.hpp"
#include "scheduler.hpp"
#include "superstep.hpp"

namespace wsl {
namespace engines {

class threaded_engine : public engine {
 public:
  threaded_engine(const layout& plan, int threads, depth queues, schedule order, const partitioning& by,
                  u32 rendezvous_from, run_log* log, run_observer* observer,
                  memories of_programs = memories::built)
      : engine(plan),
        routes_(engine::plan()),
        tiles_(engine::plan(), routes_, *this, log ? memories::zeroed : of_programs),
        transport_(engine::plan(), routes_, tiles_, queues, by),
        scheduler_(tiles_, transport_, target(), order, support::max(1u, rendezvous_from), log),
        thread_pool_(support::min(threads, static_cast<int>(transport_.net.partitions))),
        observer_(observer) {
    for (partition& b : partitions())
      b.random = (order.seed + 1) * 0x9e3779b97f4a7c15u + static_cast<u64>(&b - partitions().data());
    for (u32 i = 0; i < pes(); ++i)
      if (state(i).active) transport_.wake(transport_.home(i), i);
  }

  pe* find(coord c) override { return tiles_.find(c); }

  void visit_pes(pe_visitor f, void* what) override { visit_pes_on(thread_pool_, f, what); }
  void call(pe& on, host_call what) override { scheduler_.call(state_of(on), what); }

  void stream_write(int color, coord c, std::span<const u32> words) override {
    const u32 k = stream(color, c, true);
    for (u32 w : words) transport_.net.streams[k].words.push(w);
    transport_.wake(transport_.home(pes() + k), pes() + k);
  }
  std::size_t stream_read(int color, coord c, std::span<u32> words) override {
    std::size_t n = 0;
    // at a corner words may leave through two sides
    for (u32 k = stream(color, c, false); k < transport_.net.streams.size(); ++k) {
      stream_end& s = transport_.net.streams[k];
      if (s.color != color || s.at != c || s.inbound) continue;
      for (; n < words.size() && !s.words.empty(); s.words.pop()) words[n++] = s.words.front();
    }
    return n;
  }

  u64 unread_words() const override {
    u64 n = 0;
    for (const stream_end& s : transport_.net.streams) n += s.inbound ? 0 : s.words.size();
    return n;
  }

  outcome run() override {
    forget_run();
    superstep_ = run_supersteps(
        thread_pool_, partitions(), superstep_,
        [this](partition& b, u64 superstep) { run_partition(b, superstep); }, observer_);
    const outcome total = done();
    for (const partition& b : partitions())
      if (b.failure) rethrow(b.failure);
    if (const waits open = pending(); !open.empty()) throw deadlock(plan(), open, unread_words());
    return total;
  }

  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) override {
    scheduler_.send_control(from, color, type, bits);
  }
  void reopen(pe_state& on, int color, int phase) override {
    topology& net = transport_.net;
    const u32 j = net.switched.find({on.x, on.y}, color);
    rule::reopen(on, color, phase, j == switched_routers::none ? nullptr : &net.switched[j].way, plan());
    transport_.wake(transport_.home(on), net.first_switched_router() + j);
  }
  void async_compute(pe_state& on, const offloaded_job& what) override {
    transport_.home(on).offloaded_jobs.push_back(new open_job(what, on.index));
  }
  /// The number of the partition that runs a PE.
  u32 partition_of(const pe& p) const { return net().visits[state_of(const_cast<pe&>(p)).index].partition; }

  const char* name() const override { return "threaded"; }
  waits what_waits() override {
    waits open;
    for (u32 who = 0; who < transport_.net.writers(); ++who)
      if (runs_here(who)) waits_at(open, who);
    for (u32 i = 0; i < pes() && !open.empty(); ++i) lost_activations(open, state(i));
    return open;
  }
  // Words have one place here, the channel of their sender. Those for which there is room count as arrived.
  [[gnu::cold]] void look_at(coord c, place_visitor& to) override {
    topology& net = transport_.net;
    if (pe* p = find(c); p && runs_here(state_of(*p).index)) show(state_of(*p), to);
    for (int color = 0; color < target().colors && net.switched.size() > 0; ++color) {
      const u32 j = net.switched.find(c, color), who = net.first_switched_router() + j;
      if (j == switched_routers::none || !runs_here(who)) continue;
      const router_switch& way = net.switched[j].way;
      to.router_switch(color, way.closed(), way.position());
      for (const cursor& in : net.cursors_of(who))
        show(to, queue_place::link, who, in, transport_.available(in), every_port[in.port]);
    }
  }

  bool start(pe_state& on, transfer& t) override { return scheduler_.start(on, t); }
  const u32* take(pe_state& on, int color, const payload_type* type, u32 n) override {
    return scheduler_.take(on, color, type, n);
  }

 protected:
  support::flat_vector<partition>& partitions() { return transport_.partitions(); }
  u32 pes() const { return static_cast<u32>(tiles_.size()); }
  pe_state& state(u32 i) { return state_of(tiles_[i]); }
  /// The memory of a PE, built now if it was not.
  void* built_memory(u32 i) { return tiles_.memory_of(state(i)); }
  u32 stream(int color, coord c, bool inbound) const {
    const auto& streams = transport_.net.streams;
    for (u32 k = 0; k < streams.size(); ++k)
      if (streams[k].color == color && streams[k].at == c && streams[k].inbound == inbound) return k;
    throw fault(support::joined({"wsl: no host stream of color ", color, " is bound to ", text_of(c)}));
  }

  void forget_run() {
    for (partition& b : partitions()) b.done = {}, b.failure = nullptr, b.census = nullptr;
    scheduler_.limit.begin(pes());
  }
  /// Throws the failure of a partition again, with the place if it is the limit of the run. Requires that no
  /// thread runs.
  [[noreturn]] void rethrow(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const run_limit::passed& what) {
      throw scheduler_.limit.explained(what, [this](u32 i) { return state(i); });
    }
  }
  outcome done() {
    outcome total;
    for (const partition& b : partitions()) total = total + b.done;
    return total;
  }
  void run_partition(partition& b, u64 superstep) {
    const task_turn turn;
    try {
      transport_.begin(b, superstep);
      scheduler_.run(b);
      transport_.end(b);
    } catch (...) { b.failure = std::current_exception(); }
  }

  // Looks only at PEs that the run has touched, so that a whole wafer is not searched for one moving wavelet.
  bool any_waits(partition& b) {
    waits open;
    return transport_.any_left(b, [&](u32 who) {
      open.clear();
      waits_at(open, who);
      if (open.empty() && who < pes()) close_windows(who);
      return !open.empty();
    });
  }
  // Afterwards a PE that is used outside of its tasks finds no window to send into.
  void close_windows(u32 who) {
    for (channel& c : transport_.net.channels_of(who)) c.close();
  }
  void waits_at(waits& open, u32 who) {
    if (who < pes()) pe_waits(open, transport_.home(who), state(who));
    else if (who < transport_.net.first_switched_router())
      stream_waits(open, transport_.net.streams[who - pes()]);
    else router_waits(open, who);
  }

  /// Whether this process runs a PE, host stream or switched router.
  virtual bool runs_here(u32) const { return true; }

  /// The partitions that a thread of several runs, as a set.
  virtual u64 partitions_of(int thread, int threads) {
    const std::size_t n = partitions().size(), after = first_partition_of(thread + 1, threads, n);
    u64 set = 0;
    for (std::size_t b = first_partition_of(thread, threads, n); b < after; ++b) set |= u64{1} << b;
    return set;
  }
  /// Throws what f has thrown in the first partition in which it has.
  void visit_pes_on(thread_pool& threads, pe_visitor f, void* what) {
    struct visits {
      threaded_engine& of;
      pe_visitor f;
      void* what;
      int threads;
    } job{*this, f, what, threads.size()};
    const auto visit = [](void* all, int thread) {
      visits& v = *static_cast<visits*>(all);
      v.of.visit_pes_in(v.of.partitions_of(thread, v.threads), v.f, v.what);
    };
    if (threads.size() > 1) threads.run(visit, &job);
    else visit(&job, 0);
    std::exception_ptr first;
    for (partition& b : partitions()) {
      if (!first) first = b.failure;
      b.failure = nullptr;
    }
    if (first) std::rethrow_exception(first);
  }

  transport& words() { return transport_; }
  rendezvous_transfers& rendezvous() { return scheduler_.rendezvous(); }
  const topology& net() const { return transport_.net; }
  thread_pool& threads() { return thread_pool_; }

 private:
  void visit_pes_in(u64 set, pe_visitor f, void* what) {
    for (u32 i = 0; i < pes(); ++i) {
      const u32 number = transport_.net.visits[i].partition;
      partition& of = partitions()[number];
      if (!(set >> number & 1) || of.failure) continue;
      try {
        f(what, tiles_[i]);
      } catch (...) { of.failure = std::current_exception(); }
    }
  }
  void show(place_visitor& to, queue_place where, u32 reader, const cursor& in, u32 n, port side) {
    if (n == 0) return;
    to.queue(where, in.color, side);
    transport_.each_word(transport_.home(reader), in, n, to);
  }
  void show(pe_state& s, place_visitor& to) {
    const processor* p = transport_.processor_of(s);
    to.pe(s, p && p->suspended() && p->task ? p->task->name : "");
    if (const host_call* call = scheduler_.waiting_call(transport_.home(s), s)) to.call(call->entry->name);
    if (p) {
      for (const host_call& c : p->calls) to.call(c.entry->name);
      for (const transfer& t : p->microthreads) to.operation(t);
    }
    for (u64 left = s.image->present; left; left &= left - 1) {
      const channel& c = topology::channel_of(s, std::countr_zero(left));
      const u32 n = transport_.held_back(c);
      if (n) to.queue(queue_place::output, std::countr_zero(left), ramp);
      for (u32 i = 0; i < n; ++i) to.word(c.room()[i64{i} - n], false);
    }
    for (const cursor& in : topology::cursors_of(s))
      show(to, queue_place::input, s.index, in, transport_.arrived(in), ramp);
  }

  [[gnu::cold]] waits pending() {
    bool any = false;
    for (partition& b : partitions()) any |= any_waits(b);
    waits open;
    for (u32 who = 0; any && who < transport_.net.writers(); ++who) waits_at(open, who);
    for (u32 i = 0; i < pes() && !open.empty(); ++i) lost_activations(open, state(i));
    return open;
  }
  static void stream_waits(waits& open, const stream_end& s) {
    if (s.inbound && !s.words.empty())
      open.push_back({wait::reason::stream, s.at, s.color, "", "", s.words.size()});
  }

  [[gnu::cold]] void router_waits(waits& open, u32 who) {
    const switched_router& r = transport_.net.switched_router_of(who);
    u64 held = 0, shut_out = 0;
    for (const cursor& in : transport_.net.cursors_of(who))
      (r.way.takes(every_port[in.port]) ? held : shut_out) += transport_.available(in);
    if (shut_out)
      open.push_back(
          {wait::reason::router_switch, r.at, r.color, "", r.way.side(), shut_out, r.way.position()});
    if (held) open.push_back({wait::reason::router, r.at, r.color, "", "", held});
  }

  [[gnu::cold]] void pe_waits(waits& open, partition& b, pe_state& s) {
    const processor* p = transport_.processor_of(s);
    if (p) operation_waits(open, *p, s, [&](int color) { return scheduler_.source(b, s, color) == nullptr; });
    if (const host_call* call = scheduler_.waiting_call(b, s)) call_waits(open, s, *call, 1);
    held_tasks(open, s);
    for (u64 left = s.image->present; left; left &= left - 1)
      if (const u32 n = transport_.held_back(topology::channel_of(s, std::countr_zero(left))))
        open.push_back(
            {wait::reason::output, {s.x, s.y}, std::countr_zero(left), s.image->source->name, "send", n});
    for (const cursor& in : topology::cursors_of(s)) {
      const u32 n = transport_.arrived(in);
      if (n == 0) continue;
      const bool control = transport_.control_first(b, in);
      if (!control && p && p->reads(in.color)) continue;
      unread_waits(open, s, {*transport_.words_at(in), in.color, control}, n, true);
    }
  }

  resolved_routes routes_;
  tiles tiles_;
  transport transport_;
  pe_scheduler scheduler_;
  thread_pool thread_pool_;
  run_observer* observer_;

 protected:
  u64 superstep_ = 0;  ///< the last superstep that has run
};

}  // namespace engines
}  // namespace wsl
