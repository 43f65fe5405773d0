// SPDX-License-Identifier: MIT
// A number is not a module.
// says: wsl: use<&part::member> names a library module, a member with tasks of its own
#include <wsl/wsl.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
struct part {
  f32 x = 0;
  using tasks = task_list<use<&part::x>>;
};
#else
struct module {
  void step(pe&) {}
  using tasks = task_list<local<&module::step>>;
};
struct part {
  module x;
  using tasks = task_list<use<&part::x>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
