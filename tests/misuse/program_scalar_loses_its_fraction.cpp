// SPDX-License-Identifier: MIT
// 1.5 would be 1.
// says: wsl: a floating-point scalar does not become a whole number by itself, as its fraction would be lost
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  i32 x[4]{};
#ifdef WSL_MISUSE
  void go(pe&) { add(mem(x), mem(x), 1.5f); }
#else
  void go(pe&) { add(mem(x), mem(x), 2); }
#endif
  using tasks = task_list<launch<&part::go>>;
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
