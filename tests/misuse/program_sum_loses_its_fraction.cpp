// SPDX-License-Identifier: MIT
// Sums of floating-point numbers would be cut to whole ones, element by element.
// says: wsl: arithmetic of floating-point numbers has a floating-point destination
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  i32 x[4]{};
  f32 y[4]{};
#ifdef WSL_MISUSE
  void go(pe&) { add(mem(x), mem(x), mem(y)); }
#else
  void go(pe&) {
    add(mem(y), mem(x), mem(y));
    mov(mem(x), mem(y));
    map_each([](f32 v) { return static_cast<i32>(v); }, mem(x), mem(y));
  }
#endif
  using tasks = task_list<launch<&part::go>>;
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
