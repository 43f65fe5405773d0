// SPDX-License-Identifier: MIT
// A picture of a fabric whose PEs are squares, the darker the busier. time_report draws the cycles of the
// timed engine with it, and busy_map the wall time of the threaded engine.
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "../layout/layout.hpp"
#include "../support/svg.hpp"

namespace wsl {

/// A PE of a heat map.
struct heat_cell {
  coord at;
  std::string program;
  f64 busy = 0;  ///< part of the time, from 0 to 1; negative: not known
};

namespace detail {

/// The squares of PEs, or of blocks of them on large grids.
class heat_squares {
 public:
  static constexpr int margin = 40;
  int pitch, square;  ///< the distance of two squares, and their size

  explicit heat_squares(region grid)
      : block_((std::max(grid.columns(), grid.rows()) + most_cells - 1) / most_cells),
        wide_((grid.columns() + block_ - 1) / block_),
        high_((grid.rows() + block_ - 1) / block_),
        blocks_(static_cast<std::size_t>(wide_ * high_)) {
    pitch = std::clamp(560 / std::max({wide_, high_, 1}), 14, 56);
    square = pitch * 5 / 7;
  }

  int block() const { return block_; }

  void add(const heat_cell& c) {
    members& of = blocks_[static_cast<std::size_t>(c.at.y / block_ * wide_ + c.at.x / block_)];
    ++of.count;
    if (c.busy >= 0) of.busy += c.busy, ++of.known;
    if (of.count == 1) of.program = c.program;
  }

  /// The whole picture, with `more` on top.
  std::string text(const std::string& title, const std::string& more = "") const {
    using namespace support::svg;
    const coord sheet{std::max(wide_ * pitch + 2 * margin, 360), high_ * pitch + 2 * margin + 30};
    return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", sheet.x) +
           attribute("height", sheet.y) + attribute("font-family", "sans-serif") +
           attribute("font-size", 12) + ">\n<title>" + escaped(title) + "</title>\n" +
           rectangle({0, 0}, sheet, 0, attribute("fill", "#fdfdfb")) + label({margin, 24}, title) +
           squares() + more + "</svg>\n";
  }

  /// From white to a dark red.
  static std::string paint(f64 percent) {
    return support::svg::attribute(
        "fill",
        support::svg::tint{250, 240, 230}.towards({140, 10, 30}, static_cast<int>(percent + 0.5)).hex());
  }

 private:
  static constexpr int most_cells = 128;
  struct members {
    int count = 0, known = 0;
    f64 busy = 0;
    std::string program;  ///< of the first
  };

  std::string squares() const {
    std::string out;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const members& m = blocks_[k];
      if (m.count == 0) continue;
      const coord at{static_cast<int>(k) % wide_, static_cast<int>(k) / wide_};
      const f64 percent = m.known ? 100 * m.busy / m.known : 0;
      char share[40] = ": not measured in this process";
      if (m.known) std::snprintf(share, sizeof share, ": %.1f %% busy", percent);
      out += support::svg::rectangle({margin + at.x * pitch, margin + at.y * pitch}, {square, square}, 1,
                                     m.known ? paint(percent) : support::svg::attribute("fill", "#ccc"),
                                     text_of(coord{at.x * block_, at.y * block_}) +
                                         (m.program.empty() || block_ > 1 ? "" : " of " + m.program) + share);
    }
    return out;
  }

  int block_, wide_, high_;
  std::vector<members> blocks_;
};

}  // namespace detail

}  // namespace wsl
