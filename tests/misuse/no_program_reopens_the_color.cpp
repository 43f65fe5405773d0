// SPDX-License-Identifier: MIT
// PE(1, 0) could never hear anything.
// says: no_program_reopens_the_color
// says: color_id.0.*column.1.*row.0
// says: wsl: the path is closed, or of a later phase, and the program of this PE cannot open it
#include "programs.hpp"

constexpr binding opening_table[] = {
    launches, takes(red), {.what = role::torn_down, .id = 0, .name = "open"}};
constexpr program opening = with(opening_table);

constexpr layout behind_a_door(const program& p) {
  return layout{wse2, 2, 1}
      .place(at(0, 0), sender)
      .place(at(1, 0), p)
      .path(red, at(0, 0), ramp >> east)
      .path(red, at(1, 0), west >> ramp, starts_closed);
}

#ifdef WSL_MISUSE
constexpr layout wrong = behind_a_door(taker);
static_assert(routed<wrong>());
#else
constexpr layout right = behind_a_door(opening);
static_assert(routed<right>());
#endif
