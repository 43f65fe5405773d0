// SPDX-License-Identifier: MIT
// One thread's part of the timed engine: it visits PEs, arbiters and host streams, each at its time. A thread
// has the counts of a run, the recorder of its tasks, and a queue of events for itself.
#pragma once
#include <exception>

#include "host_commands.hpp"
#include "pes.hpp"

namespace wsl::engines {

/// The words of a host stream that are not on the grid yet.
using unsent_words = support::flat_queue<u32>;

/// All threads share this state. It is built once.
struct timed_state {
  timed_state(const layout& plan, const grid_cut& cut, const ramp_queues& ramps, u32 threads)
      : routers(plan, cut, ramps.pes()) {
    mesh_builder(routers, all_pipes, ramps).build(threads);
    flights = support::flat_vector<flight_store>(threads);
    processors = support::flat_vector<timed_processor>(ramps.pes());
    unsent = support::flat_vector<unsent_words>(routers.sources.size());
    arrivals = support::flat_vector<arrival_times>(routers.sources.size());
  }

  event_table events;
  mesh_topology routers;
  pipe_store all_pipes;
  support::flat_vector<flight_store> flights;  ///< by thread; the processors use them until the end
  support::flat_vector<timed_processor> processors;
  support::flat_vector<unsent_words> unsent;     ///< by source
  support::flat_vector<arrival_times> arrivals;  ///< of these words
};

/// The first exception of a run: of those in the earliest cycle, the one at the actor with the lowest number.
struct run_failure {
  u64 at = event_queue::never;
  u32 who = 0;
  std::exception_ptr what;

  void keep_first(const run_failure& other) {
    if (other.at < at || (other.at == at && other.who < who)) *this = other;
  }
};

struct timed_worker {
  timed_worker(timed_state& all, const layout& plan, tiles& programs, engine_port& engine,
               journal_windows& windows, u32 number)
      : state(all),
        events(all.events),
        routers(all.routers, all.all_pipes, events),
        pes(plan, programs, all.processors, routers, events, engine, windows, all.flights[number], number) {}

  timed_state& state;
  event_queue events;
  mesh routers;
  timed_pes pes;
  run_failure failure;

  void begin_run(u64 now) {
    pes.begin_run(now);
    routers.done = {.end = now};
    failure = {};
  }
  u64 end() const { return std::max(pes.end(), routers.done.end); }

  /// Visits an actor. An exception of its task is kept, and all others go on to the end of the cycle or
  /// window, so that the run does not depend on the order of visits.
  void visit(u32 who) {
    try {
      visit_now(who);
    } catch (...) { failure.keep_first({time_of(who), who, std::current_exception()}); }
  }

 private:
  u64 time_of(u32 who) const {
    return who < state.routers.first_arbiter_actor ? state.processors[who].since : events.now();
  }
  [[gnu::always_inline]] void visit_now(u32 who) {
    const u64 now = events.now();
    if (state.routers.is_arbiter(who)) [[likely]]
      return routers.step(who, now);
    if (who < state.routers.first_arbiter_actor) return pes.visit(who, now);
    visit_source(who - state.routers.first_source_actor(), now);
  }

  // A host stream gives one word a cycle to the router at the edge, when the link has brought it.
  void visit_source(u32 k, u64 now) {
    const u32 actor = state.routers.first_source_actor() + k;
    const mesh_topology::source& source = state.routers.sources[k];
    pipe& into = routers.through[source.pipe];
    unsent_words& unsent = state.unsent[k];
    if (unsent.empty()) return;
    if (const u64 comes = state.arrivals[k].next(); comes > now) return events.note(actor, comes);
    if (const u64 room = routers.through.room_at(into); room > now) {
      if (room != event_queue::never) events.note(actor, room);
      return;
    }
    routers.send(source.pipe, {unsent.front(), source.color, false}, now + into.latency);
    unsent.pop();
    state.arrivals[k].take();
    pes.entered();
    pes.happened_until(now + 1);
    events.note(actor, now + 1);
  }
};

}  // namespace wsl::engines
