// SPDX-License-Identifier: MIT
// Control ids are 0 to 63.
// says: the_control_id_does_not_exist
// says: control_id.64.*column.0.*row.0
// says: wsl: the ids of control tasks begin at 0 and end below the machine.s number of them: choose one of
#include "programs.hpp"

constexpr binding good_table[] = {control_entry(63)}, bad_table[] = {control_entry(64)};
constexpr program good = with(good_table), bad = with(bad_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(all, bad);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(all, good);
static_assert(routed<right>());
#endif
