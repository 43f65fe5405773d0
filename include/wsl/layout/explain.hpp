// SPDX-License-Identifier: MIT
// The same sentences at run time, with the names that only a run can print. `require(l)` throws the first
// one, `explain(l)` lists one per rule and color: what to read when a layout that is built from arguments is
// refused.
#pragma once
#include <string>

#include "../core/fault.hpp"
#include "../support/joined.hpp"
#include "check.hpp"

namespace wsl {

namespace detail {

inline std::string place_of(const diagnostic& d) {
  std::string s;
  if (d.color >= 0) s += joined({"color ", d.color, ", "});
  if (d.at != rules::nowhere) s += joined({"PE (", d.at.x, ", ", d.at.y, ")"});
  if (d.side != port::ramp) s += joined({", side ", name_of(d.side)});
  return s;
}

inline std::string colors_of(u64 mask) {
  std::string s;
  for (int c = 0; c < max_colors; ++c)
    if (mask >> c & 1) s += joined({s.empty() ? "" : ", ", c});
  return s;
}

inline bool is_about_position(fault_kind what) {
  using enum fault_kind;
  return what == a_position_changes_both_sides || what == a_position_has_several_ports ||
         what == no_command_reaches_the_position;
}

inline std::string details_of(const diagnostic& d) {
  std::string s;
  const auto add = [&](std::initializer_list<piece> pieces) {
    s += joined({s.empty() ? " (" : "; ", joined(pieces)});
  };
  if (*d.name) add({d.name, *d.other ? " and " : "", d.other});
  if (d.fork != rules::nowhere) add({"the fork is PE (", d.fork.x, ", ", d.fork.y, ")"});
  if (is_about_position(d.what)) add({"position ", d.have, " of 0 to ", d.limit});
  else if (d.limit != 0 || d.have != 0) add({"has ", d.have, ", the limit is ", d.limit});
  if (d.colors != 0) add({"waits for colors ", colors_of(d.colors)});
  return s.empty() ? s : joined({s, ")"});
}

}  // namespace detail

/// "wsl: the_path_leaves_the_grid: color 3, PE (4, 0), side east: there is no PE on this side: ..."
inline std::string sentence(const diagnostic& d) {
  const fault_text& t = text_of(d.what);
  const std::string place = detail::place_of(d);
  return detail::joined(
      {"wsl: ", t.name, ": ", place, place.empty() ? "" : ": ", t.text, detail::details_of(d)});
}

/// Throws the sentence of the first fault of a layout.
inline void require(const layout& l) {
  if (const diagnostic d = check(l); d.found()) throw fault(sentence(d));
}

namespace detail {

/// Asks every rule of one color; the rules of cycles need a flow with one path per PE.
template <class Add>
void each_fault_of_color(const layout& l, int color, Add add) {
  for (int phase = 0; phase <= l.last_phase(); ++phase) {
    rules::flow f(l, color, phase);
    for (auto* rule : rules::path_rules) add(rule(f));
    if (f.overlap == rules::nowhere) add(rules::cycles_of(l, color, phase));
  }
  rules::flow f(l, color, rules::flow::every);
  const rules::crew c(l, color);
  for (rules::task_rule rule : rules::task_rules) add(rule(f, c, true)), add(rule(f, c, false));
}

}  // namespace detail

/// The faults of a layout, a line each: the first that each rule finds for every color and every placement.
inline std::string explain(const layout& l) {
  std::string text;
  const auto add = [&](const diagnostic& d) {
    if (d.found()) text += sentence(d) + "\n";
  };
  const u64 colors = rules::colors_in_play(l);
  for (int c = 0; c < max_colors; ++c)
    if (colors >> c & 1) detail::each_fault_of_color(l, c, add);
  for (int c = 0; l.rules() && c < max_colors; ++c)
    if (l.rules()->colors(l) >> c & 1) add(l.rules()->of_color(l, c));
  if (l.rules()) add(l.rules()->of_filters(l));
  add(rules::commands_have_a_switch(l)), add(rules::claims_are_apart(l)), add(rules::placements_are_apart(l)),
      add(rules::tables_are_unambiguous(l));
  for (const placement& p : l.placements())
    for (rules::budget_rule rule : rules::budget_rules) add(rule(l, p, rules::usage_of(l, p)));
  return text;
}

}  // namespace wsl
