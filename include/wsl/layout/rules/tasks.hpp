// SPDX-License-Identifier: MIT
// The rules between routers and programs: a program takes every color that a path brings to its ramp and
// sends every color that a path takes from there, both agree on the payload, and a color in a program's task
// list has a path somewhere on the program's area. Completeness, a path on every PE of the area, is a
// separate rule, because at the boundary of a halo exchange a PE has no neighbour to receive from.
#pragma once
#include "flow.hpp"

namespace wsl::rules {

/// One entry of a program's task list that takes or sends the color.
struct table_entry {
  int placement = 0;
  bool takes = false;
  const payload_type* type = nullptr;
};

/// The programs that take or send one color.
class color_users {
 public:
  scratch<region> areas;         ///< the areas of all placements
  scratch<table_entry> entries;  ///< the entries of the tables that name the color
  scratch<u8> roles;             ///< for every placement, 1 if the program takes the color, 2 if it sends it

  constexpr color_users(const layout& l, int color) {
    for (const placement& p : l.placements()) {
      roles.push_back(0);
      for (const binding& b : *p.what) {
        const bool takes = b.what == role::data || b.what == role::read;
        if (!(takes || b.what == role::send) || p.colors(b.id) != color) continue;
        entries.push_back({areas.size(), takes, b.type});
        roles[areas.size()] = static_cast<u8>(roles[areas.size()] | role_bit(takes));
      }
      areas.push_back(tight(p.where));
    }
  }
  static constexpr u8 role_bit(bool takes) { return takes ? 1 : 2; }
};

/// Whether the segment goes to the ramp, where programs take, or comes from it, where they send.
constexpr bool at_ramp(const route_segment& p, bool takes) {
  return ((takes ? p.to : p.from) & ramp_bit) != 0;
}

constexpr diagnostic named(diagnostic d, const flow& f, int placement) {
  d.name = f.plan.placements()[placement].what->name;
  return d;
}

/// The PE of a ramp on a path has a program ...
constexpr diagnostic ramps_have_programs(flow& f, const color_users& users, bool takes) {
  for (int i = 0; i < f.segments.size(); ++i) {
    if (!at_ramp(f.segments[i], takes)) continue;
    const coord bare = uncovered(f.segments[i].where, users.areas, f.work);
    if (bare != nowhere)
      return f.report(
          takes ? fault_kind::no_program_takes_the_delivery : fault_kind::no_program_sends_into_the_path,
          bare);
  }
  return f.nothing();
}

/// ... whose task list names the color.
constexpr diagnostic programs_name_color(flow& f, const color_users& users, bool takes) {
  for (int i = 0; i < f.segments.size(); ++i) {
    if (!at_ramp(f.segments[i], takes)) continue;
    f.work.spent += users.areas.size();
    for (int k = 0; k < users.areas.size() && !f.work.exhausted(); ++k) {
      if (users.roles.data()[k] & color_users::role_bit(takes) ||
          apart(f.segments.data()[i].where, users.areas.data()[k]))
        continue;
      f.work.spent += 14;
      const region both = intersect(f.segments[i].where, users.areas[k]);
      if (both.empty()) continue;
      const fault_kind kind = takes ? fault_kind::the_program_does_not_take_the_color
                                    : fault_kind::the_program_does_not_send_the_color;
      return named(f.report(kind, both.nth(0)), f, k);
    }
  }
  return f.nothing();
}

/// Path and task list name the same payload.
constexpr diagnostic types_of_programs(flow& f, const color_users& users, bool takes) {
  for (int k = 0; k < users.entries.size(); ++k) {
    const table_entry& p = users.entries[k];
    f.work.spent += f.segments.size();
    for (int i = 0; i < f.segments.size() && p.takes == takes && !f.work.exhausted(); ++i) {
      const route_segment& s = f.segments.data()[i];
      if (s.type == p.type || !at_ramp(s, takes)) continue;
      f.work.spent += 14;
      const region both = intersect(s.where, users.areas[p.placement]);
      if (both.empty()) continue;
      diagnostic d = f.report(
          takes ? fault_kind::the_program_takes_another_type : fault_kind::the_program_sends_another_type,
          both.nth(0));
      d.other = s.type->name;
      return named(d, f, p.placement);
    }
  }
  return f.nothing();
}

/// A color in a program's task list has a path on at least one PE of its area; none is needed for a color
/// whose areas have no PEs at this size of the grid.
constexpr diagnostic used(flow& f, const color_users& users, bool takes) {
  if (f.plan.idle_colors() & color_bit(f.color)) return f.nothing();
  for (int k = 0; k < users.areas.size() && !f.work.exhausted(); ++k) {
    bool found = !(users.roles[k] & color_users::role_bit(takes));
    for (int i = 0; i < f.segments.size() && !found; ++i) {
      f.work.spent += 2;
      if (!at_ramp(f.segments.data()[i], takes) || apart(f.segments.data()[i].where, users.areas.data()[k]))
        continue;
      f.work.spent += 14;
      found = !intersect(f.segments[i].where, users.areas[k]).empty();
    }
    if (found) continue;
    const fault_kind kind =
        takes ? fault_kind::no_path_feeds_the_program : fault_kind::no_path_takes_what_the_program_sends;
    return named(f.report(kind, users.areas[k].nth(0)), f, k);
  }
  return f.nothing();
}

/// Completeness: a color in a program's task list has a path on every PE of the program's area.
constexpr diagnostic used_everywhere(flow& f, const color_users& users, bool takes) {
  scratch<region> ramps;
  for (int i = 0; i < f.segments.size(); ++i)
    if (at_ramp(f.segments[i], takes)) ramps.push_back(f.segments[i].where);
  for (int k = 0; k < users.areas.size(); ++k) {
    if (!(users.roles[k] & color_users::role_bit(takes))) continue;
    const coord bare = uncovered(users.areas[k], ramps, f.work);
    const fault_kind kind = takes ? fault_kind::no_path_feeds_the_program_on_this_pe
                                  : fault_kind::no_path_takes_what_the_program_sends_on_this_pe;
    if (bare != nowhere) return named(f.report(kind, bare), f, k);
  }
  return f.nothing();
}

using task_rule = diagnostic (*)(flow&, const color_users&, bool takes);
inline constexpr task_rule task_rules[] = {ramps_have_programs, programs_name_color, types_of_programs, used};

constexpr bool sends_from(const layout& l, const placement& p, int color) {
  for (const path_record& way : l.paths())
    if (way.color == color && way.how.from.has(port::ramp) &&
        !intersect(tight(way.where), tight(p.where)).empty())
      return true;
  return false;
}

/// If no route changes, routers accept no command but a teardown. Otherwise rules/switches.hpp follows the
/// commands.
constexpr diagnostic commands_have_a_switch(const layout& l) {
  for (const placement& p : l.placements())
    for (const binding& b : *p.what)
      if (b.what == role::steer && !l.changes() && !(b.commands & where_switched) &&
          (b.commands & (command_bit(switch_adv) | command_bit(switch_rst))) &&
          sends_from(l, p, p.colors(b.id)))
        return {.kind = fault_kind::no_router_takes_the_command,
                .color = p.colors(b.id),
                .at = p.where.nth(0),
                .name = p.what->name};
  return {};
}

/// A PE runs one program. This rule looks at the whole layout.
constexpr diagnostic placements_are_apart(const layout& l) {
  scratch<region> areas;
  for (const placement& p : l.placements()) areas.push_back(tight(p.where));
  const region* a = areas.data();
  for (int i = 0; i < areas.size(); ++i)
    for (int j = 0; j < i; ++j) {
      if (apart(a[i], a[j])) continue;
      const region both = intersect(a[i], a[j]);
      if (both.empty()) continue;
      return {.kind = fault_kind::two_programs_run_on_one_pe,
              .at = both.nth(0),
              .name = l.placements()[j].what->name,
              .other = l.placements()[i].what->name};
    }
  return {};
}

/// Entries that compete for the same wavelets. Several descriptors may read one color after each other.
constexpr bool compete(const placement& p, const binding& a, const binding& b) {
  if (a.what == role::control) return b.what == role::control && a.id == b.id;
  if (p.colors(a.id) != p.colors(b.id)) return false;
  return (a.what == role::data && (b.what == role::data || b.what == role::read)) ||
         (a.what == role::read && b.what == role::data);
}

constexpr diagnostic tables_are_unambiguous(const layout& l) {
  for (const placement& p : l.placements())
    for (int i = 0; i < p.what->entries; ++i)
      for (int j = 0; j < i; ++j) {
        const binding &a = p.what->table[i], &b = p.what->table[j];
        if (!compete(p, a, b)) continue;
        if (a.what == role::control)
          return {.kind = fault_kind::the_program_binds_one_control_id_twice,
                  .at = p.where.nth(0),
                  .have = a.id,
                  .name = p.what->name};
        return {.kind = fault_kind::the_program_takes_one_color_twice,
                .color = p.colors(a.id),
                .at = p.where.nth(0),
                .name = p.what->name};
      }
  return {};
}

}  // namespace wsl::rules
