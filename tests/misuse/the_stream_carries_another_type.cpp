// SPDX-License-Identifier: MIT
// The host writes words where the path carries floats.
// says: the_stream_carries_another_type
// says: color_id.0.*column.0.*row.0.*west
// says: wsl: the path that the host stream meets carries another type in the same color: give both the same
#include "programs.hpp"

constexpr color<u32> red_words{0};

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(all, taker)
    .path(red, at(0, 0), west >> ramp)
    .stream_in(red_words, at(0, 0), west);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(all, taker)
    .path(red, at(0, 0), west >> ramp)
    .stream_in(red, at(0, 0), west);
static_assert(routed<right>());
#endif
