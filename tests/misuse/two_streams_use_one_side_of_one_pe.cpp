// SPDX-License-Identifier: MIT
// Two streams bind the same link.
// says: two_streams_use_one_side_of_one_pe
// says: color_id.0.*column.0.*row.0.*west
// says: wsl: two host streams of one color and direction share a link, so their words have no order: keep
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(all, taker)
    .path(red, column(0), west >> ramp)
    .stream_in(red, column(0), west)
    .stream_in(red, at(0, 0), west);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(all, taker)
    .path(red, column(0), west >> ramp)
    .stream_in(red, column(0), west);
static_assert(routed<right>());
#endif
