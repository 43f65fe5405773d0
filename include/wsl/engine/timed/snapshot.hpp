// SPDX-License-Identifier: MIT
// The state of a PE and of its router in the timed engine, for a dump. A pipe over several links counts as a
// queue of the router at its end, with all words that are on their way.
#pragma once
#include "../diagnose/pe_snapshot.hpp"
#include "mesh.hpp"
#include "processor.hpp"

namespace wsl::engines {

[[gnu::cold]] inline void look_at_processor(const timed_processor& p, pe_state& s, pe_snapshot& to) {
  to.pe = &s;
  if (p.in_task() || p.resumes) to.task = p.task;
  for (const host_call& c : p.calls) to.calls.push_back(c.entry->name);
  p.each_operation([&](const operation_in_flight& t) { to.operations.push_back(t); });
  for (const wavelet& w : p.outbox) to.add_unsent(w.bits, w.color, w.control);
  // what the running task sends in the next cycles
  for (std::size_t i = p.line; i < p.script.size(); ++i)
    if (const act& a = p.script[i]; a.what() == act::kind::send)
      to.add_unsent(static_cast<u32>(a.value), static_cast<int>(a.color), a.control != 0);
}

[[gnu::cold]] inline void add_pipe(const mesh& m, u32 number, queue_snapshot::place where, int color,
                                   port side, pe_snapshot& to) {
  support::flat_vector<queue_snapshot::word> words;
  m.through.each_word(m.through[number], [&](u32 bits, bool control) { words.push_back({bits, control}); });
  if (!words.empty()) to.add_queue(where, color, side).words = words;
}

/// The queues and switches of a router, and those between it and its PE.
[[gnu::cold]] inline void look_at_router(mesh& m, coord c, pe_snapshot& to) {
  const u32 router = m.router_at(c);
  for (const channel_node& n : m.nodes_of(router)) {
    if (n.up != mesh::none) add_pipe(m, n.up, queue_snapshot::place::output, n.color, ramp, to);
    if (n.down != mesh::none) add_pipe(m, n.down, queue_snapshot::place::input, n.color, ramp, to);
    if (const timed_switch* s = m.switch_of(router, n.color))
      to.switches.push_back({n.color, s->way.closed(), s->way.position()});
  }
  m.each_link_into(router, [&](u32 number, int color, port side) {
    add_pipe(m, number, queue_snapshot::place::link, color, side, to);
  });
}

}  // namespace wsl::engines
