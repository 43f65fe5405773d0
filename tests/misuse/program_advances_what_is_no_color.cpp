// SPDX-License-Identifier: MIT
// Commands travel on colors.
// says: wsl: advances<...> names colors, or modules with colors
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

struct part {
  f32 x[4]{};
  void go(pe& me) { me.async(mov(fabout(red), mem(x)), then_advance(red)); }
#ifdef WSL_MISUSE
  using tasks = task_list<launch<&part::go>, sends<red>, advances<7>>;
#else
  using tasks = task_list<launch<&part::go>, sends<red>, advances<red>>;
#endif
};

constexpr layout l = layout{wse2, 2, 1}.place<part>(all);
