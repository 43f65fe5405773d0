// SPDX-License-Identifier: MIT
// A stride of 0 would never end.
// says: an_area_strides_by_1_to_16
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}.path(red, columns(0, edge, 0), ramp >> ramp);
#else
constexpr layout right = layout{wse2, 4, 1}.path(red, columns(0, edge, 2), ramp >> ramp);
#endif
