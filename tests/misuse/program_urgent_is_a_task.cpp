// SPDX-License-Identifier: MIT
// Only tasks among which a PE chooses can go first: those of colors, and local tasks.
// says: only_data_tasks_and_local_tasks_are_urgent
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  void go(pe&) {}
  void stop(pe&) {}
#ifdef WSL_MISUSE
  using tasks = task_list<launch<&part::go>, urgent<control<7, &part::stop>>>;
#else
  using tasks = task_list<launch<&part::go>, urgent<local<&part::stop>>>;
#endif
};

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
