// SPDX-License-Identifier: MIT
// The path passes the PE by.
// says: the_filter_has_nothing_to_filter
// says: color_id.0.*column.1.*row.0
// says: wsl: a filter keeps some of the wavelets that a path brings to the ramp, and this path never goes
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 3, 1}
    .place(all, both)
    .path(red, at(0, 0), ramp >> east)
    .path(red, at(1, 0), west >> east, counter_filter{.keep = 1, .period = 2})
    .path(red, at(2, 0), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 3, 1}
    .place(all, both)
    .path(red, at(0, 0), ramp >> east)
    .path(red, at(1, 0), west >> (ramp | east), counter_filter{.keep = 1, .period = 2})
    .path(red, at(2, 0), west >> ramp);
static_assert(routed<right>());
#endif
