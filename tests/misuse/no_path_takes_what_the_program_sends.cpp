// SPDX-License-Identifier: MIT
// A program sends a color that no path takes from its ramp.
// says: no_path_takes_what_the_program_sends
// says: color_id.0.*column.1.*row.0
// says: wsl: the program sends this color, but no path takes it from the ramp of any of its PEs
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(at(1, 0), sender);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(at(1, 0), idle);
static_assert(routed<right>());
#endif
