// SPDX-License-Identifier: MIT
// A template argument needs an address that does not change: a layout in a function is static constexpr.
// says in 5 lines: static
// lines: 10
#include "programs.hpp"

int main() {
#ifdef WSL_MISUSE
  constexpr layout l = layout{wse2, 2, 1}.place(all, idle);
#else
  static constexpr layout l = layout{wse2, 2, 1}.place(all, idle);
#endif
  static_assert(routed<l>());
}
