// SPDX-License-Identifier: MIT
// says in 16 lines: wsl: the update of a stencil cannot turn the value of a cell into a plain number
#include <wsl/kernel/stencil.hpp>

#include <cmath>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u) { return std::sqrt(u(0, 1)); };
#else
constexpr auto update = [](auto u) { return sqrt(u(0, 1)); };
#endif
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
