// SPDX-License-Identifier: MIT
// Areas exist so that few records say much; a loop over PEs fills the layout.
// says: the_layout_has_more_paths_than_it_can_hold
#include "programs.hpp"

constexpr layout fill(int n) {
  layout l{wse2, 750, 994};
  for (int i = 0; i < n; ++i) l.path(red, at(i % 750, i / 750), ramp >> ramp);
  return l;
}

#ifdef WSL_MISUSE
constexpr layout wrong = fill(layout::max_paths + 1);
#else
constexpr layout right = fill(layout::max_paths);
#endif
