// SPDX-License-Identifier: MIT
// says: wsl: a stencil has sources and receivers on this computer only
#include <wsl/kernel/stencil.hpp>
using namespace wsl;

constexpr auto heat = [](auto u) { return u(0, 0) + 0.1f * (u(0, 1) + u(0, -1) + u(1, 0) + u(-1, 0)); };

void record() {
#ifdef WSL_MISUSE
  stencils::wafer_simulation<heat, stencils::per_pe{4, 4}> s({8, 8});
#else
  stencils::simulation<heat> s({8, 8});
#endif
  s.receiver({1, 2});
}
