// SPDX-License-Identifier: MIT
// says in 16 lines: without std::, and powers as products
#include <wsl/kernel/stencil.hpp>

#include <cmath>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u) { return std::pow(u(0, 1), 2); };
#else
constexpr auto update = [](auto u) { return u(0, 1) * u(0, 1); };
#endif
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
