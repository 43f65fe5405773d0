// SPDX-License-Identifier: MIT
// With strides 16 and 14 in one color, every record meets every other.
// says: the_paths_meet_too_often_to_check_while_compiling
// says: color_id.0
// says: wsl: the paths of this color meet in too many ways for a constant expression: give them strides that
#include "../checker_shapes.hpp"

using namespace wsl;

#ifdef WSL_MISUSE
constexpr layout wrong = shapes::tangle(16, 14);
static_assert(routed<wrong>());
#else
constexpr layout right = shapes::tangle(8, 6);
static_assert(routed<right>());
#endif
