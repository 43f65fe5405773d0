// SPDX-License-Identifier: MIT
// Two modules begin their colors where the other has some.
// says: two_modules_claim_one_color
// says: color_id.7.*column.0.*row.0
// says: wsl: two library modules own the same color in the same place: give one of them other colors, or
#include "programs.hpp"

constexpr region grid{0, 4, 0, 1};

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .claim_colors("halo", 0, 8, grid)
    .claim_colors("all_reduce", 7, 2, grid);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .claim_colors("halo", 0, 8, grid)
    .claim_colors("all_reduce", 8, 2, grid);
static_assert(routed<right>());
#endif
