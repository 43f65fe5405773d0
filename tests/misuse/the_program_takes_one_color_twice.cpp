// SPDX-License-Identifier: MIT
// A data task and a descriptor want the same wavelets.
// says: the_program_takes_one_color_twice
// says: color_id.0.*column.1.*row.0
// says: wsl: a wavelet goes to one data task or to the descriptors that read its color, not to both: keep one
#include "programs.hpp"

constexpr binding greedy_table[] = {launches, send_entry(red), takes(red), read_entry(red)};
constexpr program greedy = with(greedy_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(at(1, 0), greedy)
    .path(red, at(1, 0), ramp >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(at(1, 0), both)
    .path(red, at(1, 0), ramp >> ramp);
static_assert(routed<right>());
#endif
