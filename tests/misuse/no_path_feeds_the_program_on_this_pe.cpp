// SPDX-License-Identifier: MIT
// complete<L>() demands a path on every PE: column 0 has no neighbour to hear from. says:
// no_path_feeds_the_program_on_this_pe says: color_id.0.*column.0.*row.0 says: wsl: the program takes this
// color, but here no path goes to the ramp: add one, or place a program without the color here
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, column(0), ramp >> east)
                             .path(red, columns(1, edge - 1), west >> (ramp | east))
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
