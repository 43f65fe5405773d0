// SPDX-License-Identifier: MIT
// The same sentences at run time, with the names that only a run can print. `require(l)` throws the first one, `explain(l)` lists
// one per rule and color: what to read when a layout that is built from arguments is refused.
#pragma once
#include <string>

#include "../core/fault_error.hpp"
#include "check.hpp"

namespace wsl {

namespace detail {

inline std::string place_of(const diagnostic& d) {
  std::string s;
  if (d.color >= 0) s += "color " + std::to_string(d.color) + ", ";
  if (d.at != nowhere) s += "PE (" + std::to_string(d.at.x) + ", " + std::to_string(d.at.y) + ")";
  if (d.side != port::ramp) s += std::string(", side ") + name_of(d.side);
  return s;
}

inline std::string colors_of(u64 mask) {
  std::string s;
  for (int c = 0; c < max_colors; ++c)
    if (mask >> c & 1) s += (s.empty() ? "" : ", ") + std::to_string(c);
  return s;
}

inline std::string details_of(const diagnostic& d) {
  std::string s;
  const auto add = [&](const std::string& text) { s += (s.empty() ? " (" : "; ") + text; };
  if (*d.name) add(*d.other ? std::string(d.name) + " and " + d.other : std::string(d.name));
  if (d.fork != nowhere) add("the fork is PE (" + std::to_string(d.fork.x) + ", " + std::to_string(d.fork.y) + ")");
  if (d.limit != 0 || d.have != 0) add("has " + std::to_string(d.have) + ", the limit is " + std::to_string(d.limit));
  if (d.colors != 0) add("waits for colors " + colors_of(d.colors));
  return s.empty() ? s : s + ")";
}

}  // namespace detail

/// "wsl: the_path_leaves_the_grid: color 3, PE (4, 0), side east: there is no PE on this side: ..."
inline std::string sentence(const diagnostic& d) {
  const fault_text& t = text_of(d.what);
  const std::string place = detail::place_of(d);
  return std::string("wsl: ") + t.name + ": " + (place.empty() ? place : place + ": ") + t.text + detail::details_of(d);
}

/// Throws the sentence of the first fault of a layout.
inline void require(const layout& l) {
  if (const diagnostic d = check(l); d.found()) throw fault_error(sentence(d));
}

/// The faults of a layout, a line each: the first of every rule for every color or placement.
inline std::string explain(const layout& l) {
  std::string text;
  const auto add = [&](const diagnostic& d) {
    if (d.found()) text += sentence(d) + "\n";
  };
  for (rules::family f : rules::required)
    for (int n = 0; n < rules::questions(l, f); ++n) add(rules::ask(l, f, n));
  return text;
}

}  // namespace wsl
