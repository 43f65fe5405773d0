// SPDX-License-Identifier: MIT
// says in 20 lines: wsl: the update of a stencil returns the new value of the cell, and assigns to no cells
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

constexpr auto update = [](auto u) {
#ifdef WSL_MISUSE
  u(0, 0) += u(0, 1);
  return u(0, 0);
#else
  auto sum = u(0, 0);
  sum += u(0, 1);
  return sum;
#endif
};
inline const auto run = [] { stencils::simulation<update>({8, 8}).run(1); };
