// SPDX-License-Identifier: MIT
// says in 16 lines: wsl: the update of a stencil has an argument for each field
// lines: 36
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u, auto a) { return u(0, 1) + a(0, 0); };
#else
constexpr auto update = [](auto u) { return u(0, 1); };
#endif
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
