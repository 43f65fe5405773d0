// SPDX-License-Identifier: MIT
// A task alone does not say whether it is activated or unblocked.
// says: wsl: the completions of an operation are calls: then<&part::sent>\(\)
#include <wsl/program/event.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

struct part {
  f32 x[4]{};
  event left;
  task go(pe& me) {
#ifdef WSL_MISUSE
    me.async(mov(fabout(red), mem(x)), &part::sent);
#else
    me.async(mov(fabout(red), mem(x)), then<&part::sent>());
#endif
    co_return;
  }
  void sent(pe&) {}
  using tasks = task_list<launch<&part::go>, local<&part::sent>, sends<red>>;
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
