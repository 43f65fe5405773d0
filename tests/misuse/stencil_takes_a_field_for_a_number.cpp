// SPDX-License-Identifier: MIT
// says in 20 lines: wsl: a field or coefficient of a stencil is a number with the offsets of a neighbour only
// lines: 60
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u) { return 2 * u; };
#else
constexpr auto update = [](auto u) { return 2 * u(0, 1); };
#endif
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
