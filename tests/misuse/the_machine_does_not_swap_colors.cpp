// SPDX-License-Identifier: MIT
// Only some machines have routers that swap colors.
// says: the_machine_does_not_swap_colors
#include "programs.hpp"

#include <wsl/layout/swaps.hpp>

#ifdef WSL_MISUSE
constexpr layout l = layout{wse3, 2, 1}.path(red, column(0), ramp >> east, swap_x);
#else
constexpr layout l = layout{wse2, 2, 1}.path(red, column(0), ramp >> east, swap_x);
#endif
