// SPDX-License-Identifier: MIT
// says in 16 lines: wsl: a neighbour in a stencil has its offsets in round brackets
// lines: 70
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u) { return u[0][1]; };
#else
constexpr auto update = [](auto u) { return u(0, 1); };
#endif
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
