// SPDX-License-Identifier: MIT
// The two ends of a link give the same color id different payloads.
// says: the_neighbour_expects_another_type
// says: color_id.0.*column.0.*row.0.*east
// says: wsl: the path of the neighbour on this side carries another type in the same color: give both paths
#include "programs.hpp"

constexpr color<u32> red_words{0};
constexpr binding word_table[] = {takes(red_words)};
constexpr program words = with(word_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}
    .place(at(0, 0), sender).place(at(1, 0), words)
    .path(red, at(0, 0), ramp >> east)
    .path(red_words, at(1, 0), west >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{wse2, 4, 1}
    .place(at(0, 0), sender).place(at(1, 0), taker)
    .path(red, at(0, 0), ramp >> east)
    .path(red, at(1, 0), west >> ramp);
static_assert(routed<right>());
#endif
