// SPDX-License-Identifier: MIT
// says in 20 lines: wsl: conditions of cells in a stencil are joined by & and
#include <wsl/kernel/stencil.hpp>

#include <cmath>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u) { return select(u(0, 1) > 0 && u(0, 0) > 0, u(0, 1), 1.f); };
#else
constexpr auto update = [](auto u) { return select((u(0, 1) > 0) & (u(0, 0) > 0), u(0, 1), 1.f); };
#endif
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
