// SPDX-License-Identifier: MIT
// No program runs on the last PE.
// says: no_program_takes_the_delivery
// says: color_id.0.*column.3.*row.0
// says: wsl: the path goes to the ramp of a PE without a program: place one that takes this color, or leave
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(columns(0, 3), sender)
    .path(red, at(2, 0), ramp >> east)
    .path(red, at(3, 0), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(all, both)
    .path(red, at(2, 0), ramp >> east)
    .path(red, at(3, 0), west >> ramp);
static_assert(routed<right>());
#endif
