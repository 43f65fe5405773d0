// SPDX-License-Identifier: MIT
// The program sends words, the path carries floats.
// says: the_program_sends_another_type
// says: color_id.0.*column.0.*row.0
// says: wsl: the path carries another type than the program sends in this color: give both the same color.T.
#include "programs.hpp"

constexpr color<u32> red_words{0};
constexpr binding word_table[] = {launches, send_entry(red_words)};
constexpr program words = with(word_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(at(0, 0), words).place(at(1, 0), taker)
    .path(red, at(0, 0), ramp >> east)
    .path(red, at(1, 0), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(at(0, 0), sender).place(at(1, 0), taker)
    .path(red, at(0, 0), ramp >> east)
    .path(red, at(1, 0), west >> ramp);
static_assert(routed<right>());
#endif
