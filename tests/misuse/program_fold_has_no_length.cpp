// SPDX-License-Identifier: MIT
// No operand has elements.
// says: wsl: no operand says how many elements there are: a scalar is assigned by itself
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 s = 0, x[4]{};
#ifdef WSL_MISUSE
  void go(pe&) { mov(&s, 1); }
#else
  void go(pe&) { add(&s, 1, mem(x)); }
#endif
  using tasks = task_list<launch<&part::go>>;
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
