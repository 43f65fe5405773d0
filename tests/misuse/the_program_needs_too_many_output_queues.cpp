// SPDX-License-Identifier: MIT
// Each color that a PE sends has an output queue, and this machine has one.
// says: the_program_needs_too_many_output_queues
// says: has.2.*limit.1.*column.0.*row.0
// says: wsl: each color that a PE sends needs an output queue of its own
#include "programs.hpp"

constexpr machine tiny = [] {
  machine m = wse3;
  m.output_queues = 1;
  return m;
}();
constexpr binding good_table[] = {launches, send_entry(red), read_entry(red)},
                  bad_table[] = {launches, send_entry(red), send_entry(blue), read_entry(red), takes(blue)};
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
    .path(red, all, ramp >> ramp);
static_assert(routed<right>());
#endif
