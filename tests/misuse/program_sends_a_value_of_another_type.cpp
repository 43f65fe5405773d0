// SPDX-License-Identifier: MIT
// The bits of an int are not those of an f32.
// says in 5 lines: wsl: a task sends what the color carries: me.send.red, 1.f. for a color<f32>
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

#ifdef WSL_MISUSE
struct part {
  void go(pe& me) { me.send(red, 1); }
  using tasks = task_list<launch<&part::go>, sends<red>>;
};
#else
struct part {
  void go(pe& me) { me.send(red, 1.f); }
  using tasks = task_list<launch<&part::go>, sends<red>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
