// SPDX-License-Identifier: MIT
// A coroutine says so in its type.
// says in 5 lines: wsl: a task that waits returns task: task f.pe& me. . co_await
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

#ifdef WSL_MISUSE
struct part {
  f32 x[4]{};
  void go(pe&) { co_await mov(mem(x), fabin(red)); }
  using tasks = task_list<launch<&part::go>, reads<red>>;
};
#else
struct part {
  f32 x[4]{};
  task go(pe&) { co_await mov(mem(x), fabin(red)); }
  using tasks = task_list<launch<&part::go>, reads<red>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
