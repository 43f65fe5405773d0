// SPDX-License-Identifier: MIT
// says in 20 lines: wsl: the numbers of a stencil are f32 or f64
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

constexpr auto update = [](auto u) { return 0.5f * u(0, 1); };
#ifdef WSL_MISUSE
using number = int;
#else
using number = f64;
#endif
inline const auto run = [] { stencils::simulation<update, stencils::takes{}, number>({8, 8}).run(1); };
