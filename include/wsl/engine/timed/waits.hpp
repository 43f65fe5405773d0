// SPDX-License-Identifier: MIT
// The waits of the timed engine's PEs, routers and switches when nothing is left to do. deadlock.hpp turns
// them into its report.
#pragma once
#include "../diagnose/wait.hpp"
#include "../pe_waits.hpp"
#include "mesh.hpp"
#include "processor.hpp"

namespace wsl::engines {

inline void operation_waits(waits& open, const timed_processor& p, const pe_state& s, const flight& f,
                            const mesh& m) {
  operation_waits(open, s, f.op, !p.calls.empty() || (s.active & ~s.blocked), [&](int color) {
    const pipe& in = m.through[f.in[color == f.op.input[0] ? 0 : 1]];
    return in.empty() || m.through.first_is_control(in);
  });
}

inline void unread_words(waits& open, const timed_processor& p, const pe_state& s, const channel_node& n,
                         const mesh& m) {
  const pipe& in = m.through[n.down];
  const bool control = m.through.first_is_control(in);
  if (!control && p.reads(n.color)) return;
  const binding* task =
      control ? s.image->control_with(control_word{m.through.first_bits(in)}.id()) : s.image->data[n.color];
  open.push_back(
      {wait::reason::unread, {s.x, s.y}, n.color, s.image->source->name, task ? task->name : "", in.size()});
}

inline void waits_of(waits& open, const timed_processor& p, const pe_state& s, mesh& m) {
  outbox_waits(open, s, p.outbox);
  const auto each = [&](auto use) {
    for (u64 left = p.in_flight; left; left &= left - 1)
      use(*p.flights[static_cast<std::size_t>(std::countr_zero(left))]);
    if (p.own) use(*p.own);
  };
  each([&](const flight& f) {
    operation_waits(open, p, s, f, m);
    event_waits(open, f.op, [&](auto signals) { each([&](const flight& other) { signals(other.op); }); });
  });
  call_waits(open, s, p.calls);
  held_tasks(open, s);
  for (const channel_node& n : m.nodes_of(p.router))
    if (n.down != mesh::none && !m.through[n.down].empty()) unread_words(open, p, s, n, m);
}

inline void waits_of(waits& open, const mesh& m) {
  m.each_virtual_channel([&](coord at, int color, const pipe& in) {
    if (in.empty()) return;
    if (const timed_switch* g = m.switch_before(in))
      open.push_back(
          {wait::reason::router_switch, at, color, "", g->way.side(), in.size(), g->way.position()});
    else open.push_back({wait::reason::router, at, color, "", "", in.size()});
  });
}

}  // namespace wsl::engines
