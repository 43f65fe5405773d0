// SPDX-License-Identifier: MIT
// The halo exchange has more rows than the grid.
// says: the_rectangle_of_a_collective_leaves_the_grid
#include <wsl/collective/halo_exchange.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr halo_exchange<f32> module{.first = 0, .where = rows(0, 5)};
#else
constexpr halo_exchange<f32> module{.first = 0, .where = rows(0, 4)};
#endif
constexpr layout wired = [] { layout l{wse2, 4, 4}; module.wire(l); return l; }();
