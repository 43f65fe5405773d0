// SPDX-License-Identifier: MIT
// The program of the last PE only sends.
// says: the_program_does_not_take_the_color
// says: color_id.0.*column.3.*row.0
// says: wsl: the path goes to the ramp of a program that neither binds a data task to this color nor reads
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(columns(0, 4), sender)
    .path(red, at(2, 0), ramp >> east)
    .path(red, at(3, 0), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(columns(0, 3), sender).place(column(3), taker)
    .path(red, at(2, 0), ramp >> east)
    .path(red, at(3, 0), west >> ramp);
static_assert(routed<right>());
#endif
