// SPDX-License-Identifier: MIT
// The checker proves a layout before it runs: `static_assert(routed<plate>())` a constant one, `check(l)`
// any. Both apply the same rules in the same order and name the first fault with its color and PE. The cost
// depends on the number of paths and placements, not on the number of PEs. See docs/errors.md and
// examples/02_broadcast.cpp.
#pragma once
#include <utility>

#include "faults/table.hpp"
#include "rules/budget.hpp"
#include "rules/cycles.hpp"
#include "rules/forks.hpp"
#include "rules/liveness.hpp"
#include "rules/paths.hpp"
#include "rules/tasks.hpp"

namespace wsl {

namespace rules {

/// Rules that are asked together: for one color, for one phase of a color, for a group of placements or for
/// the whole layout. In a constant expression each such question has the compiler's limit of steps for
/// itself.
enum class family : u8 {
  paths,
  claims,
  cycles,
  switches,
  filters,
  placements,
  tasks,
  budget,
  complete,
  live
};

inline constexpr int placements_at_once = 8;

constexpr u64 colors_in_play(const layout& l) {
  u64 mask = 0;
  for (const path_record& p : l.paths()) mask |= color_bit(p.color);
  for (const stream_record& s : l.streams()) mask |= color_bit(s.color);
  for (const placement& p : l.placements())
    mask |= p.colors_of(role::data) | p.colors_of(role::read) | p.colors_of(role::send);
  return mask;
}

constexpr int nth_color(u64 mask, int n) {
  for (; n > 0; --n) mask &= mask - 1;
  return std::countr_zero(mask);
}

constexpr diagnostic paths_of(const layout& l, int color, int phase) {
  flow f(l, color, phase);
  for (auto* rule : path_rules)
    if (const diagnostic d = rule(f); d.found()) return d;
  return {};
}

constexpr diagnostic cycles_of(const layout& l, int color, int phase) {
  flow f(l, color, phase);
  if (const diagnostic d = cycle_in(f); d.found()) return d;
  if (f.positions == 1) return reconvergence(f);
  for (int i = 0; i < f.positions; ++i) {
    flow together(l, color, phase, i);
    if (const diagnostic d = reconvergence(together); d.found()) return d;
  }
  return {};
}

constexpr diagnostic tasks_of(const layout& l, int color) {
  flow f(l, color, flow::every);
  const color_users users(l, color);
  for (task_rule rule : task_rules)
    for (bool takes : {true, false})
      if (const diagnostic d = rule(f, users, takes); d.found()) return d;
  return {};
}

constexpr diagnostic completeness_of(const layout& l, int color) {
  flow f(l, color, flow::every);
  const color_users users(l, color);
  const diagnostic d = used_everywhere(f, users, true);
  return d.found() ? d : used_everywhere(f, users, false);
}

constexpr diagnostic placements_of(const layout& l) {
  if (const diagnostic d = commands_have_a_switch(l); d.found()) return d;
  const diagnostic d = placements_are_apart(l);
  return d.found() ? d : tables_are_unambiguous(l);
}

constexpr diagnostic budget_of(const layout& l, int group) {
  step_budget work;
  for (int i = group * placements_at_once; i < l.placements().size() && i < (group + 1) * placements_at_once;
       ++i) {
    const usage u = usage_of(l, l.placements()[i]);
    for (budget_rule rule : budget_rules)
      if (const diagnostic d = rule(l, l.placements()[i], u, work); d.found()) return d;
  }
  return {};
}

/// The number of questions that a family asks about a layout, and the answer to one of them.
constexpr int questions(const layout& l, family f) {
  if (f == family::claims || f == family::placements || f == family::live) return 1;
  if (f == family::switches) return l.changes() ? std::popcount(l.rules()->colors(l)) : 0;
  if (f == family::filters) return !l.filters().empty();
  if (f == family::paths || f == family::cycles)
    return std::popcount(colors_in_play(l)) * (l.last_phase() + 1);
  if (f == family::budget) return (l.placements().size() + placements_at_once - 1) / placements_at_once;
  return std::popcount(colors_in_play(l));
}

constexpr diagnostic ask(const layout& l, family f, int n) {
  switch (f) {
    case family::claims: return claims_are_apart(l);
    case family::switches: return l.rules()->of_color(l, nth_color(l.rules()->colors(l), n));
    case family::filters: return l.rules()->of_filters(l);
    case family::placements: return placements_of(l);
    case family::budget: return budget_of(l, n);
    case family::live: return colors_can_start(l);
    default: break;
  }
  const u64 colors = colors_in_play(l);
  const int count = std::popcount(colors), color = nth_color(colors, n % count), phase = n / count;
  switch (f) {
    case family::paths: return paths_of(l, color, phase);
    case family::cycles: return cycles_of(l, color, phase);
    case family::tasks: return tasks_of(l, color);
    default: return completeness_of(l, color);
  }
}

constexpr diagnostic ask_all(const layout& l, family f) {
  for (int n = 0; n < questions(l, f); ++n)
    if (const diagnostic d = ask(l, f, n); d.found()) return d;
  return {};
}

/// The families that every layout must satisfy, in their order.
inline constexpr family required[] = {family::claims,  family::paths,      family::cycles, family::switches,
                                      family::filters, family::placements, family::tasks,  family::budget};

template <const layout& L, family F, int N>
inline constexpr diagnostic answer = ask(L, F, N);

template <const layout& L, family F, int... N>
consteval int first_fault(std::integer_sequence<int, N...>) {
  int first = -1;
  ((first < 0 && answer<L, F, N>.found() ? void(first = N) : void()), ...);
  return first;
}

/// The type of the first fault, or of none. A family of rules is asked only when those before it found
/// nothing.
template <const layout& L, family F, family... Later>
consteval auto first_sentence() {
  constexpr int first = first_fault<L, F>(std::make_integer_sequence<int, questions(L, F)>{});
  if constexpr (first >= 0) return faults::sentence_of<answer<L, F, first>>();
  else if constexpr (sizeof...(Later) > 0) return first_sentence<L, Later...>();
  else return faults::named<faults::none>{};
}

/// False for a layout that is not constexpr, and for one whose initializer the compiler has already rejected.
template <const layout& L>
concept constant = requires { typename std::bool_constant<(L.width() > 0)>; };

template <const layout& L, family... F>
consteval auto judge() {
  if constexpr (constant<L>) return first_sentence<L, F...>();
  else return faults::named<faults::the_layout_is_not_a_constant<L>>{};
}
template <const layout& L, family... F>
using verdict = typename decltype(judge<L, F...>())::type;

}  // namespace rules

/// The first fault of a layout, or none.
constexpr diagnostic check(const layout& l) {
  for (rules::family f : rules::required)
    if (const diagnostic d = rules::ask_all(l, f); d.found()) return d;
  return {};
}

/// Every PE of a program has a path for every color in the program's task list. Requires a layout in which
/// check finds no fault.
constexpr diagnostic check_complete(const layout& l) { return rules::ask_all(l, rules::family::complete); }
/// Every color that is sent can start. Requires a layout in which check finds no fault.
constexpr diagnostic check_live(const layout& l) { return rules::ask_all(l, rules::family::live); }

/// `static_assert(routed<plate>())`: true, or the compiler prints the first fault as a sentence. This is an
/// alias of the fault's type and no function, so that compilers print the sentence with the user's line and
/// nothing between them.
template <const layout& L>
using routed = rules::verdict<L, rules::family::claims, rules::family::paths, rules::family::cycles,
                              rules::family::switches, rules::family::filters, rules::family::placements,
                              rules::family::tasks, rules::family::budget>;

/// Opt-in: every PE of a program has a path for every color in the program's task list.
template <const layout& L>
using complete = rules::verdict<L, rules::family::complete>;

/// Opt-in: every color that is sent can start.
template <const layout& L>
using live = rules::verdict<L, rules::family::live>;

}  // namespace wsl
