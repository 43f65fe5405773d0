// SPDX-License-Identifier: MIT
// A task that waits is no function that another task calls; here the warning about a value that nobody uses
// is an error.
// says in 5 lines: a task that waits is begun by me.activate, a wavelet or the host, not by a call
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

#pragma GCC diagnostic error "-Wunused-result"
#pragma GCC diagnostic error "-Wunused-value"

#ifdef WSL_MISUSE
struct part {
  f32 x[4]{};
  task wait(pe&) { co_await mov(mem(x), fabin(red)); }
  void go(pe& me) { wait(me); }
  using tasks = task_list<launch<&part::go>, local<&part::wait>, reads<red>>;
};
#else
struct part {
  f32 x[4]{};
  task wait(pe&) { co_await mov(mem(x), fabin(red)); }
  void go(pe& me) { me.activate<&part::wait>(); }
  using tasks = task_list<launch<&part::go>, local<&part::wait>, reads<red>>;
};
#endif
