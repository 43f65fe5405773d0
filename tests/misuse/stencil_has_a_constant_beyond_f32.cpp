// SPDX-License-Identifier: MIT
// says in 16 lines: wsl: a constant in the update of a stencil is larger than the numbers of f32
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

constexpr auto update = [](auto u) { return select(u(0, 0) > 1e300, u(0, 1), min(u(0, 0), 3.4028235e38)); };
#ifdef WSL_MISUSE
using number = f32;
#else
using number = f64;
#endif
inline const auto run = [] { stencils::simulation<update, stencils::takes{}, number>({8, 8}).run(1); };
