// SPDX-License-Identifier: MIT
// Two areas share column 1.
// says: two_paths_of_one_color_cover_one_pe
// says: color_id.0.*column.1.*row.0
// says: wsl: a router has one route for each color: make the areas of the two paths disjoint, or give one of
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(all, both)
    .path(red, columns(0, 2), ramp >> east)
    .path(red, columns(1, 3), west >> east)
    .path(red, column(3), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(all, both)
    .path(red, column(0), ramp >> east)
    .path(red, columns(1, 3), west >> east)
    .path(red, column(3), west >> ramp);
static_assert(routed<right>());
#endif
