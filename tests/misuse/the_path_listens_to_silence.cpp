// SPDX-License-Identifier: MIT
// Column 2 sends nothing to column 3. says: the_path_listens_to_silence says:
// color_id.0.*column.3.*row.0.*west says: wsl: the neighbour on this side has no path of this color that goes
// here: give it one, or do not listen to this side
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, column(0), ramp >> east)
                             .path(red, columns(1, edge, 2), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, columns(0, edge, 2), ramp >> east)
                             .path(red, columns(1, edge, 2), west >> ramp);
static_assert(routed<right>());
#endif
