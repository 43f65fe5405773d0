// SPDX-License-Identifier: MIT
// Orders processors by hwloc: cores that share a cache, and those of a memory node, stand next to each other.
// A program that includes this header pins its threads in that order; it links hwloc (wsl::hwloc, or
// -lhwloc).
#pragma once
#include <hwloc.h>

#include "processors.hpp"

namespace wsl::support {

/// The processors of a set in the order of a topology that is loaded: one of each core, then the second of
/// each, and so on. Those that the topology does not have come last.
inline processor_order processors_in(hwloc_topology_t topology, const cpu_set_t& set) {
  const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t of_core = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  cpu_set_t left = set;
  processor_order order;
  for (bool found = true; found;) {
    found = false;
    for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology, of_core, core));)
      for (int cpu = -1; (cpu = hwloc_bitmap_next(core->cpuset, cpu)) >= 0 && cpu < CPU_SETSIZE;) {
        if (!CPU_ISSET(static_cast<std::size_t>(cpu), &left)) continue;
        CPU_CLR(static_cast<std::size_t>(cpu), &left);
        order.add(cpu), found = true;
        break;
      }
    if (order.cores == 0) order.cores = order.count;
  }
  if (order.count == 0) return processors_by_number(set);
  int nodes = 0;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));) {
    bool has_some = false;
    for (int cpu = -1; (cpu = hwloc_bitmap_next(node->cpuset, cpu)) >= 0 && cpu < CPU_SETSIZE;)
      has_some |= CPU_ISSET(static_cast<std::size_t>(cpu), &set) != 0;
    nodes += has_some;
  }
  order.nodes = nodes > 1 ? nodes : 1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &left)) order.add(cpu);
  return order;
}

/// The same for this computer, whose topology is loaded when it is first needed.
inline processor_order processors_by_hwloc(const cpu_set_t& set) {
  static const hwloc_topology_t here = [] {
    hwloc_topology_t loaded = nullptr;
    if (hwloc_topology_init(&loaded) != 0) return hwloc_topology_t{};
    if (hwloc_topology_load(loaded) == 0) return loaded;
    hwloc_topology_destroy(loaded);
    return hwloc_topology_t{};
  }();
  return here ? processors_in(here, set) : processors_by_number(set);
}

inline const bool orders_processors_by_hwloc = (processors_of = &processors_by_hwloc, true);

}  // namespace wsl::support
