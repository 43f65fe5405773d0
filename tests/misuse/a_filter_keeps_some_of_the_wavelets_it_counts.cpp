// SPDX-License-Identifier: MIT
// The filter would keep five of every four wavelets.
// says: a_filter_keeps_some_of_the_wavelets_it_counts
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong =
    layout{wse2, 3, 1}.path(red, at(1, 0), ramp >> west, counter_filter{.keep = 5, .period = 4});
#else
constexpr layout right =
    layout{wse2, 3, 1}.path(red, at(1, 0), ramp >> west, counter_filter{.keep = 4, .period = 4});
#endif
