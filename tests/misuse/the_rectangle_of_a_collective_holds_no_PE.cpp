// SPDX-License-Identifier: MIT
// The gather begins after the last column of the grid.
// says: the_rectangle_of_a_collective_holds_no_PE
#include <wsl/collective/gather.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr gather<f32> module{.first = 0, .where = columns(4, edge)};
#else
constexpr gather<f32> module{.first = 0, .where = columns(3, edge)};
#endif
constexpr layout wired = [] { layout l{wse2, 4, 4}; module.wire(l); return l; }();
