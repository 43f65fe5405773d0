// SPDX-License-Identifier: MIT
// A run of the timed engine, from event to event on one thread while cycles have little to do, and in windows
// of some cycles on all threads (windows.hpp) while they have much. The visits, and so the results, are the
// same.
#pragma once
#include <cstdint>

#include "../diagnose/run_limit.hpp"
#include "../threaded/thread_pool.hpp"
#include "windows.hpp"
#include "worker.hpp"

namespace wsl::engines {

class timed_simulation {
 public:
  /// Windows begin when cycles have this number of visits on average. On one thread they only keep what is
  /// near in the cache, so it takes four times as many.
  timed_simulation(timed_state& all, support::flat_vector<timed_worker*>& workers, u64 visits_a_cycle)
      : all_(all),
        workers_(workers),
        threads_(static_cast<int>(workers.size())),
        visits_a_cycle_(threads_.size() > 1 ? visits_a_cycle : 4 * visits_a_cycle),
        cut_(all.routers.cut),
        cycles_(window_parts::cycles(cut_)),
        parts_(cut_, threads_.size()),
        grid_(all.routers.plan->width(), all.routers.plan->height(), cut_.columns, all.events) {
    settle_actors();
    for (timed_worker* w : workers_) w->events.open();
    if (cut_.span) index_routers();
  }

  /// Runs until nothing is left to happen, or until the first cycle in which a task has thrown; throws the
  /// same. `limit` has begun.
  void run(run_limit& limit) {
    limit_ = &limit;
    while ((observer ? run_sparse<true>() : run_sparse<false>()) && run_dense()) {}
  }
  bool had_windows() const { return had_windows_; }
  step_observer* observer = nullptr;  ///< is told of the ends of cycles, or null

 private:
  static constexpr u64 never = event_queue::never;
  static constexpr u64 sample = 16;  ///< cycles over which visits are counted

  timed_worker& first() { return *workers_[0]; }

  void settle_actors() {
    mesh_topology& routers = all_.routers;
    support::flat_vector<actor_event>& actors = all_.events.actors;
    actors = support::flat_vector<actor_event>(routers.actors());
    if (!cut_.span) return;
    for (u32 i = 0; i < all_.processors.size(); ++i) place(actors[i], all_.processors[i].router);
    for (u32 k = 0; k < routers.arbiters.size(); ++k)
      place(actors[routers.first_arbiter_actor + k], routers.arbiters[k].router);
    for (u32 k = 0; k < routers.sources.size(); ++k)
      place(actors[routers.first_source_actor() + k], routers.channels.router_at(routers.sources[k].at));
  }
  void place(actor_event& e, u32 router) const {
    e.router = router;
    e.block = grid_.block_of(all_.routers.channels.coord_of(router));
  }
  // Arbiters are in the order of routers.
  void index_routers() {
    const mesh_topology& routers = all_.routers;
    const auto n = static_cast<std::size_t>(routers.plan->grid().count());
    all_.events.next = support::flat_vector<u8>(n);
    for (u8& next : all_.events.next) next = event_table::none;
    all_.events.busy = support::flat_vector<u8>(grid_.blocks());
    at_router_ = support::flat_vector<at_router>(n + 1);
    for (u32 i = 0; i < all_.processors.size(); ++i) at_router_[all_.processors[i].router].pe = i;
    for (const arbiter& a : routers.arbiters) ++at_router_[a.router + 1].first_arbiter;
    at_router_[0].first_arbiter = routers.first_arbiter_actor;
    for (std::size_t r = 0; r < n; ++r) at_router_[r + 1].first_arbiter += at_router_[r].first_arbiter;
    for (u32 k = 0; k < routers.sources.size(); ++k) {
      const u32 actor = routers.first_source_actor() + k;
      sources_.push_back({all_.events.actors[actor].router, actor});
      at_router_[all_.events.actors[actor].router].has_source = true;
    }
  }

