// SPDX-License-Identifier: MIT
// says: wsl: the update of a stencil cannot branch on the value of a cell
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto clipped = [](auto u) { return u(0, 0) > 0 ? u(0, 1) : u(0, -1); };
#else
constexpr auto clipped = [](auto u) { return select(u(0, 0) > 0, u(0, 1), u(0, -1)); };
#endif
static_assert(stencils::footprint_of<clipped>.dimensions == 2);
