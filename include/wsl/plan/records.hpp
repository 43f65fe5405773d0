// SPDX-License-Identifier: MIT
// The notes that a floor plan takes until it is connected.
#pragma once
#include "code_region.hpp"

namespace wsl::planning {

struct region_record {
  const char* name = "";
  int width = 0, height = 0;
  coord at;  ///< of its north-west corner
  bool is_placed = false;

  constexpr wsl::region on_grid(const wsl::region& inside) const {
    return {inside.x0 + at.x, inside.x1 + at.x, inside.y0 + at.y, inside.y1 + at.y, inside.sx, inside.sy};
  }
  constexpr wsl::region on_grid() const { return on_grid({0, width, 0, height}); }
};

struct program_record {
  int region = 0;
  wsl::region where;  ///< inside the region
  const program* what = nullptr;
};

struct inner_path {
  int region = 0, color = 0;
  wsl::region where;  ///< inside the region
  route how;
  path_options options;
  const payload_calls* calls = nullptr;
};

struct connection {
  port_data from, to;  ///< of region -1: the host
  ports host_side;     ///< where its stream enters or leaves; none between two regions
  bool merges = false, by_turns = false;
  int deal = 0;  ///< words that each PE of the input gets in turn; 0: all get all words
  const payload_calls* calls = nullptr;
};

}  // namespace wsl::planning
