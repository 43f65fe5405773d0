// SPDX-License-Identifier: MIT
// The rules of a PE's limits: task ids, control ids, queues and memory. A color costs an id or a queue only
// on the PEs where a path brings it to the ramp or takes it from there. So one program may serve many places
// that each use a part of its task list; in a halo exchange, for instance, a PE receives four of the eight
// colors. If all colors of a placement together keep to a limit, nothing more is checked; otherwise the
// placement is split into the regions that the same colors reach.
#pragma once
#include <bit>

#include "../../support/min_max.hpp"
#include "../faults/table.hpp"
#include "../layout.hpp"
#include "cover.hpp"

namespace wsl::rules {

/// The resources that one placement uses on its PEs, as masks of colors and as numbers.
struct usage {
  /// colors of the task list that a path brings to or takes from some PE of the placement
  u64 delivered = 0, sent = 0;
  /// of the delivered ones, those that trigger a task and those that descriptors read
  u64 data = 0, read = 0;
  int local_tasks = 0;
};

constexpr bool at_ramp(const layout& l, const path_record& p, bool takes) {
  const route how = l.changes() ? l.every_route(p) : p.how;
  return (takes ? how.to : how.from).has(port::ramp);
}

/// The colors of `wanted` that have a path to or from the ramp on some PE of a region.
constexpr u64 colors_at_ramp(const layout& l, const region& where, u64 wanted, bool takes) {
  u64 found = 0;
  const path_record* p = l.paths().data();
  for (int i = 0, n = l.paths().size(); i < n && found != wanted; ++i) {
    if (!(wanted >> p[i].color & ~(found >> p[i].color) & 1)) continue;
    if (!at_ramp(l, p[i], takes) || apart(p[i].where, where)) continue;
    if (!intersect(tight(p[i].where), where).empty()) found |= color_bit(p[i].color);
  }
  return found;
}

constexpr usage usage_of(const layout& l, const placement& p) {
  const u64 data = p.colors_of(role::data), read = p.colors_of(role::read);
  usage u;
  u.delivered = colors_at_ramp(l, tight(p.where), data | read, true);
  u.sent = colors_at_ramp(l, tight(p.where), p.colors_of(role::send), false);
  u.data = data & u.delivered, u.read = read & u.delivered;
  // An activation is a bit on the machine, so a task that counts them takes an id for each.
  for (const binding& b : *p.what)
    u.local_tasks += b.what != role::local ? 0 : b.arrivals > 1 ? b.arrivals : 1;
  return u;
}

constexpr diagnostic over_limit(fault_kind kind, const placement& p, coord at, int have, int limit) {
  if (have <= limit) return {};
  return {.kind = kind, .at = at, .have = have, .limit = limit, .name = p.what->name};
}

/// PEs of a placement whose ramps the same colors use.
struct equal_ramps {
  region where;
  u64 colors = 0;
};

/// Splits regions so that a color is used on every PE of a region or on none.
constexpr void split(const layout& l, int color, bool takes, scratch<equal_ramps>& regions,
                     step_budget& work) {
  scratch<region> rest;
  for (const path_record& p : l.paths()) {
    if (p.color != color || !at_ramp(l, p, takes)) continue;
    const region path = tight(p.where);
    for (int i = regions.size() - 1; i >= 0 && !work.exhausted(); --i) {
      const equal_ramps r = regions[i];
      work.spent += 4;
      if (r.colors & color_bit(color) || apart(r.where, path)) continue;
      work.spent += 24;
      const region both = intersect(r.where, path);
      if (both.empty()) continue;
      regions[i] = {both, r.colors | color_bit(color)};
      rest.clear();
      subtract(r.where, both, rest);
      for (int k = 0; k < rest.size(); ++k) regions.push_back({rest[k], r.colors});
    }
  }
}

/// A limit that colors at the ramp count towards: `cost` of a set of colors grows with the set. Regions whose
/// cost stays within the limit whatever of the later colors they use are dropped on the way.
template <class Cost>
constexpr diagnostic per_pe(const layout& l, const placement& p, u64 colors, bool takes, Cost cost,
                            fault_kind kind, int limit, step_budget& work) {
  if (cost(colors) <= limit) return {};
  scratch<equal_ramps> regions;
  regions.push_back({tight(p.where), 0});
  for (u64 left = colors; left != 0 && !regions.empty();) {
    const int color = std::countr_zero(left);
    split(l, color, takes, regions, work);
    if (work.exhausted())
      return {.kind = fault_kind::the_paths_meet_too_often_to_check_while_compiling,
              .color = color,
              .at = p.where.nth(0)};
    left &= left - 1;
    int kept = 0;
    for (int i = 0; i < regions.size(); ++i)
      if (cost(regions[i].colors | left) > limit) regions[kept++] = regions[i];
    work.spent += 4 * regions.size();
    while (regions.size() > kept) regions.pop_back();
  }
  if (regions.empty()) return {};
  return over_limit(kind, p, regions[0].where.nth(0), cost(regions[0].colors), limit);
}

constexpr diagnostic local_tasks(const layout& l, const placement& p, const usage& u, step_budget&) {
  return over_limit(fault_kind::the_program_has_too_many_local_tasks, p, p.where.nth(0), u.local_tasks,
                    support::min(l.machine().local_tasks, max_local_tasks));
}
constexpr diagnostic data_tasks(const layout& l, const placement& p, const usage& u, step_budget& work) {
  return per_pe(
      l, p, u.data, true, [](u64 colors) { return std::popcount(colors); },
      fault_kind::the_program_has_too_many_data_tasks, l.machine().data_tasks, work);
}
constexpr diagnostic task_ids(const layout& l, const placement& p, const usage& u, step_budget& work) {
  const int local = u.local_tasks;
  return per_pe(
      l, p, u.data, true, [local](u64 colors) { return std::popcount(colors) + local; },
      fault_kind::the_program_has_too_many_tasks, l.machine().task_ids, work);
}
constexpr diagnostic control_ids(const layout& l, const placement& p, const usage&, step_budget&) {
  for (const binding& b : *p.what)
    if (b.what == role::control && (b.id < 0 || b.id >= l.machine().control_tasks))
      return {.kind = fault_kind::the_control_id_does_not_exist,
              .at = p.where.nth(0),
              .have = b.id,
              .limit = l.machine().control_tasks - 1,
              .name = p.what->name};
  return {};
}
/// On a machine on which a color owns its queue, a data task occupies one as a descriptor does.
constexpr diagnostic input_queues(const layout& l, const placement& p, const usage& u, step_budget& work) {
  return per_pe(
      l, p, l.machine().color_owns_queue ? u.data | u.read : u.read, true,
      [](u64 colors) { return std::popcount(colors); }, fault_kind::the_program_needs_too_many_input_queues,
      l.machine().input_queues, work);
}
/// On a machine on which a color owns its queue, each color that a PE sends needs one; colors that share an
/// output queue need one together.
constexpr diagnostic output_queues(const layout& l, const placement& p, const usage& u, step_budget& work) {
  const auto queues = [&p](u64 colors) {
    u64 owners = colors;
    for (const binding& b : *p.what)
      if (b.what == role::share && (p.colors(b.after) & colors & (color_bit(p.colors(b.id)) - 1)))
        owners &= ~color_bit(p.colors(b.id));
    return std::popcount(owners);
  };
  return per_pe(l, p, l.machine().color_owns_queue ? u.sent : 0, false, queues,
                fault_kind::the_program_needs_too_many_output_queues, l.machine().output_queues, work);
}
constexpr diagnostic memory(const layout& l, const placement& p, const usage&, step_budget&) {
  return over_limit(fault_kind::the_program_is_larger_than_the_memory, p, p.where.nth(0), p.what->bytes,
                    l.machine().memory);
}

using budget_rule = diagnostic (*)(const layout&, const placement&, const usage&, step_budget&);
inline constexpr budget_rule budget_rules[] = {local_tasks,  data_tasks,    task_ids, control_ids,
                                               input_queues, output_queues, memory};

}  // namespace wsl::rules
