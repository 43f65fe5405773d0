// SPDX-License-Identifier: MIT
// The state of a PE and of its router in the timed engine, for a dump. A pipe over several links counts as a
// queue of the router at its end, with all words that are on their way.
#pragma once
#include "../diagnose/place_visitor.hpp"
#include "mesh.hpp"
#include "processor.hpp"

namespace wsl::engines {

[[gnu::cold]] inline void show(const timed_processor& p, pe_state& s, place_visitor& to) {
  to.pe(s, p.in_task() || p.resumes ? p.task : "");
  for (const host_call& c : p.calls) to.call(c.entry->name);
  p.each_operation([&](const operation_in_flight& t) { to.operation(t); });
  for (const wavelet& w : p.outbox) to.unsent(w);
  // what the running task sends in the next cycles
  for (std::size_t i = p.line; i < p.script.size(); ++i)
    if (const act& a = p.script[i]; a.what() == act::kind::send)
      to.unsent({static_cast<u32>(a.value), static_cast<u8>(a.color), a.control != 0});
}

[[gnu::cold]] inline void show(const mesh& m, u32 pipe, queue_place where, int color, port side,
                               place_visitor& to) {
  to.queue(where, color, side);
  m.through.each_word(m.through[pipe], [&](u32 bits, bool control) { to.word(bits, control); });
}

/// The queues and switches of a router, and those between it and its PE.
[[gnu::cold]] inline void show(mesh& m, coord c, place_visitor& to) {
  const u32 router = m.router_at(c);
  for (const channel_node& n : m.nodes_of(router)) {
    if (n.up != mesh::none) show(m, n.up, queue_place::output, n.color, ramp, to);
    if (n.down != mesh::none) show(m, n.down, queue_place::input, n.color, ramp, to);
    if (const timed_switch* s = m.switch_of(router, n.color))
      to.router_switch(n.color, s->way.closed(), s->way.position());
  }
  m.each_link_into(
      router, [&](u32 pipe, int color, port side) { show(m, pipe, queue_place::link, color, side, to); });
}

}  // namespace wsl::engines
