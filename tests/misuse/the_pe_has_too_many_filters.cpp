// SPDX-License-Identifier: MIT
// Seven colors are filtered on one PE, which has six filters.
// says: the_pe_has_too_many_filters
// says: has.7.*limit.6.*column.1.*row.0
// says: wsl: the colors that are filtered on this PE need more filters than it has
#include "programs.hpp"

struct entries {
  binding list[15];
};
constexpr entries everything = [] {
  entries e{};
  e.list[0] = launches;
  for (int c = 0; c < 7; ++c)
    e.list[1 + 2 * c] = send_entry(color<f32>{c}), e.list[2 + 2 * c] = takes(color<f32>{c});
  return e;
}();
constexpr program talker = with(everything.list);

constexpr layout filtered(int colors) {
  layout l{wse2, 3, 1};
  l.place(all, talker);
  for (int c = 0; c < 7; ++c) {
    const color<f32> some{c};
    l.path(some, columns(0, edge, 2), ramp >> ramp);
    if (c < colors) l.path(some, at(1, 0), ramp >> ramp, counter_filter{.keep = 1, .period = 2});
    else l.path(some, at(1, 0), ramp >> ramp);
  }
  return l;
}

#ifdef WSL_MISUSE
constexpr layout wrong = filtered(7);
static_assert(routed<wrong>());
#else
constexpr layout right = filtered(6);
static_assert(routed<right>());
#endif
