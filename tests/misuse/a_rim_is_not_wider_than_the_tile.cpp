// SPDX-License-Identifier: MIT
// A tile of two columns cannot fill its neighbour's rim of three.
// says: a_rim_is_not_wider_than_the_tile
#include <wsl/collective/halo_exchange.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr halo_exchange<f32> module{.first = 0, .rows = 8, .columns = 2, .width = 3};
#else
constexpr halo_exchange<f32> module{.first = 0, .rows = 8, .columns = 3, .width = 3};
#endif
constexpr layout wired = [] { layout l{wse2, 4, 4}; module.wire(l); return l; }();
