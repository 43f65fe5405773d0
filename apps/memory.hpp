// SPDX-License-Identifier: MIT
// The memory of this computer, for applications that refuse problems that do not fit into it before they
// begin, and sizes as people read them.
#pragma once
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace app {

/// A number of bytes in the unit that suits it, each of which is 1000 of the one before: 96.64 KB.
inline std::string size_text(double bytes) {
  constexpr const char* units[] = {"KB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
  std::size_t unit = 0;
  // what would be printed as 1000.00 has the next unit
  for (bytes /= 1000; bytes >= 999.995 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
  return fmt::format("{:.2f} {}", bytes, units[unit]);
}

/// The bytes to which control groups limit the memory of this process, files that are cached included; very
/// many if they do not.
inline double memory_of_groups() {
  double least = 1e300;
  std::ifstream groups("/proc/self/cgroup");  // lines <number>:<controllers>:<path>; version 2 has no names
  for (std::string line; std::getline(groups, line);) {
    const std::size_t name = line.find(':') + 1, path = line.find(':', name) + 1;
    if (name == 0 || path == 0) continue;
    const std::string controllers = line.substr(name, path - name - 1);
    if (!controllers.empty() && controllers != "memory") continue;
    const std::string root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory",
                      file = controllers.empty() ? "/memory.max" : "/memory.limit_in_bytes";
    // Each group is limited by those that it is in.
    for (std::string group = line.substr(path);; group.resize(group.rfind('/'))) {
      if (double bytes = 0; std::ifstream(root + group + file) >> bytes) least = std::min(least, bytes);
      if (group.find('/') == group.npos) break;
    }
  }
  return least;
}

/// Bytes of memory that this computer gives this process for its own numbers and for cached files.
inline double memory_with_files() {
  return std::min(memory_of_groups(),
                  static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

/// Bytes of memory that this process can have for its own numbers, of so many that share the computer: those
/// of the computer, or fewer if limits are set (control groups, `ulimit -v` and `ulimit -d`).
inline double memory_there(int processes = 1) {
  double least = memory_with_files() / processes;
  for (const auto what : {RLIMIT_AS, RLIMIT_DATA})
    if (rlimit limit{}; getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      least = std::min(least, static_cast<double>(limit.rlim_cur));
  return least;
}

}  // namespace app
