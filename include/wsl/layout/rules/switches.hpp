// SPDX-License-Identifier: MIT
// The rules of routes that change. A position of a switch is a segment of the flow, and the rules of
// paths.hpp apply to it as to any route. The rules here: the machine has such switches, some command that
// programs send leads to each position, and every command that a program sends meets a switch. Commands
// travel over the edges of the flow, as wavelets do.
#pragma once
#include "../../core/control.hpp"
#include "flow.hpp"

namespace wsl::rules {

/// Colors with a switch or a phase, or on which programs send commands.
constexpr u64 switched_colors(const layout& l) {
  u64 mask = 0;
  for (const switch_record& s : l.switches()) mask |= color_bit(l.paths()[s.path].color);
  for (const placement& p : l.placements()) mask |= p.colors_of(role::torn_down);
  if (l.changes())
    for (const path_record& p : l.paths()) mask |= p.phase > 0 || p.closed ? color_bit(p.color) : 0;
  for (const placement& p : l.placements()) mask |= p.colors_of(role::steer);
  return mask;
}

/// The positions of a path's switch as segments of a flow.
constexpr int add_positions(const layout& l, const path_record& p, int only, scratch<route_segment>& found) {
  const switch_record* s = l.switch_of(p);
  for (int i = 0; s && i < s->count; ++i)
    if (only < 0 || i == only || (i < only && i == s->count - 1))
      found.push_back(
          {tight(p.where), s->position(i).from.bits, s->position(i).to.bits, p.merges, p.type, s->path + 1});
  return s ? s->count : 0;
}

constexpr diagnostic at_switch(const layout& l, const switch_record& s, fault_kind kind, int position) {
  const path_record& p = l.paths()[s.path];
  return {.kind = kind, .color = p.color, .at = p.where.nth(0), .have = position, .limit = s.count - 1};
}

constexpr diagnostic machine_switches(const layout& l, const switch_record& s) {
  const bool able = (l.machine().switch_colors & color_bit(l.paths()[s.path].color)) != 0;
  diagnostic d = at_switch(l, s, fault_kind::the_machine_cannot_switch_the_color, 0);
  d.have = d.limit = 0;
  return able ? diagnostic{} : d;
}

/// A position is one pair of multiplexer settings: a side that it changes has one port, and only one side
/// changes on machines with one multiplexer.
constexpr diagnostic positions_are_simple(const layout& l, const switch_record& s) {
  for (int i = 1; i < s.count; ++i) {
    const route now = s.position(i), before = s.position(i - 1);
    const bool from = now.from != before.from, to = now.to != before.to;
    if (from && to && l.machine().position_sides < 2)
      return at_switch(l, s, fault_kind::a_position_changes_both_sides, i);
    if ((from && !now.from.single()) || (to && !now.to.single()))
      return at_switch(l, s, fault_kind::a_position_has_several_ports, i);
  }
  return {};
}

/// The commands of programs that reach the segments of a flow.
class steering {
 public:
  scratch<u8> commands;  ///< the commands that reach each segment, as a set

  constexpr explicit steering(flow& f) : commands(f.segments.size()), flow_(f), seen_(f.segments.size()) {}

  /// Follows the control wavelets of one placement. Returns whether they meet a switch; also if no path takes
  /// them from the ramp, which is another fault.
  constexpr bool follow(const region& from, u8 what) {
    for (int i = 0; i < flow_.segments.size(); ++i) seen_[i] = false;
    for (int i = 0; i < flow_.segments.size(); ++i)
      if ((flow_.segments[i].from & ramp_bit) && !intersect(flow_.segments[i].where, from).empty()) enter(i);
    bool meets = pending_.empty();
    while (!pending_.empty() && !flow_.work.exhausted()) {
      const int i = pending_.pop_back();
      flow_.work.spent += 6;
      commands[i] = static_cast<u8>(commands[i] | what);
      meets = meets || flow_.segments[i].switched_path != 0;
      for (int d = 0; d < 4; ++d)
        for (int j = flow_.first_out(i, d); j >= 0; j = flow_.edges[j].next_out) enter(flow_.edges[j].to);
    }
    return meets;
  }

