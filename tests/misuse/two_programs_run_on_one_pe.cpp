// SPDX-License-Identifier: MIT
// Two areas share column 2.
// says: two_programs_run_on_one_pe
// says: column.2.*row.0
// says: wsl: a PE runs one program: make the areas of the two placements disjoint
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}.place(columns(0, 3), idle).place(columns(2, edge), idle);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}.place(columns(0, 2), idle).place(columns(2, edge), idle);
static_assert(routed<right>());
#endif
