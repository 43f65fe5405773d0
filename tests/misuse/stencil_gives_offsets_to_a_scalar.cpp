// SPDX-License-Identifier: MIT
// says in 16 lines: wsl: a scalar of a stencil is a number, without offsets
// lines: 60
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u, auto a) { return u(0, 1) * a(0, 0); };
#else
constexpr auto update = [](auto u, auto a) { return u(0, 1) * a; };
#endif
inline const auto run = [] { stencils::simulation<update, stencils::takes{.scalars = 1}>({8, 8}).run(1); };
