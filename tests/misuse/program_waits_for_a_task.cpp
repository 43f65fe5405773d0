// SPDX-License-Identifier: MIT
// A PE has one main thread: a task cannot wait inside another.
// says: wsl: co_await waits for operations and events; me.activate<&part::f>.. begins another task
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

#ifdef WSL_MISUSE
struct part {
  f32 x[4]{};
  task take(pe&) { co_await mov(mem(x), fabin(red)); }
  task go(pe& me) { co_await take(me); }
  using tasks = task_list<launch<&part::go>, local<&part::take>, reads<red>>;
};
#else
struct part {
  f32 x[4]{};
  task take(pe&) { co_await mov(mem(x), fabin(red)); }
  void go(pe& me) { me.activate<&part::take>(); }
  using tasks = task_list<launch<&part::go>, local<&part::take>, reads<red>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
