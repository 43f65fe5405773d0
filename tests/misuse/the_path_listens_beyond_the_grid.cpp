// SPDX-License-Identifier: MIT
// The first column has no neighbour in the west.
// says: the_path_listens_beyond_the_grid
// says: color_id.0.*column.0.*row.0.*west
// says: wsl: there is no PE on this side: begin the path one PE later, as in columns.1, edge., or bind a
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(all, taker)
    .path(red, column(0), west >> (ramp | east))
    .path(red, columns(1, edge - 1), west >> (ramp | east))
    .path(red, column(edge - 1), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(all, taker)
    .path(red, column(0), west >> (ramp | east))
    .path(red, columns(1, edge - 1), west >> (ramp | east))
    .path(red, column(edge - 1), west >> ramp)
    .stream_in(red, column(0), west);
static_assert(routed<right>());
#endif
