// SPDX-License-Identifier: MIT
// says in 16 lines: wsl: a constant in the update of a stencil is smaller than the numbers of f32
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr double per_step = 1e-60;
#else
constexpr double per_step = 1e-40;
#endif
constexpr auto update = [](auto u, auto v) { return std::tuple{u(0, 1), v(0, 0) + per_step * u(0, 0)}; };
inline const auto run = [] { stencils::serial<update, stencils::takes{.fields = 2}>({8, 8}).run(1); };
