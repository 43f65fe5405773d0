// SPDX-License-Identifier: MIT
// says in 12 lines: wsl: a PE of a wafer has at least one cell along each axis
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

constexpr auto update = [](auto u) { return u(0, 1); };
#ifdef WSL_MISUSE
using simulation = stencils::wafer_simulation<update, stencils::per_pe{0, 4}>;
#else
using simulation = stencils::wafer_simulation<update, stencils::per_pe{1, 4}>;
#endif
inline const auto run = [] { simulation({8, 8}).run(1); };
