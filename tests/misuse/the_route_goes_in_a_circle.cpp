// SPDX-License-Identifier: MIT
// Four PEs hand on to each other for ever. says: the_route_goes_in_a_circle says:
// color_id.0.*column.[01].*row.[01].*wsl::port says: wsl: a wavelet that leaves through this side comes back
// and never ends: let one path of the circle end at the ramp
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 2, 2}
                             .place(all, both)
                             .path(red, at(0, 0), (ramp | south) >> east, merges)
                             .path(red, at(1, 0), west >> south)
                             .path(red, at(1, 1), north >> west)
                             .path(red, at(0, 1), east >> north);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 2, 2}
                             .place(all, both)
                             .path(red, at(0, 0), ramp >> east)
                             .path(red, at(1, 0), west >> south)
                             .path(red, at(1, 1), north >> west)
                             .path(red, at(0, 1), east >> ramp);
static_assert(routed<right>());
#endif
