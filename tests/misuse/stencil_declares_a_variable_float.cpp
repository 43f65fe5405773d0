// SPDX-License-Identifier: MIT
// says in 12 lines: number_that_only_auto_holds.* to .float
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr auto update = [](auto u) {
  float own = u(0, 0);
  return own * u(0, 1);
};
#else
constexpr auto update = [](auto u) {
  auto own = u(0, 0);
  return own * u(0, 1);
};
#endif
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
