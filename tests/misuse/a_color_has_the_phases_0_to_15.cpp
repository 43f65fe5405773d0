// SPDX-License-Identifier: MIT
// There is no phase 16.
// says: a_color_has_the_phases_0_to_15
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 3, 1}.path(red, at(1, 0), ramp >> west, phase{16});
#else
constexpr layout right = layout{wse2, 3, 1}.path(red, at(1, 0), ramp >> west, phase{15});
#endif
