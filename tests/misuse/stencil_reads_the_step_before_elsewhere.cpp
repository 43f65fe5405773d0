// SPDX-License-Identifier: MIT
// says: wsl: of the values of the step before, the update of a stencil reads only its own cell's
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto leapfrog = [](auto u) { return u.before(0, 1) + u(0, 1) - u(0, -1); };
#else
constexpr auto leapfrog = [](auto u) { return u.before(0, 0) + u(0, 1) - u(0, -1); };
#endif
static_assert(stencils::footprint_of<leapfrog>.before);
