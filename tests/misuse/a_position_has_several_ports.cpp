// SPDX-License-Identifier: MIT
// Position 1 sends two ways.
// says: a_position_has_several_ports
// says: color_id.0.*column.1.*row.0.*position.1
// says: wsl: the side that a switch position changes has one port
#include "programs.hpp"

constexpr binding steering_table[] = {launches, send_entry(red), takes(red), steer_entry(red, switch_adv)};
constexpr program steering = with(steering_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 3, 1}
    .place(all, steering)
    .path(red, at(1, 0), ramp >> west, switches{.pos1 = {.to = east | ramp}})
    .path(red, at(0, 0), east >> ramp)
    .path(red, at(2, 0), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 3, 1}
    .place(all, steering)
    .path(red, at(1, 0), ramp >> west, switches{.pos1 = {.to = east}, .pos2 = {.to = ramp}})
    .path(red, at(0, 0), east >> ramp)
    .path(red, at(2, 0), west >> ramp);
static_assert(routed<right>());
#endif
