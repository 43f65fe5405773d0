// SPDX-License-Identifier: MIT
// Color swaps of routers (CSL's color_swap_x and color_swap_y, on the WSE-2): wavelets that leave a path
// along an axis enter the neighbour with the other color of the pair 0 and 1, 2 and 3, ... So one
// configuration serves a row whose PEs alternate between two colors. The processor of the PE itself, and a
// host stream at the edge, get the path's own color. See examples/48_color_swap.cpp.
//   .path(red, columns(1, edge - 1), west >> (ramp | east), swap_x)
#pragma once
#include "layout.hpp"

namespace wsl {

/// An option of a path.
struct color_swap {
  ports sides;
  constexpr void give_to(layout& l, path_record& p) const {
    p.swaps = p.swaps | sides;
    l.add_swap(p.color);
  }
};

inline constexpr color_swap swap_x{east | west}, swap_y{north | south};

}  // namespace wsl
