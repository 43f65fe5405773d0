// SPDX-License-Identifier: MIT
// says: wsl: the update of a stencil returns one new value for each field
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto swapped = [](auto, auto v) { return v(0); };
#else
constexpr auto swapped = [](auto u, auto v) { return std::tuple{v(0), u(0)}; };
#endif
static_assert(stencils::footprint_of<swapped, stencils::takes{.fields = 2}>.dimensions == 1);
