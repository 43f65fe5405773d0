// SPDX-License-Identifier: MIT
// 2.7 would be 2.
// says: wsl: a module sends what its colors carry: a floating-point number becomes a whole one, and any
// says: number a bool, only by a cast
#include <wsl/collective/lane.hpp>

using namespace wsl;

constexpr lane<i32> right{0, east};

struct part {
  void hear(pe&, i32) {}
#ifdef WSL_MISUSE
  void go(pe& me) { right.send(me, 2.7); }
#else
  void go(pe& me) { right.send(me, 2L); }
#endif
  using tasks = task_list<launch<&part::go>, on<right, &part::hear>, sends<right>>;
};

constexpr layout l = layout{wse2, 4, 1}.place<part>(all).wire(right);
