// SPDX-License-Identifier: MIT
// A picture (SVG) of some lines over two axes, each linear or logarithmic.
//   line_chart chart{.title = "loss of a run", .x = {"operations", true}, .y = {"loss"}};
//   chart.lines.push_back({.name = "width 64", .points = {{1e9, 2.5}, {1e10, 2.1}}});
//   write_whole_file("loss.svg", chart.svg());
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "svg.hpp"
#include "ticks.hpp"

namespace wsl::support {

class line_chart {
 public:
  struct axis {
    std::string name = {};
    bool is_logarithmic = false;
  };
  struct line {
    std::string name = {};
    std::vector<std::pair<double, double>> points = {};
    bool is_dashed = false, has_dots = true;
  };

  std::string title = {};
  axis x = {}, y = {};
  std::vector<line> lines = {};

  /// Points that an axis cannot have, such as numbers that are not finite, or not positive on a logarithmic
  /// one, are left out. Each line has a color of its own, and its name stands beside the picture.
  std::string svg() const {
    using namespace svg;
    const range of_x = range_of(x, true), of_y = range_of(y, false);
    const auto at = [&](double u, double v) {
      return svg::point{left + static_cast<int>(std::lround(of_x.part(u) * (right - left))),
                        bottom - static_cast<int>(std::lround(of_y.part(v) * (bottom - top)))};
    };
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\"" +
                      attribute("viewBox", "0 0 " + std::to_string(width) + " " + std::to_string(height)) +
                      " font-family=\"sans-serif\" font-size=\"13\">\n" +
                      rectangle({0, 0}, {width, height}, 0, painted("#ffffff", "none", 0)) +
                      label({left, 24}, title, attribute("font-weight", "bold"));
    for (const double v : of_y.marks()) {
      const int h = at(of_x.least, v).y;
      out += outline(to('M', {left, h}) + to('L', {right, h}), painted("none", "#dddddd", 1));
      out += label({left - 8, h + 4}, short_number(v), attribute("text-anchor", "end"));
    }
    for (const double u : of_x.marks()) {
      const int w = at(u, of_y.least).x;
      out += outline(to('M', {w, top}) + to('L', {w, bottom}), painted("none", "#eeeeee", 1));
      out += label({w, bottom + 20}, short_number(u), attribute("text-anchor", "middle"));
    }
    out += label({(left + right) / 2, height - 8}, x.name, attribute("text-anchor", "middle"));
    out += label({18, (top + bottom) / 2}, y.name,
                 attribute("text-anchor", "middle") +
                     attribute("transform", "rotate(-90 18 " + std::to_string((top + bottom) / 2) + ")"));
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const line& l = lines[k];
      const std::string color = dark_tint(static_cast<int>(k)).hex(),
                        dashes = l.is_dashed ? attribute("stroke-dasharray", "6 4") : "";
      std::string steps, dots;
      for (const auto& [u, v] : l.points) {
        if (!of_x.has(u) || !of_y.has(v)) continue;
        steps += to(steps.empty() ? 'M' : 'L', at(u, v));
        if (l.has_dots) dots += circle(at(u, v), 3, attribute("fill", color));
      }
      out += outline(steps, painted("none", color, 2) + dashes) + dots;
      const int h = top + 8 + 18 * static_cast<int>(k);
      out += outline(to('M', {right + 14, h}) + to('L', {right + 34, h}), painted("none", color, 2) + dashes);
      out += label({right + 40, h + 4}, l.name);
    }
    return out + "</svg>\n";
  }

 private:
  static constexpr int width = 860, height = 430, left = 70, right = 600, top = 40, bottom = height - 50;

  struct range {
    bool is_logarithmic = false;
    double least = 0, most = 0;

    bool has(double v) const { return std::isfinite(v) && (!is_logarithmic || v > 0); }
    /// The place of a number between the least (0) and the largest (1).
    double part(double v) const {
      return is_logarithmic ? std::log(v / least) / std::log(most / least) : (v - least) / (most - least);
    }
    std::vector<double> marks() const {
      if (!is_logarithmic) return ticks(least, most);
      std::vector<double> all;
      const bool few = most / least < 50;
      for (double power = std::pow(10, std::floor(std::log10(least))); power <= most; power *= 10)
        for (const double v : {power, 2 * power, 5 * power})
          if (v >= least && v <= most && (few || v == power)) all.push_back(v);
      return all;
    }
  };
  range range_of(const axis& a, bool is_x) const {
    range r{a.is_logarithmic};
    bool is_first = true;
    for (const line& l : lines)
      for (const auto& [u, v] : l.points) {
        const range of_y{y.is_logarithmic}, of_x{x.is_logarithmic};
        if (!of_x.has(u) || !of_y.has(v)) continue;
        const double z = is_x ? u : v;
        r.least = is_first ? z : std::min(r.least, z), r.most = is_first ? z : std::max(r.most, z);
        is_first = false;
      }
    if (is_first) r.least = 1, r.most = 10;
    if (r.is_logarithmic) r.least /= 1.1, r.most *= 1.1;
    else if (const double margin = r.most > r.least ? 0.04 * (r.most - r.least) : 0.5; margin > 0)
      r.least -= margin, r.most += margin;
    return r;
  }
};

}  // namespace wsl::support
