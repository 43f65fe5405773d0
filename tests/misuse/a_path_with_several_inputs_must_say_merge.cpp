// SPDX-License-Identifier: MIT
// A reduction along a row merges what the PE adds with what comes by. says:
// a_path_with_several_inputs_must_say_merge says: color_id.0.*column.1.*row.0 says: wsl: no program decides
// the order of wavelets that come from several ports: say merges as the last argument of the path if that is
// meant, or leave one port before ..
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, column(0), ramp >> east)
                             .path(red, columns(1, 3), (west | ramp) >> east)
                             .path(red, column(3), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
                             .place(all, both)
                             .path(red, column(0), ramp >> east)
                             .path(red, columns(1, 3), (west | ramp) >> east, merges)
                             .path(red, column(3), west >> ramp);
static_assert(routed<right>());
#endif
