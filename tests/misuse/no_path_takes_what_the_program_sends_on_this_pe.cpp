// SPDX-License-Identifier: MIT
// complete<L>() demands a path on every PE: only column 0 has one that begins at its ramp. says:
// no_path_takes_what_the_program_sends_on_this_pe says: color_id.0.*column.1.*row.0 says: wsl: the program
// sends this color, but here no path comes from the ramp: add one, or place a program without the color here
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
                             .place(columns(0, 2), sender)
                             .place(columns(2, edge), taker)
                             .path(red, column(0), ramp >> east)
                             .path(red, column(1), west >> east)
                             .path(red, column(2), west >> (ramp | east))
                             .path(red, column(edge - 1), west >> ramp);
static_assert(complete<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
                             .place(column(0), sender)
                             .place(columns(1, edge), taker)
                             .path(red, column(0), ramp >> east)
                             .path(red, columns(1, edge - 1), west >> (ramp | east))
                             .path(red, column(edge - 1), west >> ramp);
static_assert(routed<right>());
static_assert(complete<right>());
#endif
