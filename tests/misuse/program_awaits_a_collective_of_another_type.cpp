// SPDX-License-Identifier: MIT
// The arrays of a collective have elements of its payload.
// says: wsl: an awaited collective takes what its endpoint takes, arrays of its payload
#include <wsl/collective/all_reduce.hpp>
#include <wsl/collective/awaited.hpp>

using namespace wsl;

constexpr all_reduce<f32> sum{0};

struct part {
#ifdef WSL_MISUSE
  i32 x[4]{};
#else
  f32 x[4]{};
#endif
  awaited<sum> total;
  task go(pe& me) { co_await total(me, mem(x)); }
  using tasks = task_list<launch<&part::go>, use<&part::total>>;
};

constexpr layout l = layout{wse2, 4, 4}.place<part>(all).wire(sum);
