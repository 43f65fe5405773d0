// SPDX-License-Identifier: MIT
// A route without outputs would hold every wavelet for ever.
// says: a_path_needs_a_port_to_come_from_and_a_port_to_go_to
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr layout wrong = layout{wse2, 4, 1}.path(red, all, ports{ramp} >> ports{});
#else
constexpr layout right = layout{wse2, 4, 1}.path(red, all, ramp >> ramp);
#endif
