// SPDX-License-Identifier: MIT
// Position 1 listens elsewhere and sends elsewhere; a WSE-3 could do that.
// says: a_position_changes_both_sides
// says: color_id.0.*column.1.*row.0.*position.1
// says: wsl: a switch position of this machine changes what the router listens to or where it sends, not both
#include "programs.hpp"

constexpr binding steering_table[] = {launches, send_entry(red), takes(red), steer_entry(red, switch_adv)};
constexpr program steering = with(steering_table);

constexpr layout passage(switches s) {
  return layout{wse2, 3, 1}
      .place(all, steering)
      .path(red, at(0, 0), east >> ramp)
      .path(red, at(1, 0), ramp >> west, s)
      .path(red, at(2, 0), ramp >> west);
}

#ifdef WSL_MISUSE
constexpr layout wrong = passage({.pos1 = east >> ramp});
static_assert(routed<wrong>());
#else
constexpr layout right = passage({.pos1 = {.to = ramp}, .pos2 = {.from = east}});
static_assert(routed<right>());
#endif
