// SPDX-License-Identifier: MIT
// says in 12 lines: wsl: the update of a stencil has no captures
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

inline const auto run = [] {
  constexpr float rate = 0.25f;
#ifdef WSL_MISUSE
  constexpr auto update = [k = rate](auto u) { return k * u(0, 1); };
#else
  constexpr auto update = [](auto u) { return rate * u(0, 1); };
#endif
  stencils::simulation<update>({8, 8}).run(1);
};
