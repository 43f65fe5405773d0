// SPDX-License-Identifier: MIT
// The program of the first PE only takes.
// says: the_program_does_not_send_the_color
// says: color_id.0.*column.0.*row.0
// says: wsl: the path comes from the ramp of a program that does not send this color: add the entry to the
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(at(0, 0), taker).place(at(1, 0), taker)
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
