// SPDX-License-Identifier: MIT
// 0.9 would be 0.
// says: wsl: a module sends what its colors carry: a floating-point number becomes a whole one, and any
// says: number a bool, only by a cast
#include <wsl/collective/all_reduce.hpp>
#include <wsl/collective/awaited.hpp>

using namespace wsl;

constexpr all_reduce<i32> sum{0};

struct part {
  i32 all_of_them = 0;
  awaited<sum> total;
#ifdef WSL_MISUSE
  task go(pe& me) { all_of_them = co_await total(me, 0.9); }
#else
  task go(pe& me) { all_of_them = co_await total(me, 1u); }
#endif
  using tasks = task_list<launch<&part::go>, use<&part::total>>;
};

constexpr layout l = layout{wse2, 4, 4}.place<part>(all).wire(sum);
