// SPDX-License-Identifier: MIT
// No program runs on the first PE.
// says: no_program_sends_into_the_path
// says: color_id.0.*column.0.*row.0
// says: wsl: the path comes from the ramp of a PE without a program: place one that sends this color, or
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(at(1, 0), taker)
    .path(red, at(0, 0), ramp >> east)
    .path(red, at(1, 0), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(at(0, 0), sender).place(at(1, 0), taker)
    .path(red, at(0, 0), ramp >> east)
    .path(red, at(1, 0), west >> ramp);
static_assert(routed<right>());
#endif
