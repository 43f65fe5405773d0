// SPDX-License-Identifier: MIT
// Color 10 of a WSE-3 keeps its routes.
// says: the_machine_cannot_switch_the_color
// says: color_id.10.*column.1.*row.0
// says: wsl: the machine has no switch for this color
#include "programs.hpp"

template <int id>
constexpr color<f32> signal{id};
template <int id>
constexpr binding steering_table[] = {launches, send_entry(signal<id>), takes(signal<id>),
                                      steer_entry(signal<id>, switch_adv)};
template <int id>
constexpr program steering = with(steering_table<id>);

template <int id>
constexpr layout forked = layout{wse3, 3, 1}
    .place(all, steering<id>)
    .path(signal<id>, at(1, 0), ramp >> west, switches{.pos1 = {.to = east}})
    .path(signal<id>, at(0, 0), east >> ramp)
    .path(signal<id>, at(2, 0), west >> ramp);

#ifdef WSL_MISUSE
static_assert(routed<forked<10>>());
#else
static_assert(routed<forked<12>>());
#endif
