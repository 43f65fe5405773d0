// SPDX-License-Identifier: MIT
// The machine has ids for two.
// says: the_program_has_too_many_local_tasks
// says: has.3.*limit.2.*column.0.*row.0
// says: wsl: the machine has fewer ids for local tasks: join tasks that run after each other
#include "programs.hpp"

constexpr machine tiny = [] {
  machine m = wse3;
  m.data_tasks = 1, m.local_tasks = 2, m.task_ids = 2, m.input_queues = 2, m.output_queues = 1;
  return m;
}();
constexpr binding good_table[] = {local_entry(0), local_entry(1)},
                  bad_table[] = {local_entry(0), local_entry(1), local_entry(2)};
constexpr program good = with(good_table), bad = with(bad_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{tiny, 1, 1}
    .place(all, bad);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{tiny, 1, 1}
    .place(all, good);
static_assert(routed<right>());
#endif
