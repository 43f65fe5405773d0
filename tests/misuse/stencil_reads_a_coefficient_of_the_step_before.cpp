// SPDX-License-Identifier: MIT
// says in 16 lines: wsl: a coefficient of a stencil stays what it is
// lines: 60
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u, auto a) { return u(0, 1) * a.before(0, 0); };
#else
constexpr auto update = [](auto u, auto a) { return u(0, 1) * a(0, 0); };
#endif
inline const auto run = [] {
  stencils::simulation<update, stencils::takes{.coefficients = 1}>({8, 8}).run(1);
};
