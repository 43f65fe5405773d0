// SPDX-License-Identifier: MIT
// Switches, filters and phases are checked for each color alone.
// says: a_layout_swaps_colors_or_changes_routes
#include "programs.hpp"

#include <wsl/layout/swaps.hpp>

#ifdef WSL_MISUSE
constexpr layout l = layout{wse2, 2, 1}
    .path(red, column(0), ramp >> east, swap_x)
    .path(blue, column(0), ramp >> west, switches{.pos1 = {.to = east}});
#else
constexpr layout l = layout{wse2, 2, 1}
    .path(red, column(0), ramp >> east, swap_x)
    .path(blue, column(0), ramp >> west);
#endif
