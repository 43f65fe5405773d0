// SPDX-License-Identifier: MIT
// A task waits for a color that no path brings.
// says: no_path_feeds_the_program
// says: color_id.0.*column.1.*row.0
// says: wsl: the program takes this color, but no path brings it to the ramp of any of its PEs
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(at(1, 0), taker);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(at(1, 0), idle);
static_assert(routed<right>());
#endif
