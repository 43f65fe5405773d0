// SPDX-License-Identifier: MIT
// One color runs east and west, north and south on more PEs than can be walked while compiling.
// says: the_routes_turn_too_often_to_check_while_compiling
// says: color_id.0.*has.4572.*limit.4096
// says: wsl: too many PEs of this color may be part of a circle or of a fork that meets itself for a constant
#include "../checker_shapes.hpp"

using namespace wsl;

#ifdef WSL_MISUSE
constexpr layout wrong = shapes::weave(72, 64);
static_assert(routed<wrong>());
#else
constexpr layout right = shapes::weave(8, 8);
static_assert(routed<right>());
#endif
