// SPDX-License-Identifier: MIT
// A layout cannot place what binds nothing.
// says: wsl: a PE program has a public task list: using tasks = task_list<launch<&part::start>>;
#include <wsl/wsl.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
struct part {
  f32 x = 0;
};
#else
struct part {
  f32 x = 0;
  void start(pe&) {}
  using tasks = task_list<launch<&part::start>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
