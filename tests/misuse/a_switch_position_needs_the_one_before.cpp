// SPDX-License-Identifier: MIT
// The switch has a position 2 but no position 1.
// says: a_switch_position_needs_the_one_before
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 3, 1}.path(red, at(1, 0), ramp >> west, switches{.pos2 = {.to = east}});
#else
constexpr layout right = layout{wse2, 3, 1}.path(red, at(1, 0), ramp >> west, switches{.pos1 = {.to = east}});
#endif
