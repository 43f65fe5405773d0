// SPDX-License-Identifier: MIT
// A PE has 48 KiB.
// says: the_program_is_larger_than_the_memory
// says: has.49153.*limit.49152.*column.0.*row.0
// says: wsl: the members of the program need more bytes than a PE has: use smaller or fewer arrays, or more
#include "programs.hpp"

constexpr program good = with(idle_table, 48 * 1024), bad = with(idle_table, 48 * 1024 + 1);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(all, bad);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(all, good);
static_assert(routed<right>());
#endif
