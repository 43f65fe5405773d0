// SPDX-License-Identifier: MIT
// A module that is a member of another class is not in this program's memory.
// says: wsl: a task list uses the modules of its own program, or of a public base class of it
#include <wsl/wsl.hpp>

using namespace wsl;

struct module {
  f32 x = 0;
  void step(pe&) { x = 1; }
  using tasks = task_list<local<&module::step>>;
};
struct other {
  f32 x[64]{};
  module inside;
};
#ifdef WSL_MISUSE
struct part {
  module mine;
  void go(pe&) {}
  using tasks = task_list<launch<&part::go>, use<&other::inside>>;
};
#else
struct part {
  module mine;
  void go(pe&) {}
  using tasks = task_list<launch<&part::go>, use<&part::mine>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
