// SPDX-License-Identifier: MIT
// The logical processors of a computer in the order in which threads take them: one of each core first, then
// their siblings, which share the core's execution units. Linux names the siblings of a processor; which
// cores share a cache or the memory of a node, hwloc_processors.hpp knows.
#pragma once
#include <sched.h>

#include <cstdio>

namespace wsl::support {

struct processor_order {
  int count = 0;             ///< of processors
  int cores = 0;             ///< the processors before this one are of different cores
  int nodes = 1;             ///< of memory, to which they are near
  int of[CPU_SETSIZE] = {};  ///< their numbers, of which the first `count` are set

  void add(int processor) { of[count++] = processor; }
};

/// The first sibling of a processor in a set; the processor itself if Linux does not tell.
inline int first_sibling(int cpu, const cpu_set_t& set) {
  char name[96];
  std::snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  int first = cpu;
  if (std::FILE* list = std::fopen(name, "r")) {
    if (std::fscanf(list, "%d", &first) != 1) first = cpu;
    std::fclose(list);
  }
  const bool is_there = first >= 0 && first < CPU_SETSIZE && CPU_ISSET(static_cast<std::size_t>(first), &set);
  return is_there ? first : cpu;
}

/// The nodes of memory that have processors of a set, as far as Linux tells.
inline int nodes_of(const cpu_set_t& set) {
  constexpr int most_nodes = 64;
  int nodes = 0;
  for (int node = 0; node < most_nodes; ++node) {
    char name[64];
    std::snprintf(name, sizeof name, "/sys/devices/system/node/node%d/cpulist", node);
    std::FILE* const list = std::fopen(name, "r");
    if (!list) continue;
    bool has_some = false;
    for (int first = 0; std::fscanf(list, "%d", &first) == 1;) {  // such as 0-3,8-11
      int last = first;
      if (std::fscanf(list, "-%d", &last) != 1) last = first;
      for (int cpu = first; cpu >= 0 && cpu <= last && cpu < CPU_SETSIZE; ++cpu)
        has_some |= CPU_ISSET(static_cast<std::size_t>(cpu), &set) != 0;
      if (std::fgetc(list) != ',') break;
    }
    std::fclose(list);
    nodes += has_some;
  }
  return nodes ? nodes : 1;
}

/// In the order of their numbers.
inline processor_order processors_by_number(const cpu_set_t& set) {
  processor_order first, siblings;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set))
      (first_sibling(cpu, set) == cpu ? first : siblings).add(cpu);
  first.cores = first.count, first.nodes = nodes_of(set);
  for (int i = 0; i < siblings.count; ++i) first.add(siblings.of[i]);
  return first;
}

/// The order of the processors of a set; hwloc_processors.hpp puts a better one in its place.
inline processor_order (*processors_of)(const cpu_set_t& set) = &processors_by_number;

/// The processors on which the calling thread may run; empty if the system does not tell.
inline cpu_set_t allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}

}  // namespace wsl::support
