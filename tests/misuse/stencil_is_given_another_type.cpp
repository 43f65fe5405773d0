// SPDX-License-Identifier: MIT
// says in 12 lines: wsl: a stencil is given an array of the numbers of all cells, whose type is that of the simulation
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

constexpr auto update = [](auto u) { return 0.5f * u(0, 1); };
#ifdef WSL_MISUSE
using number = f64;
#else
using number = f32;
#endif
inline const auto run = [](const std::vector<number>& u) { stencils::serial<update>({8, 8}).load(u); };
