// SPDX-License-Identifier: MIT
// Two control tasks are bound to the same id.
// says: the_program_binds_one_control_id_twice
// says: control_id.3.*column.0.*row.0
// says: wsl: a control wavelet activates one task: give each control task its own id
#include "programs.hpp"

constexpr binding good_table[] = {control_entry(3), control_entry(4)},
                  bad_table[] = {control_entry(3), control_entry(3)};
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