  // ---- from event to event ----------------------------------------------------------------------

  // Returns whether windows are to follow; false at the end of the run.
  template <bool observed>
  bool run_sparse() {
    timed_worker& w = first();
    u64 cycles = 0, visits = w.events.visits;
    if (may_be_dense() && visits_a_cycle_ == 0) return true;
    while ((!w.failure.what || !has_failed_before(w.failure, w.events.next())) && w.events.advance()) {
      w.events.take([&](u32 who) { w.visit(who); });
      if constexpr (observed) observer->cycle_ended(w.events.next());
      if (++cycles % sample) continue;
      look_at_the_clock();
      if (may_be_dense() && w.events.visits - visits >= sample * visits_a_cycle_) return true;
      visits = w.events.visits;
    }
    if (w.failure.what) std::rethrow_exception(w.failure.what);
    return false;
  }
  // Whether no earlier failure than this one can be found: PEs may be late by a ramp's latency.
  bool has_failed_before(const run_failure& failure, u64 next) const {
    return failure.what && failure.at + static_cast<u64>(all_.routers.plan->machine().ramp_latency) < next;
  }
  bool may_be_dense() { return cut_.span && !first().routers.traced; }
  void look_at_the_clock() {
    if (!limit_->is_set()) return;
    task_census* const census = limit_->look(first().pes.census());
    for (timed_worker* w : workers_) w->pes.count_in(census);
  }

  // ---- in windows -------------------------------------------------------------------------------

  // Returns whether the run goes on from event to event; false at its end.
  bool run_dense() {
    ended_ = nullptr;
    visits_ = 0;
    goes_on_ = true;
    auto job = [this](int k) { take_part(k); };
    threads_.run(job);
    if (ended_) std::rethrow_exception(ended_);
    return first().events.next() != never;
  }

  void take_part(int k) {
    timed_worker& w = *workers_[static_cast<std::size_t>(k)];
    const script_recorder::listening ears(w.pes.writer());
    const journal_turn turn(w.pes.writer().journal());
    for (;;) {
      if (k == 0) goes_on_ = begin_window();
      threads_.barrier.wait();
      if (!goes_on_) break;
      sweep(w, parts_.band(k));
      threads_.barrier.wait();
      if (k + 1 < threads_.size()) sweep(w, parts_.border(k));
      threads_.barrier.wait();
    }
    w.routers.stay_nowhere();
  }

  // Only one thread runs meanwhile. Returns false if no window follows.
  bool begin_window() {
    u64 visits = 0, next = never;
    run_failure failure;
    for (timed_worker* w : workers_) {
      visits += w->events.visits, next = std::min(next, w->events.next());
      failure.keep_first(w->failure);
    }
    const bool sparse = visits - visits_ < static_cast<u64>(cycles_) * visits_a_cycle_ / 2;
    const bool first_one = visits_ == 0;
    visits_ = visits;
    if (has_failed_before(failure, next)) ended_ = failure.what;
    try {
      look_at_the_clock();
    } catch (...) { ended_ = std::current_exception(); }
    if (ended_ || next == never || (sparse && !first_one)) return end_windows(), false;
    had_windows_ = true;
    for (u8& busy : all_.events.busy) busy = 0;
    for (timed_worker* w : workers_) w->events.begin_window(next, next + static_cast<u64>(cycles_));
    return true;
  }
  void end_windows() {
    for (timed_worker* w : workers_) {
      w->events.end_windows();
      if (w != &first()) w->events.move_to(first().events);
    }
  }

