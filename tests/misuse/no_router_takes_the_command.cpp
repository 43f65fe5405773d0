// SPDX-License-Identifier: MIT
// The program wants to steer a switch that is not there.
// says: no_router_takes_the_command
// says: color_id.0.*column.0.*row.0
// says: wsl: the program sends commands on this color, but none of its wavelets pass a router with a switch
#include "programs.hpp"

constexpr binding steering_table[] = {launches, send_entry(red), takes(red), steer_entry(red, switch_adv)};
constexpr program steering = with(steering_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 3, 1}
    .place(all, steering)
    .path(red, at(1, 0), ramp >> (west | east))
    .path(red, at(0, 0), east >> ramp)
    .path(red, at(2, 0), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 3, 1}
    .place(all, steering)
    .path(red, at(1, 0), ramp >> west, switches{.pos1 = {.to = east}})
    .path(red, at(0, 0), east >> ramp)
    .path(red, at(2, 0), west >> ramp);
static_assert(routed<right>());
#endif
