// SPDX-License-Identifier: MIT
// The machine routes colors 0 to 23.
// says in 5 lines: a_color_id_must_be_below_the_number_of_colors_of_the_machine
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}.path(color<f32>{24}, all, ramp >> ramp);
#else
constexpr layout right = layout{wse2, 4, 1}.path(color<f32>{23}, all, ramp >> ramp);
#endif
