// SPDX-License-Identifier: MIT
// PE(1, 0) has no route to tear down.
// says: the_phase_has_no_beginning
// says: color_id.0.*column.1.*row.0
// says: wsl: a router comes to a later phase of a color from phase 0: give this PE a path of phase 0
#include "programs.hpp"

constexpr binding opening_table[] = {
    launches, send_entry(red), takes(red), {.what = role::torn_down, .id = 0, .name = "open"}};
constexpr program opening = with(opening_table);

constexpr layout again(const layout& l) {
  return layout{l}.place(all, opening).path(red, all, ramp >> ramp, phase{1});
}

#ifdef WSL_MISUSE
constexpr layout wrong = again(layout{wse2, 2, 1}.path(red, at(0, 0), ramp >> ramp));
static_assert(routed<wrong>());
#else
constexpr layout right = again(layout{wse2, 2, 1}
    .path(red, at(0, 0), ramp >> ramp)
    .path(red, at(1, 0), ramp >> ramp, starts_closed));
static_assert(routed<right>());
#endif
