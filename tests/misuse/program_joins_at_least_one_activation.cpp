// SPDX-License-Identifier: MIT
// A task that starts when no activation has come would start at once, and for ever.
// says: wsl: a task joins at least one activation: joins<2, &part::both>
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  void both(pe&) {}
#ifdef WSL_MISUSE
  using tasks = task_list<joins<0, &part::both>>;
#else
  using tasks = task_list<joins<2, &part::both>>;
#endif
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
