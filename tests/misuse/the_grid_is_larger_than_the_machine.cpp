// SPDX-License-Identifier: MIT
// A WSE-2 has 750 x 994 PEs for programs.
// says: the_grid_is_larger_than_the_machine
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 751, 994};
#else
constexpr layout right = layout{wse2, 750, 994};
#endif
