// SPDX-License-Identifier: MIT
// The layout has one filter more than there is room for.
// says: the_layout_has_more_filters_than_it_can_hold
#include "programs.hpp"

constexpr layout many(int n) {
  layout l{wse2, 200, 1};
  for (int i = 0; i < n; ++i) l.path(red, at(i, 0), ramp >> west, counter_filter{.keep = 1, .period = 2});
  return l;
}

#ifdef WSL_MISUSE
constexpr layout wrong = many(layout::max_filters + 1);
#else
constexpr layout right = many(layout::max_filters);
#endif
