// SPDX-License-Identifier: MIT
// A task costs cycles; the declaration of a color that a program reads does not.
// says: only_tasks_cost_cycles
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0};

struct part {
  void go(pe&) {}
#ifdef WSL_MISUSE
  using tasks = task_list<costs<3, launch<&part::go>, reads<red>>>;
#else
  using tasks = task_list<costs<3, launch<&part::go>>, reads<red>>;
#endif
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all).path(red, all, ramp >> ramp);