 private:
  constexpr void enter(int segment) {
    if (!seen_[segment]) seen_[segment] = true, pending_.push_back(segment);
  }
  flow& flow_;
  scratch<bool> seen_;
  scratch<int> pending_;
};

/// Every command of a task list meets a switch somewhere on the way.
constexpr diagnostic commands_are_taken(flow& f, steering& s) {
  for (const placement& p : f.plan.placements())
    for (const binding& b : *p.what) {
      if (b.what != role::steer || p.colors(b.id) != f.color) continue;
      const u8 moving = static_cast<u8>(b.commands & (command_bit(switch_adv) | command_bit(switch_rst)));
      if (s.follow(tight(p.where), b.commands) || moving == 0 || (b.commands & where_switched)) continue;
      diagnostic d = f.report(fault_kind::no_router_takes_the_command, p.where.nth(0));
      d.name = p.what->name;
      return d;
    }
  return f.nothing();
}

/// The positions that a switch can reach with a set of commands, as a mask.
constexpr int reachable(const switch_record& s, u8 commands) {
  int found = 1 << s.start, before = 0;
  while (found != before) {
    before = found;
    for (int i = 0; i < s.count; ++i)
      for (command c : {switch_adv, switch_rst})
        if ((found >> i & 1) && (commands & command_bit(c))) found |= 1 << s.after(c, i);
  }
  return found;
}

constexpr diagnostic positions_are_reached(flow& f, const steering& s) {
  for (const switch_record& r : f.plan.switches()) {
    if (f.plan.paths()[r.path].color != f.color) continue;
    u8 commands = 0;
    for (int i = 0; i < f.segments.size(); ++i)
      if (f.segments[i].switched_path == r.path + 1) commands = static_cast<u8>(commands | s.commands[i]);
    f.work.spent += f.segments.size();
    const int found = reachable(r, commands);
    for (int i = 0; i < r.count; ++i)
      if (!(found >> i & 1)) return at_switch(f.plan, r, fault_kind::no_command_reaches_the_position, i);
  }
  return f.nothing();
}

/// A path that is closed, or of a later phase, waits for a task of its PE's program that reopens the color.
constexpr diagnostic phases_begin(flow& f) {
  scratch<region> able;
  for (const placement& p : f.plan.placements())
    if (p.colors_of(role::torn_down) & color_bit(f.color)) able.push_back(tight(p.where));
  for (const path_record& p : f.plan.paths()) {
    if (p.color != f.color || (p.phase == 0 && !p.closed)) continue;
    const coord bare = uncovered(tight(p.where), able, f.work);
    if (bare != nowhere) return f.report(fault_kind::no_program_reopens_the_color, bare);
  }
  return f.nothing();
}

/// ... and a later phase begins on a PE that has an earlier one.
constexpr diagnostic phases_follow(flow& f) {
  scratch<region> first;
  for (const path_record& p : f.plan.paths())
    if (p.color == f.color && p.phase == 0) first.push_back(tight(p.where));
  for (const path_record& p : f.plan.paths()) {
    if (p.color != f.color || p.phase == 0) continue;
    const coord bare = uncovered(tight(p.where), first, f.work);
    if (bare != nowhere) return f.report(fault_kind::the_phase_has_no_beginning, bare);
  }
  return f.nothing();
}

/// All rules of one color.
constexpr diagnostic switches_of(const layout& l, int color) {
  for (const switch_record& s : l.switches()) {
    if (l.paths()[s.path].color != color) continue;
    if (const diagnostic d = machine_switches(l, s); d.found()) return d;
    if (const diagnostic d = positions_are_simple(l, s); d.found()) return d;
  }
  flow f(l, color, flow::every);
  steering s(f);
  if (const diagnostic d = commands_are_taken(f, s); d.found()) return d;
  if (const diagnostic d = positions_are_reached(f, s); d.found()) return d;
  const diagnostic d = phases_begin(f);
  return d.found() ? d : phases_follow(f);
}

}  // namespace wsl::rules
