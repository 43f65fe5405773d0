// SPDX-License-Identifier: MIT
// A task of another class would write where this program has no memory.
// says: wsl: a task list binds the functions of its own program, or of a public base class of it
#include <wsl/wsl.hpp>

using namespace wsl;

struct giver {
  f32 x[64]{};
  void go(pe&) { x[60] = 1; }
};
#ifdef WSL_MISUSE
struct part {
  f32 y = 0;
  using tasks = task_list<launch<&giver::go>>;
};
#else
struct part : giver {
  f32 y = 0;
  using tasks = task_list<launch<&giver::go>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
