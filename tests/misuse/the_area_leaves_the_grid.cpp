// SPDX-License-Identifier: MIT
// Columns count from 0 to 3.
// says in 5 lines: the_area_leaves_the_grid
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}.path(red, column(4), ramp >> ramp);
#else
constexpr layout right = layout{wse2, 4, 1}.path(red, column(3), ramp >> ramp);
#endif
