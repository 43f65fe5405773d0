// SPDX-License-Identifier: MIT
// Two PEs wait for each other: nobody launches one of them.
// says: nobody_can_start_the_color
// says: color_id.0.*column.0.*row.0.*waits_for.3
// says: wsl: every program that sends this color first waits for colors that wait for it: give one of them a
#include "programs.hpp"

constexpr binding ping_table[] = {send_entry(red), takes(blue)},
                  pong_table[] = {send_entry(blue), takes(red)},
                  first_table[] = {launches, send_entry(red), takes(blue)};
constexpr program ping = with(ping_table), pong = with(pong_table), first = with(first_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(at(0, 0), ping).place(at(1, 0), pong)
    .path(red, at(0, 0), ramp >> east).path(red, at(1, 0), west >> ramp)
    .path(blue, at(1, 0), ramp >> west).path(blue, at(0, 0), east >> ramp);
static_assert(live<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(at(0, 0), first).place(at(1, 0), pong)
    .path(red, at(0, 0), ramp >> east).path(red, at(1, 0), west >> ramp)
    .path(blue, at(1, 0), ramp >> west).path(blue, at(0, 0), east >> ramp);
static_assert(routed<right>());
static_assert(live<right>());
#endif
