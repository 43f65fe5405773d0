// SPDX-License-Identifier: MIT
// A switch that starts in position 1 and is no ring does not come to position 0.
// says: no_command_reaches_the_position
// says: color_id.0.*column.1.*row.0.*position.0
// says: wsl: no control wavelet can bring the switch into this position
#include "programs.hpp"

constexpr binding steering_table[] = {launches, send_entry(red), takes(red), steer_entry(red, switch_adv)};
constexpr program steering = with(steering_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 3, 1}
    .place(all, steering)
    .path(red, at(1, 0), ramp >> west, switches{.pos1 = {.to = east}, .start = 1})
    .path(red, at(0, 0), east >> ramp)
    .path(red, at(2, 0), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 3, 1}
    .place(all, steering)
    .path(red, at(1, 0), ramp >> west, switches{.pos1 = {.to = east}, .start = 1, .ring = true})
    .path(red, at(0, 0), east >> ramp)
    .path(red, at(2, 0), west >> ramp);
static_assert(routed<right>());
#endif
