// SPDX-License-Identifier: MIT
// Column 2 has no path of the color. says: the_neighbour_does_not_listen says:
// color_id.0.*column.2.*row.0.*east says: wsl: the neighbour on this side has no path of this color that
// comes from here: give it one, or do not send to this side
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, columns(0, edge, 2), ramp >> east)
                             .path(red, column(1), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, columns(0, edge, 2), ramp >> east)
                             .path(red, columns(1, edge, 2), west >> ramp);
static_assert(routed<right>());
#endif
