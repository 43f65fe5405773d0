// SPDX-License-Identifier: MIT
// says in 16 lines: wsl: select in a stencil chooses by a condition of cells, such as u.0, 0. > 0
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

constexpr bool is_wet = true;
#ifdef WSL_MISUSE
constexpr auto update = [](auto u) { return select(is_wet, u(0, 1), 0.5f * u(0, 0)); };
#else
constexpr auto update = [](auto u) { return is_wet ? u(0, 1) : 0.5f * u(0, 0); };
#endif
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
