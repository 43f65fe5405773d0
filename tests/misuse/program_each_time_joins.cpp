// SPDX-License-Identifier: MIT
// A task that looks after what a FIFO gets cannot count it: one activation may stand for several elements.
// says: wsl: a task that joins counts completions, and each_time happens once for several elements
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

struct part {
  f32 x[4]{};
  void go(pe& me) {
#ifdef WSL_MISUSE
    me.async(mov(mem(x), fabin(red)), each_time<&part::both>());
#else
    me.async(mov(mem(x), fabin(red)), then<&part::both>());
#endif
  }
  void both(pe&) {}
  using tasks = task_list<launch<&part::go>, joins<2, &part::both>, reads<red>>;
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