  void sweep(timed_worker& w, const window_part& part) {
    w.routers.stay_within(part.first_touched, part.end_touched);
    grid_.sweep(part, cycles_, [&](int cycle, std::span<const u32> due) {
      w.events.set_cycle(static_cast<u32>(cycle));
      for (std::size_t n = 0; n < due.size(); ++n) {
        if (n + 6 < due.size()) fetch_actors(due[n + 6]);
        if (n + 4 < due.size()) fetch_pipes(due[n + 4]);
        if (n + 2 < due.size()) fetch_operations(due[n + 2]);
        visit_router(w, due[n]);
      }
    });
  }
  // These fetch the state that a visit will need, in the order in which one address tells the next. Most of
  // it has been out of the cache since the window before.
  void fetch_actors(u32 router) const {
    const at_router& here = at_router_[router];
    fetch<1>(all_.events.actors.data() + here.first_arbiter);
    fetch<1>(all_.routers.arbiters.data() + (here.first_arbiter - all_.routers.first_arbiter_actor));
    if (here.pe == mesh::none) return;
    fetch<4>(&all_.processors[here.pe]);
    fetch<1>(&workers_[0]->pes.state(here.pe));
  }
  void fetch_pipes(u32 router) const {
    const u32 first = at_router_[router].first_arbiter, end = at_router_[router + 1].first_arbiter;
    for (u32 k = first - all_.routers.first_arbiter_actor; k < end - all_.routers.first_arbiter_actor; ++k)
      for (u32 c = 0; c < all_.routers.arbiters[k].channels; ++c)
        fetch<1>(&all_.all_pipes[all_.routers.arbiters[k].first + c]);
    if (const u32 pe = at_router_[router].pe; pe != mesh::none) {
      fetch<2>(all_.processors[pe].gates.data());
      fetch<1>(all_.processors[pe].flights.data());
    }
  }
  void fetch_operations(u32 router) const {
    const u32 pe = at_router_[router].pe;
    if (pe == mesh::none) return;
    const timed_processor& p = all_.processors[pe];
    for (u64 left = p.in_flight; left; left &= left - 1) {
      const flight_gate& g = p.gates[static_cast<std::size_t>(std::countr_zero(left))];
      for (u32 in : {g.in[0], g.in[1], g.out})
        if (in != flight_gate::none) fetch<1>(&all_.all_pipes[in]);
      fetch<3>(p.flights[static_cast<std::size_t>(std::countr_zero(left))]);
    }
  }
  // An address may be null, or behind the last element: nothing is read there.
  template <int lines>
  static void fetch(const void* from) {
    const auto first = reinterpret_cast<std::uintptr_t>(from);
    for (std::uintptr_t n = 0; n < lines; ++n)
      __builtin_prefetch(reinterpret_cast<const void*>(first + 64 * n), 1);
  }
  void visit_router(timed_worker& w, u32 router) {
    all_.events.next[router] = event_table::none;
    const at_router& here = at_router_[router];
    const auto look = [&](u32 who) { w.events.look(who, [&](u32 due) { w.visit(due); }); };
    if (here.pe != mesh::none) look(here.pe);
    const u32 end = at_router_[router + 1].first_arbiter;
    for (u32 who = here.first_arbiter; who < end; ++who) look(who);
    if (!here.has_source) return;
    for (const source_at& s : sources_)
      if (s.router == router) look(s.actor);
  }

  /// The actors at a router; its arbiters end where those of the next begin.
  struct at_router {
    u32 pe = mesh::none;
    u32 first_arbiter = 0;
    bool has_source = false;
  };
  struct source_at {
    u32 router = 0, actor = 0;
  };

  timed_state& all_;
  support::flat_vector<timed_worker*>& workers_;
  thread_pool threads_;
  u64 visits_a_cycle_;
  const grid_cut& cut_;
  int cycles_;
  window_parts parts_;
  tiled_grid grid_;
  support::flat_vector<at_router> at_router_;
  support::flat_vector<source_at> sources_;
  run_limit* limit_ = nullptr;
  // of the windows in progress
  std::exception_ptr ended_;
  u64 visits_ = 0;
  bool goes_on_ = true, had_windows_ = false;
};

}  // namespace wsl::engines
