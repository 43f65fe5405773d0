// SPDX-License-Identifier: MIT
// The rectangle of this broadcast has every other column.
// says: the_rectangle_of_a_collective_has_no_strides
#include <wsl/collective/broadcast.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr broadcast<f32> module{.first = 0, .where = columns(0, edge, 2)};
#else
constexpr broadcast<f32> module{.first = 0, .where = columns(0, edge - 1)};
#endif
constexpr layout wired = [] { layout l{wse2, 4, 4}; module.wire(l); return l; }();
