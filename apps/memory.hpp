// SPDX-License-Identifier: MIT
// The memory of this computer, for applications that refuse problems that do not fit into it before they
// begin.
#pragma once
#include <unistd.h>

namespace app {

/// Bytes of memory that this computer has.
inline double memory_there() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace app
