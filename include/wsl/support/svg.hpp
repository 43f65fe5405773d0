// SPDX-License-Identifier: MIT
// The few elements of SVG that the drawings use: drawings of layouts (layout/draw/layout_svg.hpp), heat maps
// (fabric/time_report.hpp) and curves of a loss (ml/run/loss_curve.hpp). Each function gives the text of one
// element.
#pragma once
#include <string>

#include "text.hpp"

namespace wsl::support::svg {

/// A point or a size in a drawing. It can be made of anything that has x and y, such as the coord of a PE.
struct point {
  int x, y;
  constexpr point(int at_x, int at_y) : x(at_x), y(at_y) {}
  template <class Place>
    requires requires(const Place& p) { p.x + p.y; }
  constexpr point(const Place& p) : x(p.x), y(p.y) {}
};

/// Text between tags or quotes: program names contain < and >.
inline std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

inline std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + value + "\"";
}
inline std::string attribute(const char* name, int value) { return attribute(name, std::to_string(value)); }

inline std::string rectangle(point corner, point size, int radius, const std::string& paint,
                             const std::string& hint = "") {
  const std::string head = "<rect" + attribute("x", corner.x) + attribute("y", corner.y) +
                           attribute("width", size.x) + attribute("height", size.y) +
                           attribute("rx", radius) + paint;
  return hint.empty() ? head + "/>\n" : head + "><title>" + escaped(hint) + "</title></rect>\n";
}
inline std::string circle(point centre, int radius, const std::string& paint = "") {
  return "<circle" + attribute("cx", centre.x) + attribute("cy", centre.y) + attribute("r", radius) + paint +
         "/>\n";
}
inline std::string label(point at, const std::string& text, const std::string& paint = "") {
  return "<text" + attribute("x", at.x) + attribute("y", at.y) + paint + ">" + escaped(text) + "</text>\n";
}
inline std::string outline(const std::string& steps, const std::string& paint) {
  return steps.empty() ? "" : "<path" + attribute("d", steps) + paint + "/>\n";
}
inline std::string painted(const std::string& fill, const std::string& stroke, int width) {
  return attribute("fill", fill) + attribute("stroke", stroke) + attribute("stroke-width", width);
}

/// A step of an outline: M moves, L draws a line.
inline std::string to(char how, point at) { return how + joined({at.x, " ", at.y}); }
struct tint {
  int red, green, blue;
  /// Between this (0) and another tint (100).
  constexpr tint towards(tint other, int percent) const {
    const auto mix = [&](int a, int b) { return a + (b - a) * percent / 100; };
    return {mix(red, other.red), mix(green, other.green), mix(blue, other.blue)};
  }
  std::string hex() const {
    std::string out = "#";
    for (const int part : {red, green, blue})
      for (const int digit : {part / 16, part % 16}) out += "0123456789abcdef"[digit];
    return out;
  }
};
inline constexpr tint white{255, 255, 255}, black{0, 0, 0};

// The hues are from Paul Tol's color-blind safe schemes.

/// Eight pale hues for areas, such as the programs on PEs; further ones are the same, darker each time. An
/// index below 0 is grey.
inline tint pale_tint(int index) {
  constexpr tint pale[] = {{119, 170, 221}, {238, 136, 102}, {187, 204, 51}, {255, 170, 187},
                           {153, 221, 255}, {238, 221, 136}, {68, 187, 153}, {190, 160, 210}};
  if (index < 0) return {240, 240, 240};
  const int round = index / 8 % 4;
  return round == 0 ? pale[index % 8].towards(white, 45) : pale[index % 8].towards(black, 12 * (round - 1));
}
/// Eight dark hues for lines, such as routes and curves; the next eight are darker, then lighter.
inline tint dark_tint(int id) {
  constexpr tint dark[] = {{51, 34, 136}, {204, 51, 17}, {17, 119, 51}, {170, 68, 153},
                           {0, 119, 187}, {153, 102, 0}, {0, 140, 130}, {136, 34, 85}};
  const int round = id / 8 % 3;
  return round == 0 ? dark[id % 8] : dark[id % 8].towards(round == 1 ? black : white, 40 / round);
}

}  // namespace wsl::support::svg
