// SPDX-License-Identifier: MIT
// The switch has the positions 0 and 1.
// says: a_switch_starts_in_one_of_its_positions
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong =
    layout{wse2, 3, 1}.path(red, at(1, 0), ramp >> west, switches{.pos1 = {.to = east}, .start = 2});
#else
constexpr layout right =
    layout{wse2, 3, 1}.path(red, at(1, 0), ramp >> west, switches{.pos1 = {.to = east}, .start = 1});
#endif
