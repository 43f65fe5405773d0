// SPDX-License-Identifier: MIT
// Both branches of PE(0, 0) end at PE(1, 1).
// says: a_fork_meets_itself_again
// says: color_id.0.*column.1.*row.1.*column.0.*row.0
// says: wsl: two branches of one fork meet here, so every wavelet arrives twice: end one branch before, or
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 2, 2}
    .place(all, both)
    .path(red, at(0, 0), ramp >> (east | south))
    .path(red, at(1, 0), west >> south)
    .path(red, at(0, 1), north >> east)
    .path(red, at(1, 1), (north | west) >> ramp, merges);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 2, 2}
    .place(all, both)
    .path(red, at(0, 0), ramp >> (east | south))
    .path(red, at(1, 0), west >> south)
    .path(red, at(0, 1), north >> ramp)
    .path(red, at(1, 1), north >> ramp);
static_assert(routed<right>());
#endif
