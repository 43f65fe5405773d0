// SPDX-License-Identifier: MIT
// The page of a text drawing: columns of characters with a ruler above and row numbers at the left, gaps
// included.
#pragma once
#include "census.hpp"
#include "elide.hpp"

namespace wsl::drawing {

inline int length(const std::string& ascii) { return static_cast<int>(ascii.size()); }
inline int digits(int n) { return length(std::to_string(n)); }
inline int widest(int so_far, const std::string& ascii) {
  return length(ascii) > so_far ? length(ascii) : so_far;
}
inline std::string spaces(int n) { return n > 0 ? std::string(static_cast<unsigned>(n), ' ') : ""; }
inline std::string to_right(const std::string& ascii, int width) {
  return spaces(width - length(ascii)) + ascii;
}
inline std::string to_left(const std::string& ascii, int width) {
  return ascii + spaces(width - length(ascii));
}

/// A line without blanks at its end.
inline std::string trimmed(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

/// "17" for a column or row, "+742" for a gap that continues the pattern, "~900" for one that had no room.
inline std::string label_of(const slot& s) {
  std::string label = s.gap ? (s.alike ? "+" : "~") : "";
  return label.append(std::to_string(s.gap ? s.count : s.first));
}

inline std::string gap_legend_of(const slots& xs, const slots& ys) {
  const bool alike = has_gap(xs, true) || has_gap(ys, true),
             unlike = has_gap(xs, false) || has_gap(ys, false);
  return std::string(alike ? "+n: n more, which continue the pattern beside them" : "") +
         (alike && unlike ? "; " : "") + (unlike ? "~n: n more, different ones, left out" : "");
}

/// The columns and rows that are drawn, and the width of a column in characters.
struct sheet {
  slots xs, ys;
  int pitch;
  static constexpr int gap_pitch = 6;

  int label_width() const {
    int width = 2;
    for (const slot& y : ys) width = widest(width, label_of(y));
    return width;
  }
  int margin() const { return label_width() + 2; }
  std::string row_label(const slot& y) const { return to_right(label_of(y), label_width()) + "  "; }

  /// Numbers above the columns as far as they fit; those of the gaps come first.
  std::string ruler(int indent) const {
    std::string line;
    int at = margin() + indent;
    for (int i = 0; i < xs.size(); ++i) {
      const std::string label = label_of(xs[i]);
      const int from = at + (xs[i].gap ? 1 : 0);
      at += xs[i].gap ? gap_pitch : pitch;
      const int stop = i + 1 < xs.size() && xs[i + 1].gap ? at + 1 : at + length(label);
      if (from > length(line) && from + length(label) < stop) line += spaces(from - length(line)) + label;
    }
    return line + "\n";
  }

  std::string gap_legend() const {
    const std::string text = gap_legend_of(xs, ys);
    return text.empty() ? "" : "\n" + text + "\n";
  }
};

}  // namespace wsl::drawing
