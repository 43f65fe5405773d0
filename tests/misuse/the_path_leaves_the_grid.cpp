// SPDX-License-Identifier: MIT
// The last column has no neighbour in the east. says: the_path_leaves_the_grid says:
// color_id.0.*column.3.*row.0.*east says: wsl: there is no PE on this side: end the path one PE earlier, as
// in columns.0, edge - 1., or bind a stream_out to this side
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, columns(1, edge, 2), ramp >> east)
                             .path(red, columns(2, edge, 2), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, columns(0, edge, 2), ramp >> east)
                             .path(red, columns(1, edge, 2), west >> ramp);
static_assert(routed<right>());
#endif
