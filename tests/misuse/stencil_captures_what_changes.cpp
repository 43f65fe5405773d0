// SPDX-License-Identifier: MIT
// says in 12 lines: a number that is the same in all of them is a scalar, takes{.scalars = 1}
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

inline const auto run = [](float rate) {
#ifdef WSL_MISUSE
  auto update = [rate](auto u) { return rate * u(0, 1); };
  stencils::serial<update> s({8, 8});
#else
  constexpr auto update = [](auto u, auto k) { return k * u(0, 1); };
  stencils::serial<update, stencils::takes{.scalars = 1}> s({8, 8});
  s.scalar(0, rate);
#endif
  s.run(1);
};
