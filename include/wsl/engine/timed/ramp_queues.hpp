// SPDX-License-Identifier: MIT
// The queues between processors and their routers: the PE at each place of the grid, and the depth of each of
// its queues. A PE's input queues serve the colors that its program takes, in their order; its output queues
// serve those that it sends.
#pragma once
#include "../pe_core.hpp"
#include "../tiles.hpp"

namespace wsl::engines {

class ramp_queues {
 public:
  ramp_queues(tiles& all, const machine& target) : tiles_(all), machine_(target) {}

  u32 pes() const { return static_cast<u32>(tiles_.size()); }
  /// The number of the PE at c, all bits set where no program is placed.
  u32 pe_at(coord c) const {
    pe* p = tiles_.find(c);
    return p ? state_of(*p).index : ~u32{0};
  }
  /// The depth in words. Requires a program at c.
  int input_depth(coord c, int color) const { return engines::input_depth(image_at(c), machine_, color); }
  int output_depth(coord c, int color) const { return engines::output_depth(image_at(c), machine_, color); }

 private:
  const program_image& image_at(coord c) const { return *state_of(*tiles_.find(c)).image; }

  tiles& tiles_;
  const machine& machine_;
};

}  // namespace wsl::engines
