// SPDX-License-Identifier: MIT
// says in 16 lines: wsl: the update of a stencil returns one new value for each field
// lines: 24
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u) { u(0, 0) + u(0, 1); };
#else
constexpr auto update = [](auto u) { return u(0, 0) + u(0, 1); };
#endif
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
