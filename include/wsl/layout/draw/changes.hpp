// SPDX-License-Identifier: MIT
// What a drawing of routes says in words: the positions of the switches of a color, its later phases, and
// what its filters keep.
#pragma once
#include <string>

#include "../layout.hpp"

namespace wsl::drawing {

inline const char* name_of(pop when) {
  constexpr const char* names[] = {"never", "always", "on advance", "on advance or nop"};
  return names[static_cast<int>(when)];
}

inline std::string places_of(int first, int past, int every, const char* one) {
  if (past - first == 1) return std::string(one) + " " + std::to_string(first);
  return std::string(one) + "s " + std::to_string(first) + " to " + std::to_string(past - 1) +
         (every > 1 ? " by " + std::to_string(every) : "");
}

/// "PE (3, 4)", or "columns 1 to 7 by 2, row 0".
inline std::string places_of(const region& r) {
  if (r.count() == 1) return "PE (" + std::to_string(r.x0) + ", " + std::to_string(r.y0) + ")";
  return places_of(r.x0, r.x1, r.sx, "column") + ", " + places_of(r.y0, r.y1, r.sy, "row");
}

inline std::string text_of(ports p) {
  std::string text;
  for (const port each : every_port)
    if (p.has(each)) text += (text.empty() ? "" : " | ") + std::string(name_of(each));
  return p.single() ? text : "(" + text + ")";
}
inline std::string text_of(const route& r) { return text_of(r.from) + " >> " + text_of(r.to); }

/// "0 ramp >> west, 1 ramp >> north, and again; starts in 1; pops always"
inline std::string text_of(const switch_record& s) {
  std::string text;
  for (int i = 0; i < s.count; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(i) + " " + text_of(s.position(i));
  if (s.ring) text += ", and again";
  if (s.start > 0) text += "; starts in " + std::to_string(s.start);
  if (s.pop != pop::never) text += std::string("; pops ") + name_of(s.pop);
  return text;
}

/// "keeps indices 0 to 9, per column 10 more"
inline std::string text_of(const filter_record& f) {
  std::string text = "keeps ";
  if (f.by_index) text += "indices " + std::to_string(f.first) + " to " + std::to_string(f.last);
  else
    text += std::to_string(f.last + 1) + " of every " + std::to_string(f.period) + ", counting from " +
            std::to_string(f.start);
  const auto moves = [&](const char* per, int by) {
    if (by != 0) text += std::string(", per ") + per + " " + std::to_string(by) + " more";
  };
  moves("column", f.per_column), moves("row", f.per_row);
  return text;
}

/// A line for each switch, each filter and each path of a later phase of a color.
inline std::string changes_of(const layout& l, int color) {
  std::string text;
  const auto line = [&](const path_record& p, const std::string& what) {
    const std::string when = p.phase > 0 ? "phase " + std::to_string(p.phase) + ", "
                             : p.closed  ? "closed, "
                                         : "";
    if (p.color == color) text += "  " + when + places_of(p.where) + ": " + what + "\n";
  };
  for (const path_record& p : l.paths())
    if ((p.phase > 0 || p.closed) && !l.switch_of(p)) line(p, text_of(p.how));
  for (const switch_record& s : l.switches()) line(l.paths()[s.path], text_of(s));
  for (const filter_record& f : l.filters()) line(l.paths()[f.path], text_of(f));
  return text.empty() ? text : "\n" + text;
}

}  // namespace wsl::drawing
