// SPDX-License-Identifier: MIT
// says: wsl: all neighbours in a stencil have the same number of offsets
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto mean = [](auto u) { return 0.5f * (u(0, 1) + u(1)); };
#else
constexpr auto mean = [](auto u) { return 0.5f * (u(0, 1) + u(1, 0)); };
#endif
static_assert(stencils::footprint_of<mean>.dimensions == 2);
