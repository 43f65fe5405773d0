// SPDX-License-Identifier: MIT
// Only a local task can compute long: the words of a color wait in few places.
// says: only_local_tasks_are_long_running
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  void go(pe&) {}
  void stop(pe&) {}
#ifdef WSL_MISUSE
  using tasks = task_list<launch<&part::go>, long_running<control<7, &part::stop>>>;
#else
  using tasks = task_list<launch<&part::go>, long_running<local<&part::stop>>>;
#endif
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
