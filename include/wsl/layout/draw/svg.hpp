// SPDX-License-Identifier: MIT
// The few elements of SVG that the drawings use, and their colors. The hues are from Paul Tol's color-blind
// safe schemes: pale ones for the programs on PEs, dark ones for the routes above them.
#pragma once
#include <string>

#include "../../core/coord.hpp"

namespace wsl::drawing {

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

inline std::string rectangle(coord corner, coord size, int radius, const std::string& paint,
                             const std::string& hint = "") {
  const std::string head = "<rect" + attribute("x", corner.x) + attribute("y", corner.y) +
                           attribute("width", size.x) + attribute("height", size.y) +
                           attribute("rx", radius) + paint;
  return hint.empty() ? head + "/>\n" : head + "><title>" + escaped(hint) + "</title></rect>\n";
}
inline std::string circle(coord centre, int radius, const std::string& paint = "") {
  return "<circle" + attribute("cx", centre.x) + attribute("cy", centre.y) + attribute("r", radius) + paint +
         "/>\n";
}
inline std::string label(coord at, const std::string& text, const std::string& paint = "") {
  return "<text" + attribute("x", at.x) + attribute("y", at.y) + paint + ">" + escaped(text) + "</text>\n";
}
inline std::string outline(const std::string& steps, const std::string& paint) {
  return steps.empty() ? "" : "<path" + attribute("d", steps) + paint + "/>\n";
}
inline std::string painted(const std::string& fill, const std::string& stroke, int width) {
  return attribute("fill", fill) + attribute("stroke", stroke) + attribute("stroke-width", width);
}

/// A step of an outline: M moves, L draws a line.
inline std::string to(char how, coord at) { return how + std::to_string(at.x) + " " + std::to_string(at.y); }
inline coord along(coord from, port side, int distance) {
  return from + coord{step(side).x * distance, step(side).y * distance};
}

/// An arrow head whose middle is at a point.
inline std::string arrow_head(coord at, port side, int size) {
  const coord tip = along(at, side, size), base = along(at, side, -size);
  const coord across{step(side).y * size, step(side).x * size};
  return to('M', tip) + to('L', base + across) + to('L', base - across) + "Z";
}

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

/// Eight hues; further programs get them again, darker each time.
inline tint tint_of_program(int index) {
  constexpr tint pale[] = {{119, 170, 221}, {238, 136, 102}, {187, 204, 51}, {255, 170, 187},
                           {153, 221, 255}, {238, 221, 136}, {68, 187, 153}, {190, 160, 210}};
  if (index < 0) return {240, 240, 240};
  const int round = index / 8 % 4;
  return round == 0 ? pale[index % 8].towards(white, 45) : pale[index % 8].towards(black, 12 * (round - 1));
}
/// Likewise for routes: the next eight colors are darker, then lighter.
inline tint tint_of_color(int id) {
  constexpr tint dark[] = {{51, 34, 136}, {204, 51, 17}, {17, 119, 51}, {170, 68, 153},
                           {0, 119, 187}, {153, 102, 0}, {0, 140, 130}, {136, 34, 85}};
  const int round = id / 8 % 3;
  return round == 0 ? dark[id % 8] : dark[id % 8].towards(round == 1 ? black : white, 40 / round);
}

}  // namespace wsl::drawing
