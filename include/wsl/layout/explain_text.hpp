// SPDX-License-Identifier: MIT
// The sentences of faults at run time, with the names that a template argument cannot carry.
#pragma once
#include <string>

#include "../core/fault.hpp"
#include "../support/text.hpp"
#include "check.hpp"
#include "explain.hpp"

namespace wsl {

namespace detail {

inline std::string place_of(const diagnostic& d) {
  std::string s;
  if (d.color >= 0) s += support::filled("color {}, ", {d.color});
  if (d.at != rules::nowhere) s += text_of(d.at);
  if (d.side != port::ramp) s += support::filled(", side {}", {name_of(d.side)});
  return s;
}

inline std::string colors_of(u64 mask) {
  std::string s;
  for (int c = 0; c < max_colors; ++c)
    if (mask >> c & 1) s += support::joined({s.empty() ? "" : ", ", c});
  return s;
}

inline std::string names_of(const diagnostic& d) {
  return *d.other ? support::filled("{} and {}", {d.name, d.other}) : d.name;
}

/// The details of a fault that are neither a place nor possible as a template argument.
inline std::string numbers_of(const diagnostic& d) {
  using enum faults::fault_locator;
  using support::filled;
  switch (faults::text_of(d.kind).locator) {
    case fork: return "the fork is " + text_of(d.fork);
    case position: return filled("position {} of 0 to {}", {d.have, d.limit});
    case id: return filled("control task {}", {d.have});
    case limit:
    case color_limit: return filled("has {}, the limit is {}", {d.have, d.limit});
    case waiting: return filled("waits for colors {}", {colors_of(d.colors)});
    default: return {};
  }
}

inline std::string details_of(const diagnostic& d) {
  const std::string names = names_of(d), numbers = numbers_of(d);
  if (names.empty() && numbers.empty()) return {};
  return support::joined({" (", names, names.empty() || numbers.empty() ? "" : "; ", numbers, ")"});
}

}  // namespace detail

WSL_COMPILED_PART std::string sentence(const diagnostic& d) {
  const faults::fault_text& t = faults::text_of(d.kind);
  const std::string place = detail::place_of(d);
  return support::joined(
      {"wsl: ", t.name, ": ", place, place.empty() ? "" : ": ", t.text, detail::details_of(d)});
}

namespace detail {

/// The sentence, and the library module to which its color belongs at its place, if it does.
inline std::string sentence_on(const layout& l, const diagnostic& d) {
  std::string text = sentence(d);
  for (const claim& c : l.claims())
    if (d.color >= c.first && d.color < c.first + c.count && (d.at == rules::nowhere || c.where.has(d.at)))
      return text + support::joined({"; color ", d.color, " belongs to the module ", c.module});
  return text;
}

}  // namespace detail

WSL_COMPILED_PART void require(const layout& l) {
  if (const diagnostic d = check(l); d.found()) throw fault(detail::sentence_on(l, d));
}

namespace detail {

/// Applies every rule to one color. The rules of cycles need a flow with one path on each PE.
template <class Add>
void each_fault_of_color(const layout& l, int color, Add add) {
  for (int phase = 0; phase <= l.last_phase(); ++phase) {
    rules::flow f(l, color, phase);
    for (auto* rule : rules::path_rules) add(rule(f));
    if (f.overlap == rules::nowhere) add(rules::cycles_of(l, color, phase));
  }
  rules::flow f(l, color, rules::flow::every);
  const rules::color_users users(l, color);
  for (rules::task_rule rule : rules::task_rules) add(rule(f, users, true)), add(rule(f, users, false));
}

}  // namespace detail

WSL_COMPILED_PART std::string explain(const layout& l) {
  std::string text;
  const auto add = [&](const diagnostic& d) {
    if (d.found()) text += detail::sentence_on(l, d) + "\n";
  };
  const u64 colors = rules::colors_in_play(l);
  for (int c = 0; c < detail::max_colors; ++c)
    if (colors >> c & 1) detail::each_fault_of_color(l, c, add);
  for (int c = 0; l.rules() && c < detail::max_colors; ++c)
    if (l.rules()->colors(l) >> c & 1) add(l.rules()->of_color(l, c));
  if (l.rules()) add(l.rules()->of_filters(l));
  add(rules::commands_have_a_switch(l)), add(rules::claims_are_apart(l)), add(rules::placements_are_apart(l)),
      add(rules::tables_are_unambiguous(l));
  rules::step_budget work;
  for (const placement& p : l.placements())
    for (rules::budget_rule rule : rules::budget_rules) add(rule(l, p, rules::usage_of(l, p), work));
  return text;
}

}  // namespace wsl
