// SPDX-License-Identifier: MIT
// The machine has an id for one.
// says: the_program_has_too_many_data_tasks
// says: has.2.*limit.1.*column.0.*row.0
// says: wsl: the machine has fewer ids for data tasks: read some of the colors with descriptors, or share a
#include "programs.hpp"

constexpr machine tiny = [] {
  machine m = wse3;
  m.data_tasks = 1, m.local_tasks = 2, m.task_ids = 2, m.input_queues = 2, m.output_queues = 2;
  return m;
}();
constexpr binding good_table[] = {launches, send_entry(red), send_entry(blue), takes(red), read_entry(blue)},
                  bad_table[] = {launches, send_entry(red), send_entry(blue), takes(red), takes(blue)};
constexpr program good = with(good_table), bad = with(bad_table);

#ifdef WSL_MISUSE
constexpr layout wrong = layout{tiny, 1, 1}
    .place(all, bad)
    .path(red, all, ramp >> ramp)
    .path(blue, all, ramp >> ramp);
static_assert(routed<wrong>());
#else
constexpr layout right = layout{tiny, 1, 1}
    .place(all, good)
    .path(red, all, ramp >> ramp)
    .path(blue, all, ramp >> ramp);
static_assert(routed<right>());
#endif
