// SPDX-License-Identifier: MIT
// A heat map of the wall time that the threaded engine spends on each PE.
//   thread_times times;
//   fabric f{plan, threaded{.pes_per_partition = 1, .observer = &times}};
//   times.restart(subjects, kinds);
//   f.run();
//   times.stop();
//   support::write_whole_file("heat.svg", busy_map(f, times, "my program"));
#pragma once
#include <string>

#include "../engine/threaded/engine.hpp"
#include "../engine/threaded/thread_times.hpp"
#include "fabric.hpp"
#include "heat_map.hpp"

namespace wsl {

/// An SVG of the measured part of a run on the threaded engine: how much of the time a thread worked on a PE,
/// or moved its words. The PEs of a partition share a value. Where the fabric is spread over processes,
/// nothing is measured and the squares are gray, as they are before the first measured run. Throws fault if
/// the fabric has another engine.
inline std::string busy_map(fabric& f, const thread_times& times, const std::string& title) {
  auto* const engine = dynamic_cast<engines::threaded_engine*>(&f.resting_engine());
  if (!engine)
    throw fault(
        "wsl: a map of the time that threads spend needs the threaded engine: fabric f{plan, threaded{}}; "
        "time_report has that of the timed engine");
  const bool is_measured = !engine->spread() && times.has_run();
  detail::heat_squares drawn(f.plan().grid());
  for (const placement& p : f.plan().placements())
    for (int i = 0; i < p.where.count(); ++i)
      if (const pe* const here = engine->find(p.where.nth(i)))
        drawn.add({p.where.nth(i), p.what->name,
                   is_measured ? times.share_of_partition(engine->partition_of(*here)) : -1});
  return drawn.text(title);
}

}  // namespace wsl
