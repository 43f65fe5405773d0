// SPDX-License-Identifier: MIT
// The rules of the machine's limits, for each placement: task ids, control ids, queues and memory. Only
// colors that a path brings to or takes from the placement's PEs cost an id or a queue: one program may serve
// many places that each use a part of it.
#pragma once
#include <bit>

#include "../../support/min_max.hpp"
#include "../cover.hpp"
#include "../faults/table.hpp"
#include "../layout.hpp"

namespace wsl::rules {

/// What one placement uses of its PEs, as masks of colors and as numbers.
struct usage {
  /// colors of the table that a path brings to or takes from some PE of the placement
  u64 delivered = 0, sent = 0;
  /// of the delivered ones, those that trigger a task and those that descriptors read
  u64 data = 0, read = 0;
  int local_tasks = 0;
};

/// The colors of `wanted` that have a path to or from the ramp on some PE of a region.
constexpr u64 colors_at_ramp(const layout& l, const region& where, u64 wanted, bool takes) {
  u64 found = 0;
  const path_record* p = l.paths().data();
  const bool switched = l.changes();
  for (int i = 0, n = l.paths().size(); i < n && found != wanted; ++i) {
    if (!(wanted >> p[i].color & ~(found >> p[i].color) & 1)) continue;
    const route how = switched ? l.every_route(p[i]) : p[i].how;
    if (!(takes ? how.to : how.from).has(port::ramp) || apart(p[i].where, where)) continue;
    if (!intersect(tight(p[i].where), where).empty()) found |= color_bit(p[i].color);
  }
  return found;
}

constexpr usage usage_of(const layout& l, const placement& p) {
  const u64 data = p.what->colors_of(role::data), read = p.what->colors_of(role::read);
  usage u;
  u.delivered = colors_at_ramp(l, tight(p.where), data | read, true);
  u.sent = colors_at_ramp(l, tight(p.where), p.what->colors_of(role::send), false);
  u.data = data & u.delivered, u.read = read & u.delivered;
  for (const binding& b : *p.what) u.local_tasks += b.what == role::local;
  return u;
}

constexpr diagnostic over_limit(fault_kind kind, const placement& p, int have, int limit) {
  if (have <= limit) return {};
  return {.kind = kind, .at = p.where.nth(0), .have = have, .limit = limit, .name = p.what->name};
}

constexpr diagnostic local_tasks(const layout& l, const placement& p, const usage& u) {
  return over_limit(fault_kind::the_program_has_too_many_local_tasks, p, u.local_tasks,
                    support::min(l.machine().local_tasks, max_local_tasks));
}
constexpr diagnostic data_tasks(const layout& l, const placement& p, const usage& u) {
  return over_limit(fault_kind::the_program_has_too_many_data_tasks, p, std::popcount(u.data),
                    l.machine().data_tasks);
}
constexpr diagnostic task_ids(const layout& l, const placement& p, const usage& u) {
  return over_limit(fault_kind::the_program_has_too_many_tasks, p, std::popcount(u.data) + u.local_tasks,
                    l.machine().task_ids);
}
constexpr diagnostic control_ids(const layout& l, const placement& p, const usage&) {
  for (const binding& b : *p.what)
    if (b.what == role::control && (b.id < 0 || b.id >= l.machine().control_tasks))
      return {.kind = fault_kind::the_control_id_does_not_exist,
              .at = p.where.nth(0),
              .have = b.id,
              .limit = l.machine().control_tasks - 1,
              .name = p.what->name};
  return {};
}
/// Where a color owns its queue, a data task holds one as a descriptor does.
constexpr diagnostic input_queues(const layout& l, const placement& p, const usage& u) {
  const u64 queued = l.machine().color_owns_queue ? u.data | u.read : u.read;
  return over_limit(fault_kind::the_program_needs_too_many_input_queues, p, std::popcount(queued),
                    l.machine().input_queues);
}
/// Colors that share an output queue need one together.
constexpr diagnostic output_queues(const layout& l, const placement& p, const usage& u) {
  u64 owners = u.sent;
  for (const binding& b : *p.what)
    if (b.what == role::share && (b.after & owners & (color_bit(b.id) - 1))) owners &= ~color_bit(b.id);
  const int queued = l.machine().color_owns_queue ? std::popcount(owners) : 0;
  return over_limit(fault_kind::the_program_needs_too_many_output_queues, p, queued,
                    l.machine().output_queues);
}
constexpr diagnostic memory(const layout& l, const placement& p, const usage&) {
  return over_limit(fault_kind::the_program_is_larger_than_the_memory, p, p.what->bytes, l.machine().memory);
}

using budget_rule = diagnostic (*)(const layout&, const placement&, const usage&);
inline constexpr budget_rule budget_rules[] = {local_tasks,  data_tasks,    task_ids, control_ids,
                                               input_queues, output_queues, memory};

}  // namespace wsl::rules
