// SPDX-License-Identifier: MIT
// The host writes into the west side of a PE whose path begins at its ramp.
// says: the_stream_in_enters_no_path
// says: color_id.0.*column.0.*row.0.*west
// says: wsl: no path of this color comes from the side of the stream_in: add one, or bind the stream where
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(all, both)
    .path(red, at(0, 0), ramp >> ramp)
    .stream_in(red, at(0, 0), west);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(all, taker)
    .path(red, at(0, 0), west >> ramp)
    .stream_in(red, at(0, 0), west);
static_assert(routed<right>());
#endif
