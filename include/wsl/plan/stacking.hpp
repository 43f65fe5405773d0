// SPDX-License-Identifier: MIT
// Places the regions that nobody has placed: in columns from west to east, a region behind those whose words
// it takes, with free rows and columns between them for the connections.
#pragma once
#include <vector>

#include "records.hpp"

namespace wsl::planning {

class stacking {
 public:
  constexpr stacking(std::vector<region_record>& regions, const std::vector<connection>& all, int width,
                     int height)
      : regions_(regions), connections_(all), width_(width), height_(height), level_(regions.size(), 0) {}

  /// With a free row in the north and a free column in the west of the grid if there is room for them.
  constexpr void place() {
    find_levels();
    const std::vector<region_record> given = regions_;
    const region_record* without_place = nullptr;
    for (const int margin : {1, 0}) {
      regions_ = given;
      without_place = place_all(margin);
      if (!without_place) return;
    }
    faults::the_regions_do_not_fit_the_grid(without_place->name, width_, height_);
  }

 private:
  /// A region is one level behind the farthest of those that it takes words from; a cycle of regions ends it.
  constexpr void find_levels() {
    for (std::size_t round = 0; round < regions_.size(); ++round) {
      bool changed = false;
      for (const connection& c : connections_) {
        if (c.from.region < 0 || c.to.region < 0 || c.from.region == c.to.region) continue;
        int& to = level_[static_cast<std::size_t>(c.to.region)];
        const int from = level_[static_cast<std::size_t>(c.from.region)];
        if (to <= from && from + 1 < static_cast<int>(regions_.size())) to = from + 1, changed = true;
      }
      if (!changed) break;
    }
  }

  constexpr bool is_free(coord at, const region_record& r) const {
    for (const region_record& other : regions_)
      if (other.is_placed && at.x <= other.at.x + other.width && other.at.x <= at.x + r.width &&
          at.y <= other.at.y + other.height && other.at.y <= at.y + r.height)
        return false;  // they would overlap, or touch
    return true;
  }
  /// Returns the region for which there is no room.
  constexpr const region_record* place_all(int margin) {
    int x = margin, last = 0;
    for (const int level : level_) last = level > last ? level : last;
    for (int level = 0; level <= last; ++level)
      if (const region_record* without_place = place_level(level, margin, x)) return without_place;
    return nullptr;
  }
  /// Below each other, with a free row in between; where a column is full, in the next. Moves x behind them.
  constexpr const region_record* place_level(int level, int margin, int& x) {
    int next = x, y = margin;
    for (std::size_t k = 0; k < regions_.size(); ++k) {
      region_record& r = regions_[k];
      if (r.is_placed || level_[k] != level) continue;
      if (y == margin && r.height >= height_) y = 0;
      while (!is_free({x, y}, r) || y + r.height > height_) {
        if (++y + r.height <= height_) continue;
        y = height_ > r.height ? margin : 0;
        x = next > x ? next : x + 1;
        if (x + r.width > width_) return &r;
      }
      if (x + r.width > width_) return &r;
      r.at = {x, y}, r.is_placed = true;
      y += r.height + 1;
      next = x + r.width + 2 > next ? x + r.width + 2 : next;
    }
    x = next;
    return nullptr;
  }

  std::vector<region_record>& regions_;
  const std::vector<connection>& connections_;
  int width_, height_;
  std::vector<int> level_;
};

constexpr void place_the_rest(std::vector<region_record>& regions, const std::vector<connection>& all,
                              int width, int height) {
  bool missing = false;
  for (const region_record& r : regions) missing |= !r.is_placed;
  if (missing) stacking(regions, all, width, height).place();
}

}  // namespace wsl::planning
