// SPDX-License-Identifier: MIT
// Only operations with a fabric operand or a FIFO wait for anything.
// says: wsl: an operation over memory alone runs at once, and not beside the task: call it without me.async
// says: wsl: an operation over memory alone runs at once, and nobody can wait for it: call it without
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 x[4]{}, y[4]{};
  task go(pe& me) {
#ifdef WSL_MISUSE
    me.async(add(mem(y), mem(y), mem(x)), then<&part::added>());
    co_await mov(mem(x), mem(y));
#else
    add(mem(y), mem(y), mem(x));
    me.activate<&part::added>();
    mov(mem(x), mem(y));
#endif
    co_return;
  }
  void added(pe&) {}
  using tasks = task_list<launch<&part::go>, local<&part::added>>;
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
