// SPDX-License-Identifier: MIT
// The text below a drawing of routes: the positions of the switches of a color, its later phases, and the
// wavelets that its filters keep.
#pragma once
#include <string>

#include "../../support/text.hpp"
#include "../layout.hpp"

namespace wsl::drawing {

using support::filled;

inline const char* name_of(pop when) {
  constexpr const char* names[] = {"never", "always", "on advance", "on advance or nop"};
  return names[static_cast<int>(when)];
}

inline std::string text_of(ports p) {
  std::string text;
  for (const port each : every_port)
    if (p.has(each)) text += filled("{}{}", {text.empty() ? "" : " | ", name_of(each)});
  return p.single() ? text : filled("({})", {text});
}
inline std::string text_of(const route& r) { return filled("{} >> {}", {text_of(r.from), text_of(r.to)}); }

/// "0 ramp >> west, 1 ramp >> north, and again; starts in 1; pops always"
inline std::string text_of(const switch_record& s) {
  std::string text;
  for (int i = 0; i < s.count; ++i) text += filled("{}{} {}", {i > 0 ? ", " : "", i, text_of(s.position(i))});
  if (s.ring) text += ", and again";
  if (s.start > 0) text += filled("; starts in {}", {s.start});
  if (s.pop != pop::never) text += filled("; pops {}", {name_of(s.pop)});
  return text;
}

/// "keeps indices 0 to 9, per column 10 more"
inline std::string text_of(const filter_record& f) {
  std::string text = f.by_index
                         ? filled("keeps indices {} to {}", {f.first, f.last})
                         : filled("keeps {} of every {}, counting from {}", {f.last + 1, f.period, f.start});
  const auto moves = [&](const char* per, int by) {
    if (by != 0) text += filled(", per {} {} more", {per, by});
  };
  moves("column", f.per_column), moves("row", f.per_row);
  return text;
}

/// A line for each switch, each filter and each path of a later phase of a color.
inline std::string changes_of(const layout& l, int color) {
  std::string text;
  const auto line = [&](const path_record& p, const std::string& what) {
    const std::string when = p.phase > 0 ? filled("phase {}, ", {p.phase}) : p.closed ? "closed, " : "";
    if (p.color == color) text += filled("  {}{}: {}\n", {when, wsl::text_of(p.where), what});
  };
  for (const path_record& p : l.paths())
    if ((p.phase > 0 || p.closed) && !l.switch_of(p)) line(p, text_of(p.how));
  for (const switch_record& s : l.switches()) line(l.paths()[s.path], text_of(s));
  for (const filter_record& f : l.filters()) line(l.paths()[f.path], text_of(f));
  return text.empty() ? text : "\n" + text;
}

}  // namespace wsl::drawing
