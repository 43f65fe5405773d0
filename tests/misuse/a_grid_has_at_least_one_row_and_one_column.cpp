// SPDX-License-Identifier: MIT
// A grid of no columns has no PE.
// says in 5 lines: a_grid_has_at_least_one_row_and_one_column
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 0, 1};
#else
constexpr layout right = layout{wse2, 1, 1};
#endif
