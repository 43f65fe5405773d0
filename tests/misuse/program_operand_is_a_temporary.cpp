// SPDX-License-Identifier: MIT
// The array is gone before the collective sends it.
// says: wsl: mem names elements that live on, members of the program: this array is a temporary
#include <array>
#include <wsl/collective/all_reduce.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr all_reduce<f32> sum{0};

struct part {
  std::array<f32, 4> x{1, 2, 3, 4};
  f32 y[4]{};
  endpoint<sum> summing;
#ifdef WSL_MISUSE
  void go(pe&) { mov(mem(y), mem(std::array<f32, 4>{1, 2, 3, 4})); }
#else
  void go(pe& me) { mov(mem(y), mem(x)), summing.start(me, mem(x)); }
#endif
  using tasks = task_list<launch<&part::go>, use<&part::summing>>;
};

constexpr layout l = layout{wse2, 2, 1}.place<part>(all).wire(sum);
