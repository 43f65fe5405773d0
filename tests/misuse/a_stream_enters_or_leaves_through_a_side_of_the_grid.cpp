// SPDX-License-Identifier: MIT
// The host reaches PEs only where the grid ends.
// says: a_stream_enters_or_leaves_through_a_side_of_the_grid
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}.stream_in(red, at(1, 0), west);
#else
constexpr layout right = layout{wse2, 4, 1}.stream_in(red, at(0, 0), west);
#endif
