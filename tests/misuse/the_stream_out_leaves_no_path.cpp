// SPDX-License-Identifier: MIT
// The host reads from the east side of a PE whose path ends at its ramp. says: the_stream_out_leaves_no_path
// says: color_id.0.*column.3.*row.0.*east says: wsl: no path of this color goes to the side of the
// stream_out: add one, or bind the stream where such a path is
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, at(edge - 1, 0), ramp >> ramp)
                             .stream_out(red, at(edge - 1, 0), east);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
                             .place(all, sender)
                             .path(red, at(edge - 1, 0), ramp >> east)
                             .stream_out(red, at(edge - 1, 0), east);
static_assert(routed<right>());
#endif
